package installationcontroller

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/seeds"
)

// seedError is an error of a request to a seed. All other errors come from the garden, the machine or the operator, and do not count against the
// revision in the seed.
type seedError struct{ error }

func (s *seedError) Unwrap() error { return s.error }

// asSeedError wraps an error of a request to a seed; nil stays nil.
func asSeedError(err error) error {
	if err == nil {
		return nil
	}
	return &seedError{err}
}

// isSeedError reports whether a seed does not respond, or responds with errors. Missing or rejected credentials are not an error of the seed.
func isSeedError(err error) bool {
	if unreachable, is := errors.AsType[*seeds.Unreachable](err); is {
		return !unreachable.NoAccess
	}
	_, is := errors.AsType[*seedError](err)
	return is && !apierrors.IsUnauthorized(err)
}
