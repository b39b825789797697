// Package openstack is the client for OpenStack, and the only package that imports gophercloud.
//
// Sessions caches one authenticated Session per account. A login (package login) is renewed before it expires, and once after a 401; the catalog is
// cached, and endpoints are built from it without version discovery. All requests go through the transports of package transport: retries with
// jitter, rate limit, timeouts, metrics and limits of responses, below the SDK.
//
// The SDK builds and parses the login, and sends requests. The resources are this package's own types: they have the fields that Trellis reads or
// writes, and support what the SDK's options do not (several IDs in a filter, If-Match). A Session's methods are grouped by resource, one file each;
// resource.go has what all resources share.
//
// All errors are classified (package cloud) by status code and machine-readable type, never by their text. The cause is a *ResponseError if a
// service refused, and a context's error if the caller was canceled. Two kinds need care. A bad request (400, 422) stays cloud.Unknown, since only
// the caller knows whether the refused value is the user's, in which case it is cloud.Configuration. And cloud.NotFound from a create or update
// means that something that the request refers to does not exist.
//
// The package depends neither on Kubernetes nor on Gardener, nor on the use of the resources.
package openstack
