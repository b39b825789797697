package seeds

import (
	"context"
	"fmt"
)

// Excessive is the error of an answer that is more than anybody can hold, to a request that may be repeated for less of it.
type Excessive struct { //nolint:errname // it is a state of the world, and no more an error than that
	Seed string
	Err  error
}

var _ error = (*Excessive)(nil)

// Error implements error.
func (e *Excessive) Error() string { return fmt.Sprintf("asking seed %s: %v", e.Seed, e.Err) }

// Unwrap returns the cause.
func (e *Excessive) Unwrap() error { return e.Err }

type divisible struct{}

// Divisible returns a context for requests of which the caller can ask for less, such as pages of a list. Where the answer is more than anybody can hold
// they fail with an Excessive, which says nothing against the seed: it is other requests that make it unreachable by such an answer.
func Divisible(ctx context.Context) context.Context {
	return context.WithValue(ctx, divisible{}, true)
}

func isDivisible(ctx context.Context) bool { return ctx.Value(divisible{}) != nil }
