package example

import (
	"errors"
	"net/http"
	"strings"

	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/codes"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/status"

	"github.com/trellis-garden/trellis/internal/cloud"
	cloudexample "github.com/trellis-garden/trellis/internal/cloud/example"
)

// mcmError is an error in MCM's format. MCM parses code and message from two pairs of brackets in the text, so there must be no others.
func mcmError(action string, err error) error {
	message := strings.NewReplacer("[", "(", "]", ")").Replace(action + ": " + err.Error())
	return status.WrapError(codeOf(err), message, err)
}

// codeOf maps error kinds to the codes by which MCM decides when it tries again. NotFound is for a missing server only, so something else that is
// missing is an invalid argument.
func codeOf(err error) codes.Code {
	if refused, ok := errors.AsType[*cloudexample.ResponseError](err); ok && refused.Status == http.StatusUnprocessableEntity {
		return codes.InvalidArgument // all values are those of the class
	}
	switch cloud.KindOf(err) {
	case cloud.Configuration, cloud.NotFound:
		return codes.InvalidArgument
	case cloud.Unauthenticated:
		return codes.Unauthenticated
	case cloud.Unauthorized:
		return codes.PermissionDenied
	case cloud.QuotaExceeded, cloud.Depleted:
		return codes.ResourceExhausted
	case cloud.RateLimited, cloud.Unavailable:
		return codes.Unavailable
	case cloud.Conflict, cloud.InUse:
		return codes.Aborted
	default:
		return codes.Unknown
	}
}
