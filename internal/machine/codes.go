package machine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/codes"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/status"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/truncate"
)

// failure is an error with a code that a driver has determined.
type failure struct {
	code codes.Code
	err  error
}

// Failuref returns an error with a code that the driver has determined.
func Failuref(code codes.Code, format string, args ...any) error {
	return &failure{code: code, err: fmt.Errorf(format, args...)}
}

// Error implements error.
func (f *failure) Error() string { return f.err.Error() }

// Unwrap returns the cause for errors.Is and errors.As.
func (f *failure) Unwrap() error { return f.err }

// codesByKind maps a cloud's error kinds to MCM's codes. MCM retries a creation soon after Unavailable, Aborted, DeadlineExceeded and Unknown, after ten
// minutes after ResourceExhausted, and after three minutes after the others; a deletion after ten minutes. It creates a machine if the status is NotFound, and
// continues the deletion of one that is NotFound: that code is for a missing server only, so a missing dependency of a server
// has InvalidArgument.
func codesByKind() map[cloud.Kind]codes.Code {
	return map[cloud.Kind]codes.Code{
		cloud.Configuration:   codes.InvalidArgument,
		cloud.Unauthenticated: codes.Unauthenticated,
		cloud.Unauthorized:    codes.PermissionDenied,
		cloud.QuotaExceeded:   codes.ResourceExhausted,
		cloud.Depleted:        codes.ResourceExhausted,
		cloud.RateLimited:     codes.Unavailable,
		cloud.Unavailable:     codes.Unavailable,
		cloud.NotFound:        codes.InvalidArgument,
		cloud.Conflict:        codes.Aborted,
		cloud.InUse:           codes.Aborted,
		cloud.Unknown:         codes.Unknown,
	}
}

// Errors translates the errors of a cloud to MCM's.
type Errors struct {
	// IsBadRequest reports whether the cloud rejected a request as invalid. All invalid values in a driver's requests are from the class.
	IsBadRequest func(error) bool
	// Remedies are what a user may do, by error kind.
	Remedies map[cloud.Kind]string
}

const (
	missingRemedy    = "something that the machine class refers to is missing: create it again, or change the pool"
	badRequestRemedy = "the cloud does not accept what the machine class says: change the pool"
)

// Code returns the code for an error.
func (e Errors) Code(err error) codes.Code {
	code, _ := e.codeAndRemedy(err)
	return code
}

// codeAndRemedy returns the code for an error, and the remedy.
func (e Errors) codeAndRemedy(err error) (codes.Code, string) {
	if known, ok := errors.AsType[*failure](err); ok {
		return known.code, ""
	}
	kind := cloud.KindOf(err)
	switch {
	case kind == cloud.Unknown && e.IsBadRequest(err):
		return codes.InvalidArgument, badRequestRemedy
	case kind == cloud.Unknown && errors.Is(err, context.DeadlineExceeded):
		return codes.DeadlineExceeded, ""
	case kind == cloud.Unknown && errors.Is(err, context.Canceled):
		return codes.Aborted, ""
	case kind == cloud.NotFound:
		return codesByKind()[kind], missingRemedy
	default:
		return codesByKind()[kind], e.Remedies[kind]
	}
}

// Refused reports whether a call certainly had no effect, and will have none if it is repeated.
func (e Errors) Refused(err error) bool {
	switch cloud.KindOf(err) {
	case cloud.Configuration, cloud.Unauthorized, cloud.QuotaExceeded, cloud.Depleted, cloud.NotFound:
		return true
	case cloud.Unknown:
		return e.IsBadRequest(err)
	default:
		return false
	}
}

// MCM returns an error in MCM's format: "action: what happened; remedy".
func (e Errors) MCM(action string, err error) error {
	if err == nil {
		return nil
	}
	code, remedy := e.codeAndRemedy(err)
	message := action + ": " + truncate.Text(err.Error(), maxMessageLength)
	if remedy != "" {
		message += "; " + remedy
	}
	// MCM parses code and message from two pairs of brackets in the text, so there must be no others.
	message = strings.NewReplacer("[", "(", "]", ")").Replace(message)
	return status.WrapError(code, message, err)
}

// maxMessageLength is the maximum length in bytes of an error's message. MCM writes it into the Machine, and into the statuses of its set and its
// deployment once for each failed machine.
const maxMessageLength = 800

// CodeOf returns the code of an error in MCM's format.
func CodeOf(err error) codes.Code {
	if answer, ok := errors.AsType[*status.Status](err); ok {
		return answer.Code()
	}
	if err == nil {
		return codes.OK
	}
	return codes.Unknown
}
