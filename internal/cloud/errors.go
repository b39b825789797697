package cloud

import (
	"errors"
	"fmt"
	"time"
)

// Kind is the kind of a cloud's error. It is decided once, where the SDK is called, from the status code
// and the machine-readable type of the response, never from its text. Callers depend on the kind alone.
type Kind int

const (
	// Unknown is every unclassified error. It counts as transient.
	Unknown Kind = iota
	// Configuration: the user's input cannot be fulfilled; the user has to change it.
	Configuration
	// Unauthenticated: the credentials are not accepted.
	Unauthenticated
	// Unauthorized: the credentials are accepted, but not for this action.
	Unauthorized
	// QuotaExceeded: the account's quota does not cover the request.
	QuotaExceeded
	// Depleted: the cloud has no capacity (no address left, no host with room).
	Depleted
	// RateLimited: too many requests; see Error.RetryAfter.
	RateLimited
	// Unavailable: the cloud failed, timed out, could not be reached, or returned an invalid response.
	Unavailable
	// NotFound: the object of the request does not exist.
	NotFound
	// Conflict: the object was changed meanwhile, or one like it exists already; a retry after another read may succeed.
	Conflict
	// InUse: the object cannot be removed because another one depends on it.
	InUse
)

// String returns the kind as one lower-case word or two, for logs and metrics.
func (k Kind) String() string {
	names := [...]string{
		"unknown", "configuration", "unauthenticated", "unauthorized", "quota exceeded", "depleted",
		"rate limited", "unavailable", "not found", "conflict", "in use",
	}
	if k < 0 || int(k) >= len(names) {
		return fmt.Sprintf("kind(%d)", int(k))
	}
	return names[k]
}

// Error is a classified error of a cloud, or of its client.
type Error struct {
	Kind Kind
	// Message describes the error for a user; it names the resource. It may be empty if Err describes it.
	Message string
	// RetryAfter is the delay that the cloud requested; zero if there was none.
	RetryAfter time.Duration
	// Err is the cause, may be nil.
	Err error
}

// Error implements error.
func (e *Error) Error() string {
	switch {
	case e.Err == nil:
		return e.Message
	case e.Message == "":
		return e.Err.Error()
	default:
		return e.Message + ": " + e.Err.Error()
	}
}

// Unwrap returns the cause for errors.Is and errors.As.
func (e *Error) Unwrap() error { return e.Err }

// Errorf returns an error of the given kind. It wraps like fmt.Errorf.
func Errorf(kind Kind, format string, args ...any) error {
	return &Error{Kind: kind, Err: fmt.Errorf(format, args...)}
}

// KindOf returns the kind of the outermost classified error in err's tree, or Unknown.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Unknown
}

// IsNotFound reports whether the object of the request does not exist.
func IsNotFound(err error) bool { return KindOf(err) == NotFound }

// RetryAfter returns the delay that the cloud requested, or zero.
func RetryAfter(err error) time.Duration {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.RetryAfter
	}
	return 0
}
