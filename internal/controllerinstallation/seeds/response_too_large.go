package seeds

import (
	"context"
	"fmt"
)

// ResponseTooLarge is the error of an answer that is more than anybody can hold, to a request that may be repeated for less of it.
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

// Paged returns a context for requests of which the caller can ask for less, such as pages of a list. Where the answer is more than anybody can hold
// they fail with an Excessive, which says nothing against the seed: it is other requests that make it unreachable by such an answer.
func Paged(ctx context.Context) context.Context {
	return context.WithValue(ctx, pagedKey{}, true)
}

func isPaged(ctx context.Context) bool { return ctx.Value(pagedKey{}) != nil }
