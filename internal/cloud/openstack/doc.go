// Package openstack is Trellis's line to OpenStack, and the only package that imports gophercloud.
//
// A Sessions cache holds one authenticated Session per account: login happens once, is renewed before it expires and
// once on a 401; the catalog is remembered, and endpoints are built from it without asking for versions; all calls share
// one HTTP transport, a token bucket, timeouts, retries with jitter for what is safe to repeat, and metrics by service,
// method and code. All of that lives in the chain of HTTP transports that transport.go describes, below the SDK.
//
// The SDK builds the login and reads its answer, and sends requests. What goes over the wire otherwise are this package's
// own types: they hold what Trellis reads or writes and nothing else, and can say what the SDK's options cannot (several
// IDs in a filter, If-Match). A Session's methods are grouped by resource, one file each; resource.go has what all
// resources share.
//
// Every error that leaves this package is classified (see package cloud) by status code and machine-readable type, never
// by its prose. Its cause is a *ResponseError when a service refused, and a context's error when the caller gave up. Two
// kinds deserve a thought of the caller. A bad request (400, 422) stays cloud.Unknown, because only the caller knows
// whether the value that was refused came from the user, in which case it is cloud.Configuration. And cloud.NotFound can
// come from a create or update: then something that the request refers to is missing.
//
// It knows neither Kubernetes nor Gardener, nor what the resources are for.
package openstack
