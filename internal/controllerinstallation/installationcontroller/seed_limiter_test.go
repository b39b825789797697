package installationcontroller

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

func TestSeedLimiter(t *testing.T) {
	s := newSeedLimiter(20)
	var releases []func()
	for range 5 {
		release, acquired := s.acquire("hostile")
		require.True(t, acquired)
		releases = append(releases, release)
	}
	_, acquired := s.acquire("hostile")
	assert.False(t, acquired, "a quarter of the workers is enough for one seed")
	release, acquired := s.acquire("other")
	require.True(t, acquired, "the others are for other seeds")
	release()
	releases[0]()
	release, acquired = s.acquire("hostile")
	require.True(t, acquired)
	release()
	for _, release := range releases[1:] {
		release()
	}
	assert.Empty(t, s.busy)

	_, acquired = newSeedLimiter(1).acquire("only")
	assert.True(t, acquired, "one worker is not less than one")
}

func TestReconciliation_TruncatesMessages(t *testing.T) {
	long := strings.Repeat("lies ", 1<<20)
	rec := newReconciliation(&gardencorev1beta1.ControllerInstallation{}, operatorOfGarden, clock.RealClock{})
	err := &truncatedError{&seeds.Unreachable{Seed: "a", Err: errors.New(long)}}
	assert.LessOrEqual(t, len(err.Error()), truncate.MaxStatus, "in a log line")
	rec.recordError(err)
	require.Len(t, rec.conditions, 1)
	assert.Equal(t, problem.SeedUnreachable, rec.conditions[0].Reason)
	assert.LessOrEqual(t, len(rec.conditions[0].Message), truncate.MaxStatus)
	assert.LessOrEqual(t, len(rec.status.LastError.Message), truncate.MaxStatus)
	rec.setInvalid(problem.New(problem.ValuesInvalid, long))
	assert.LessOrEqual(t, len(rec.conditions[1].Message), truncate.MaxStatus)
	before := rec.status.LastError
	rec.setInvalid(problem.New(problem.ValuesInvalid, long))
	assert.Same(t, before, rec.status.LastError, "the same error is no news, though it was cut")
}
