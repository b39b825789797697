// Package openstack is Trellis's line to OpenStack, and the only package that imports gophercloud.
//
// A Sessions cache holds one authenticated Session per account: login happens once, is renewed before it expires and
// once on a 401; catalog and endpoints are remembered; all calls share one HTTP transport, a token bucket, timeouts,
// retries with jitter for what is safe to repeat, and metrics by service, method and code. Every error that leaves this
// package is classified (see package cloud).
//
// It knows neither Kubernetes nor Gardener, nor what the resources are for.
package openstack
