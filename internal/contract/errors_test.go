package contract

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/trellis-garden/trellis/internal/cloud"
)

func TestCodes(t *testing.T) {
	for sentence, tc := range map[string]struct {
		err   error
		codes []gardencorev1beta1.ErrorCode
		pause time.Duration // the delay that the cloud requested
		final bool          // gardenlet sets the shoot to Failed
	}{
		"a configuration problem is final for gardenlet":        {cloud.Errorf(cloud.Configuration, "x"), codes(gardencorev1beta1.ErrorConfigurationProblem), 0, true},
		"rejected credentials are final for gardenlet":          {cloud.Errorf(cloud.Unauthenticated, "x"), codes(gardencorev1beta1.ErrorInfraUnauthenticated), 0, true},
		"missing rights are final for gardenlet":                {cloud.Errorf(cloud.Unauthorized, "x"), codes(gardencorev1beta1.ErrorInfraUnauthorized), 0, true},
		"an exceeded quota is final for gardenlet":              {cloud.Errorf(cloud.QuotaExceeded, "x"), codes(gardencorev1beta1.ErrorInfraQuotaExceeded), 0, true},
		"a blocked deletion is final for gardenlet":             {cloud.Errorf(cloud.InUse, "x"), codes(gardencorev1beta1.ErrorInfraDependencies), 0, true},
		"a cloud that has run out is tried again":               {cloud.Errorf(cloud.Depleted, "x"), codes(gardencorev1beta1.ErrorInfraResourcesDepleted), 0, false},
		"a cloud that is down is tried again":                   {cloud.Errorf(cloud.Unavailable, "x"), codes(gardencorev1beta1.ErrorRetryableInfraDependencies), 0, false},
		"a conflict is tried again":                             {cloud.Errorf(cloud.Conflict, "x"), nil, 0, false},
		"throttling fails no shoot and keeps the cloud's pause": {&cloud.Error{Kind: cloud.RateLimited, RetryAfter: 7 * time.Second}, nil, 7 * time.Second, false},
		"throttling without a pause is tried again":             {cloud.Errorf(cloud.RateLimited, "x"), nil, 0, false},
		"an error that nobody classified is transient":          {errors.New("x"), nil, 0, false},
		"a wrapped error keeps its kind":                        {fmt.Errorf("creating router: %w", cloud.Errorf(cloud.QuotaExceeded, "x")), codes(gardencorev1beta1.ErrorInfraQuotaExceeded), 0, true},
		"the outermost kind counts":                             {cloud.Errorf(cloud.Configuration, "no such network: %w", cloud.Errorf(cloud.NotFound, "x")), codes(gardencorev1beta1.ErrorConfigurationProblem), 0, true},
		"joined errors give all codes, each once": {
			errors.Join(cloud.Errorf(cloud.Unavailable, "x"), fmt.Errorf("y: %w", cloud.Errorf(cloud.QuotaExceeded, "y")), cloud.Errorf(cloud.Unavailable, "z")),
			codes(gardencorev1beta1.ErrorRetryableInfraDependencies, gardencorev1beta1.ErrorInfraQuotaExceeded), 0, true,
		},
		"no error has no code": {nil, nil, 0, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			assert.Equal(t, tc.codes, Codes(tc.err))
			assert.Equal(t, tc.pause, retryAfter(tc.err))
			assert.Equal(t, tc.final, v1beta1helper.HasNonRetryableErrorCode(gardencorev1beta1.LastError{Codes: Codes(tc.err)}))
		})
	}
}

func TestRateLimiter(t *testing.T) {
	one, two := reconcile.Request{NamespacedName: types.NamespacedName{Name: "one"}}, reconcile.Request{NamespacedName: types.NamespacedName{Name: "two"}}
	decided := map[reconcile.Request]time.Duration{}
	p := newRateLimiter(Retry{Base: time.Second, Max: 10 * time.Second}, func(request reconcile.Request, delay time.Duration) { decided[request] = delay })
	next := func(request reconcile.Request) time.Duration {
		delay := p.When(request)
		assert.Equal(t, delay, decided[request])
		return delay
	}
	assert.Equal(t, time.Second, next(one))
	assert.Equal(t, 2*time.Second, next(one), "the pause grows")
	p.setMinDelay(one, 7*time.Second)
	assert.Equal(t, time.Second, next(two), "other objects are none of the cloud's concern")
	assert.Equal(t, 7*time.Second, next(one), "the cloud asked for a longer one")
	assert.Equal(t, 8*time.Second, next(one), "and the pause went on growing meanwhile")
	p.setMinDelay(one, time.Second)
	assert.Equal(t, 10*time.Second, next(one), "a shorter one changes nothing, and there is a bound")
	p.setMinDelay(two, time.Hour)
	assert.Equal(t, 10*time.Second, next(two), "which the cloud cannot exceed either")
	p.Forget(one)
	assert.Equal(t, time.Second, next(one), "success starts anew")
}

func TestRetryDefaults(t *testing.T) {
	assert.Equal(t, Retry{Base: time.Second, Max: 5 * time.Minute}, Retry{}.withDefaults())
	assert.Equal(t, Retry{Base: time.Second, Max: time.Minute}, Retry{Max: time.Minute}.withDefaults())
}

func codes(all ...gardencorev1beta1.ErrorCode) []gardencorev1beta1.ErrorCode { return all }

func TestInterrupted(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	assert.False(t, interrupted(cancelled))
	cancel()
	assert.True(t, interrupted(cancelled))
	late, cancelLate := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancelLate()
	assert.False(t, interrupted(late), "an operation that took too long has failed")
}
