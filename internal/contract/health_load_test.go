package contract_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/contract"
)

// The contract's controller, the health controller and a third party write the same status, each as often as it can.
// None may undo what another has written.
func TestHealth_ConcurrentOperations(t *testing.T) {
	const rounds, steps = 3, 40
	s := newHealthEnvironment(t)
	s.healthOptions.HealthInterval = 2 * time.Millisecond
	var news atomic.Int64
	s.setCheck(func(context.Context, contract.CheckInput[*object]) (contract.Findings, error) {
		return contract.Findings{healthy: {Message: strconv.FormatInt(news.Add(1), 10)}}, nil
	})
	s.actuator.reconcile = func(ctx context.Context, p *reconciliation) error {
		round := len(s.actuator.recordedCalls())
		for step := range steps {
			if err := p.StateRecorder.RecordIntent(ctx, map[string]int{"n": round*1000 + step}); err != nil {
				return err
			}
			p.Object.Status.EgressCIDRs = []string{fmt.Sprintf("203.0.113.%d/32", step)}
			if err := p.Publish(ctx); err != nil {
				return err
			}
		}
		return nil
	}
	s.create()
	ctx, cancel := context.WithCancel(t.Context())
	var background sync.WaitGroup
	background.Go(func() { s.assertCountersNeverFall(ctx) })
	observations := 0
	for round := range rounds {
		require.NoError(t, s.Backdate(t.Context(), longAgo))
		require.NoError(t, s.Request(t.Context(), v1beta1constants.GardenerOperationReconcile))
		for range 20 {
			observations++
			require.NoError(t, s.writeCondition(t.Context(), strconv.Itoa(observations)))
		}
		o := s.ready()
		assert.JSONEq(t, fmt.Sprintf(`{"n":%d}`, (round+2)*1000+steps-1), string(o.Status.State.Raw))
		assert.Equal(t, []string{fmt.Sprintf("203.0.113.%d/32", steps-1)}, o.Status.EgressCIDRs)
		assert.Equal(t, strconv.Itoa(observations), v1beta1helper.GetCondition(o.Status.Conditions, observed).Message)
	}
	cancel()
	background.Wait()
	condition := v1beta1helper.GetCondition(s.get().Status.Conditions, healthy)
	written, err := strconv.Atoi(condition.Message)
	require.NoError(t, err)
	assert.Greater(t, written, 20, "the health controller hardly got a word in")
	assert.NotEmpty(t, s.actuator.recordedCalls())
}

// assertCountersNeverFall watches the object: what each writer counts up must never fall.
func (s *healthEnvironment) assertCountersNeverFall(ctx context.Context) {
	last := map[string]int{}
	_, _ = s.WaitFor(ctx, func(o *object) error {
		for name, value := range countersOf(o) {
			assert.GreaterOrEqual(s.t, value, last[name], "%s was undone", name)
			last[name] = value
		}
		return errors.New("go on")
	})
	for name, value := range last {
		assert.Positive(s.t, value, "%s was never seen", name)
	}
	assert.Len(s.t, last, 3)
}

func countersOf(o *object) map[string]int {
	counters := map[string]int{}
	for _, condition := range o.Status.Conditions {
		if n, err := strconv.Atoi(condition.Message); err == nil {
			counters[string(condition.Type)] = n
		}
	}
	if o.Status.State != nil {
		var n int
		if _, err := fmt.Sscanf(string(o.Status.State.Raw), `{"n":%d}`, &n); err == nil {
			counters["state"] = n
		}
	}
	return counters
}
