package seeds

import (
	"context"
	"fmt"
)

// ResponseTooLarge is the error for a response that exceeds the limits, if the caller can request less of it.
type ResponseTooLarge struct { //nolint:errname // it is a state of the world, and no more an error than that
	Seed string
	Err  error
}

var _ error = (*ResponseTooLarge)(nil)

// Error implements error.
func (e *ResponseTooLarge) Error() string { return fmt.Sprintf("asking seed %s: %v", e.Seed, e.Err) }

// Unwrap returns the cause.
func (e *ResponseTooLarge) Unwrap() error { return e.Err }

type pagedKey struct{}

// Paged returns a context for requests that the caller can make smaller, such as pages of a list. If a response exceeds the limits, they fail with a
// ResponseTooLarge, which does not count against the seed. With other requests such a response makes the seed unreachable.
func Paged(ctx context.Context) context.Context {
	return context.WithValue(ctx, pagedKey{}, true)
}

func isPaged(ctx context.Context) bool { return ctx.Value(pagedKey{}) != nil }
