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

// failure is an error of which the driver itself knows the code.
type failure struct {
	code codes.Code
	err  error
}

func failuref(code codes.Code, format string, args ...any) error {
	return &failure{code: code, err: fmt.Errorf(format, args...)}
}

// Error implements error.
func (f *failure) Error() string { return f.err.Error() }

// Unwrap gives errors.Is and errors.As access to the cause.
func (f *failure) Unwrap() error { return f.err }

// codeAndRemedy is the code for a kind of trouble, and what somebody can do about it.
type codeAndRemedy struct {
	code   codes.Code
	remedy string
}

// codesByKind is what MCM is told of a cloud's troubles. It repeats a creation soon after Unavailable, Aborted, DeadlineExceeded and Unknown, after ten
// minutes after ResourceExhausted, and after three of the others; a deletion after ten. It has a machine created when its status is NotFound, and goes on with
// the deletion of one that is NotFound: that code stands for a missing server and for nothing else, so that something that is missing for
// one has InvalidArgument.
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

// isBadRequest reports whether a service called a request a bad one. Everything that may be wrong with ours comes from the class.
func isBadRequest(err error) bool {
	fault, ok := errors.AsType[*cloudopenstack.ResponseError](err)
	return ok && (fault.Status == http.StatusBadRequest || fault.Status == http.StatusUnprocessableEntity)
}

// refused reports whether a call certainly had no effect, and will not have any when it is repeated as it was.
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

// mcmError is an error as MCM wants it: "action: what happened; remedy".
func mcmError(action string, err error) error {
	if err == nil {
		return nil
	}
	mapped := codeFor(err)
	message := action + ": " + truncate.Text(err.Error(), maxMessageLength)
	if mapped.remedy != "" {
		message += "; " + mapped.remedy
	}
	// MCM reads code and message out of two pairs of brackets in the text, so that there must be no others.
	message = strings.NewReplacer("[", "(", "]", ")").Replace(message)
	return status.WrapError(mapped.code, message, err)
}

// maxMessageLength is how many bytes of an error MCM is told. It writes them into the Machine, and into the status of its set and its
// deployment once more for each machine that fails.
const maxMessageLength = 800

// codeOf returns the code of what coded has returned.
func codeOf(err error) codes.Code {
	if answer, ok := errors.AsType[*status.Status](err); ok {
		return answer.Code()
	}
	if err == nil {
		return codes.OK
	}
	return codes.Unknown
}
