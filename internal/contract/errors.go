package contract

import (
	"context"
	"errors"
	"slices"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/trellis-garden/trellis/internal/cloud"
)

// codeOf is the one table from error kinds to Gardener's codes. A code that gardenlet considers non-retryable sets the
// Shoot to Failed until a user acts, so only kinds that a user must resolve have one.
func codeOf(kind cloud.Kind) gardencorev1beta1.ErrorCode {
	switch kind {
	case cloud.Configuration:
		return gardencorev1beta1.ErrorConfigurationProblem
	case cloud.Unauthenticated:
		return gardencorev1beta1.ErrorInfraUnauthenticated
	case cloud.Unauthorized:
		return gardencorev1beta1.ErrorInfraUnauthorized
	case cloud.QuotaExceeded:
		return gardencorev1beta1.ErrorInfraQuotaExceeded
	case cloud.InUse:
		return gardencorev1beta1.ErrorInfraDependencies
	case cloud.Depleted:
		return gardencorev1beta1.ErrorInfraResourcesDepleted
	case cloud.Unavailable:
		return gardencorev1beta1.ErrorRetryableInfraDependencies
	default:
		// RateLimited among them: its code would set the Shoot to Failed for an error that ends within seconds.
		return ""
	}
}

// Codes returns Gardener's error codes for everything that err's tree holds, without duplicates, in order of appearance.
func Codes(err error) []gardencorev1beta1.ErrorCode {
	var codes []gardencorev1beta1.ErrorCode
	for _, classified := range classifiedIn(err) {
		code := codeOf(classified.Kind)
		if code != "" && !slices.Contains(codes, code) {
			codes = append(codes, code)
		}
	}
	return codes
}

// retryAfter returns the longest delay that a cloud requested in err's tree, or zero.
func retryAfter(err error) time.Duration {
	var pause time.Duration
	for _, classified := range classifiedIn(err) {
		pause = max(pause, classified.RetryAfter)
	}
	return pause
}

// classifiedIn returns the outermost classified error of every branch of err's tree.
func classifiedIn(err error) []*cloud.Error {
	if err == nil {
		return nil
	}
	//nolint:errorlint // the walk looks at every node of the tree itself
	switch e := err.(type) {
	case *cloud.Error:
		return []*cloud.Error{e}
	case interface{ Unwrap() []error }:
		var all []*cloud.Error
		for _, branch := range e.Unwrap() {
			all = append(all, classifiedIn(branch)...)
		}
		return all
	default:
		return classifiedIn(errors.Unwrap(err))
	}
}

// interrupted reports whether the reconciliation ended because the process has to stop, which is not an error.
func interrupted(ctx context.Context) bool {
	return errors.Is(ctx.Err(), context.Canceled)
}
