package cloud

import (
	"errors"
	"fmt"
	"time"
)

// Kind says what sort of trouble a cloud reported. It is decided once, where the SDK is called, from the status code
// and the machine-readable type of the answer, never from its prose. Everything above branches on the kind alone.
type Kind int

const (
	// Unknown is every error that nobody classified. It counts as transient.
	Unknown Kind = iota
	// Configuration: the user's input cannot be fulfilled as written; only an edit helps.
	Configuration
	// Unauthenticated: the credentials are not accepted.
	Unauthenticated
	// Unauthorized: the credentials are accepted, but not for this action.
	Unauthorized
	// QuotaExceeded: the account's quota does not cover the request.
	QuotaExceeded
	// Depleted: the cloud itself has run out of what was asked for (no address left, no host with room).
	Depleted
	// RateLimited: too many requests; see Error.RetryAfter.
	RateLimited
	// Unavailable: the cloud failed, timed out, could not be reached, or answered what nobody can use.
	Unavailable
	// NotFound: the object of the request does not exist.
	NotFound
	// Conflict: the object changed meanwhile, or one like it exists already; reading again and retrying is right.
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

// Error is a classified error of a cloud, or of the code that speaks to it.
type Error struct {
	Kind Kind
	// Message says what happened in words for a user; it names the resource. May be empty when Err says it.
	Message string
	// RetryAfter is how long the cloud asked callers to stay away; zero when it did not say.
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

// Unwrap gives errors.Is and errors.As access to the cause.
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

// IsNotFound reports whether err says that the object of the request does not exist.
func IsNotFound(err error) bool { return KindOf(err) == NotFound }

// RetryAfter returns how long the cloud asked callers to stay away, or zero.
func RetryAfter(err error) time.Duration {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.RetryAfter
	}
	return 0
}
