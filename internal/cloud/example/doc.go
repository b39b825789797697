// Package example is the client of the example cloud, which tests and docs use and no released binary has. The cloud has networks, subnets, groups
// and servers; its API is JSON over HTTP. Every resource has a name and an owner from its creation on.
//
// Sessions caches one Session per account. All requests go through the transports of package transport. All errors are classified (package cloud),
// with a *ResponseError as the cause if the cloud refused the request.
//
// The package depends neither on Kubernetes nor on Gardener, nor on the use of the resources.
package example
