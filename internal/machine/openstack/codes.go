package openstack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/codes"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/status"

	"github.com/trellis-garden/trellis/internal/cloud"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/truncate"
)

// failure is an error with a code that the driver has determined.
type failure struct {
	code codes.Code
	err  error
}

func failuref(code codes.Code, format string, args ...any) error {
	return &failure{code: code, err: fmt.Errorf(format, args...)}
}

// Error implements error.
func (f *failure) Error() string { return f.err.Error() }

// Unwrap returns the cause for errors.Is and errors.As.
func (f *failure) Unwrap() error { return f.err }

// codeAndRemedy is the code for an error kind, with the remedy.
type codeAndRemedy struct {
	code   codes.Code
	remedy string
}

// codesByKind maps a cloud's error kinds to MCM's codes. MCM retries a creation soon after Unavailable, Aborted, DeadlineExceeded and Unknown, after ten
// minutes after ResourceExhausted, and after three minutes after the others; a deletion after ten minutes. It creates a machine if the status is NotFound, and
// continues the deletion of one that is NotFound: that code is for a missing server only, so a missing dependency of a server
// has InvalidArgument.
func codesByKind() map[cloud.Kind]codeAndRemedy {
	return map[cloud.Kind]codeAndRemedy{
		cloud.Configuration:   {codes.InvalidArgument, ""},
		cloud.Unauthenticated: {codes.Unauthenticated, ""},
		cloud.Unauthorized:    {codes.PermissionDenied, "give the user of the credentials the role for it in the project"},
		cloud.QuotaExceeded:   {codes.ResourceExhausted, "raise the project's quota, or lower the maximum of the pools"},
		cloud.Depleted:        {codes.ResourceExhausted, "extend what is used up, or lower the maximum of the pools"},
		cloud.RateLimited:     {codes.Unavailable, ""},
		cloud.Unavailable:     {codes.Unavailable, ""},
		cloud.NotFound:        {codes.InvalidArgument, "something that the machine class refers to is missing: create it again, or change the pool"},
		cloud.Conflict:        {codes.Aborted, ""},
		cloud.InUse:           {codes.Aborted, ""},
		cloud.Unknown:         {codes.Unknown, ""},
	}
}

// codeFor returns the code and the remedy for an error.
func codeFor(err error) codeAndRemedy {
	if known, ok := errors.AsType[*failure](err); ok {
		return codeAndRemedy{code: known.code}
	}
	kind := cloud.KindOf(err)
	switch {
	case kind == cloud.Unknown && isBadRequest(err):
		return codeAndRemedy{codes.InvalidArgument, "the cloud does not accept what the machine class says: change the pool"}
	case kind == cloud.Unknown && errors.Is(err, context.DeadlineExceeded):
		return codeAndRemedy{code: codes.DeadlineExceeded}
	case kind == cloud.Unknown && errors.Is(err, context.Canceled):
		return codeAndRemedy{code: codes.Aborted}
	default:
		return codesByKind()[kind]
	}
}

// isBadRequest reports whether a service rejected a request as invalid. All invalid values in ours are from the class.
func isBadRequest(err error) bool {
	fault, ok := errors.AsType[*cloudopenstack.ResponseError](err)
	return ok && (fault.Status == http.StatusBadRequest || fault.Status == http.StatusUnprocessableEntity)
}

// refused reports whether a call certainly had no effect, and will have none if it is repeated.
func refused(err error) bool {
	switch cloud.KindOf(err) {
	case cloud.Configuration, cloud.Unauthorized, cloud.QuotaExceeded, cloud.Depleted, cloud.NotFound:
		return true
	case cloud.Unknown:
		return isBadRequest(err)
	default:
		return false
	}
}

// mcmError is an error in MCM's format: "action: what happened; remedy".
func mcmError(action string, err error) error {
	if err == nil {
		return nil
	}
	mapped := codeFor(err)
	message := action + ": " + truncate.Text(err.Error(), maxMessageLength)
	if mapped.remedy != "" {
		message += "; " + mapped.remedy
	}
	// MCM parses code and message from two pairs of brackets in the text, so there must be no others.
	message = strings.NewReplacer("[", "(", "]", ")").Replace(message)
	return status.WrapError(mapped.code, message, err)
}

// maxMessageLength is the maximum length in bytes of an error's message. MCM writes it into the Machine, and into the statuses of its set and its
// deployment once for each failed machine.
const maxMessageLength = 800

// codeOf returns the code of an error from coded.
func codeOf(err error) codes.Code {
	if answer, ok := errors.AsType[*status.Status](err); ok {
		return answer.Code()
	}
	if err == nil {
		return codes.OK
	}
	return codes.Unknown
}
