package installationcontroller

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/seeds"
)

// seedError is an error of what was asked of a seed. All other errors are the garden's, the machine's or the operator's: they tell nothing of the seed,
// and so nothing against the revision that it has.
type seedError struct{ error }

func (s *seedError) Unwrap() error { return s.error }

// asSeedError marks an error of what was asked of a seed; nil stays nil.
func asSeedError(err error) error {
	if err == nil {
		return nil
	}
	return &seedError{err}
}

// isSeedError reports whether an error tells that a seed does not answer, or answers with errors. That there is no access to it, or none any more, is not
// its fault.
func isSeedError(err error) bool {
	if unreachable, is := errors.AsType[*seeds.Unreachable](err); is {
		return !unreachable.NoAccess
	}
	_, is := errors.AsType[*seedError](err)
	return is && !apierrors.IsUnauthorized(err)
}
