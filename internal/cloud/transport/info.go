package transport

import "context"

// Info describes a request. Clients pass it in the request's context.
type Info struct {
	// Service is the label of the metrics.
	Service string
	// Retry determines whether the request may be repeated if the effect of the first attempt is unknown.
	Retry RetryMode
	// Reads means that the request changes nothing, although its method does not say so: some clouds use POST for everything.
	Reads bool
	// Limits bound the response.
	Limits Limits
}

// RetryMode determines whether a request may be repeated if the effect of the first attempt is unknown.
type RetryMode int

const (
	// RetryByMethod repeats all methods except POST and PATCH, and no conditional requests (If-Match).
	RetryByMethod RetryMode = iota
	// RetryNever is for requests that are not idempotent, for any method.
	RetryNever
	// RetryAlways is for requests that are idempotent, for any method, e.g. because they have a client token.
	RetryAlways
)

type infoKey struct{}

// WithInfo returns a context for a request with the info.
func WithInfo(ctx context.Context, info Info) context.Context {
	return context.WithValue(ctx, infoKey{}, info)
}

// InfoOf returns the info in a context, or the zero value.
func InfoOf(ctx context.Context) Info {
	info, _ := ctx.Value(infoKey{}).(Info)
	return info
}
