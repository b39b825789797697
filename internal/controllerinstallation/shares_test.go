package controllerinstallation

import (
	"errors"
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/seeds"
	"github.com/trellis-garden/trellis/internal/truncate"
)

func TestShares(t *testing.T) {
	s := newShares(20)
	var releases []func()
	for range 5 {
		release, isFree := s.take("hostile")
		require.True(t, isFree)
		releases = append(releases, release)
	}
	_, isFree := s.take("hostile")
	assert.False(t, isFree, "a quarter of the workers is enough for one seed")
	release, isFree := s.take("other")
	require.True(t, isFree, "the others are for other seeds")
	release()
	releases[0]()
	release, isFree = s.take("hostile")
	require.True(t, isFree)
	release()
	for _, release := range releases[1:] {
		release()
	}
	assert.Empty(t, s.busy)

	_, isFree = newShares(1).take("only")
	assert.True(t, isFree, "one worker is not less than one")
}

func TestPass_CutsWhatIsWritten(t *testing.T) {
	long := strings.Repeat("lies ", 1<<20)
	p := newPass(&gardencorev1beta1.ControllerInstallation{}, operatorOfGarden, clock.RealClock{})
	err := &boundedError{&seeds.Unreachable{Seed: "a", Err: errors.New(long)}}
	assert.LessOrEqual(t, len(err.Error()), truncate.MaxStatus, "in a log line")
	p.failed(err)
	require.Len(t, p.conditions, 1)
	assert.Equal(t, problem.SeedUnreachable, p.conditions[0].Reason)
	assert.LessOrEqual(t, len(p.conditions[0].Message), truncate.MaxStatus)
	assert.LessOrEqual(t, len(p.status.LastError.Message), truncate.MaxStatus)
	p.invalid(problem.New(problem.ValuesInvalid, long))
	assert.LessOrEqual(t, len(p.conditions[1].Message), truncate.MaxStatus)
	before := p.status.LastError
	p.invalid(problem.New(problem.ValuesInvalid, long))
	assert.Same(t, before, p.status.LastError, "the same error is no news, though it was cut")
}
