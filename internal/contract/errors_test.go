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

	"github.com/trellis-garden/trellis/internal/cloud"
)

func TestCodesAndRetries(t *testing.T) {
	retry := Retry{Base: time.Second, Max: time.Minute, Patient: time.Hour}
	for sentence, tc := range map[string]struct {
		err   error
		codes []gardencorev1beta1.ErrorCode
		pause time.Duration // 0: the usual, growing one
		final bool          // gardenlet turns the shoot to Failed
	}{
		"a configuration problem waits for the user":            {cloud.Errorf(cloud.Configuration, "x"), codes(gardencorev1beta1.ErrorConfigurationProblem), time.Hour, true},
		"rejected credentials wait for the user":                {cloud.Errorf(cloud.Unauthenticated, "x"), codes(gardencorev1beta1.ErrorInfraUnauthenticated), time.Hour, true},
		"missing rights wait for the user":                      {cloud.Errorf(cloud.Unauthorized, "x"), codes(gardencorev1beta1.ErrorInfraUnauthorized), time.Hour, true},
		"an exceeded quota waits for the user":                  {cloud.Errorf(cloud.QuotaExceeded, "x"), codes(gardencorev1beta1.ErrorInfraQuotaExceeded), time.Hour, true},
		"a blocked deletion waits for the user":                 {cloud.Errorf(cloud.InUse, "x"), codes(gardencorev1beta1.ErrorInfraDependencies), time.Hour, true},
		"a cloud that has run out is tried again":               {cloud.Errorf(cloud.Depleted, "x"), codes(gardencorev1beta1.ErrorInfraResourcesDepleted), 0, false},
		"a cloud that is down is tried again":                   {cloud.Errorf(cloud.Unavailable, "x"), codes(gardencorev1beta1.ErrorRetryableInfraDependencies), 0, false},
		"a conflict is tried again":                             {cloud.Errorf(cloud.Conflict, "x"), nil, 0, false},
		"throttling fails no shoot and keeps the cloud's pause": {&cloud.Error{Kind: cloud.RateLimited, RetryAfter: 7 * time.Second}, nil, 7 * time.Second, false},
		"throttling without a pause is tried again":             {cloud.Errorf(cloud.RateLimited, "x"), nil, 0, false},
		"an error that nobody classified is transient":          {errors.New("x"), nil, 0, false},
		"a wrapped error keeps its kind":                        {fmt.Errorf("creating router: %w", cloud.Errorf(cloud.QuotaExceeded, "x")), codes(gardencorev1beta1.ErrorInfraQuotaExceeded), time.Hour, true},
		"the outermost kind counts":                             {cloud.Errorf(cloud.Configuration, "no such network: %w", cloud.Errorf(cloud.NotFound, "x")), codes(gardencorev1beta1.ErrorConfigurationProblem), time.Hour, true},
		"joined errors give all codes, each once": {
			errors.Join(cloud.Errorf(cloud.Unavailable, "x"), fmt.Errorf("y: %w", cloud.Errorf(cloud.QuotaExceeded, "y")), cloud.Errorf(cloud.Unavailable, "z")),
			codes(gardencorev1beta1.ErrorRetryableInfraDependencies, gardencorev1beta1.ErrorInfraQuotaExceeded), time.Hour, true,
		},
		"no error has no code": {nil, nil, 0, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			assert.Equal(t, tc.codes, Codes(tc.err))
			pause, fixed := retry.fixedPause(tc.err)
			assert.Equal(t, tc.pause, pause)
			assert.Equal(t, tc.pause > 0, fixed)
			assert.Equal(t, tc.final, v1beta1helper.HasNonRetryableErrorCode(gardencorev1beta1.LastError{Codes: Codes(tc.err)}))
		})
	}
}

func codes(all ...gardencorev1beta1.ErrorCode) []gardencorev1beta1.ErrorCode { return all }

func TestOnlyTheEndOfTheProcessInterrupts(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	assert.False(t, interrupted(cancelled))
	cancel()
	assert.True(t, interrupted(cancelled))
	late, cancelLate := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancelLate()
	assert.False(t, interrupted(late), "an operation that took too long has failed")
}
