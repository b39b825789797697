package wire

import (
	"fmt"
	"strconv"
	"time"
)

// Error is an error of a service. Each service has a response format of its own.
type Error struct {
	// Status is the HTTP status code.
	Status int
	// Type is the machine-readable name of the error. Empty means the service's default for the status.
	Type    string
	Message string
	// RetryAfter is sent as a Retry-After header, in whole seconds rounded up, unless it is zero.
	RetryAfter time.Duration
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("%d %s: %s", e.Status, e.Type, e.Message) }

// RetryAfterSeconds is RetryAfter in whole seconds, rounded up.
func (e *Error) RetryAfterSeconds() string {
	return strconv.Itoa(int((e.RetryAfter + time.Second - 1) / time.Second))
}
