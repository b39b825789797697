// Package aws is the client of AWS: one method per request of EC2, IAM, STS, Elastic File System and both versions of Elastic Load Balancing that a driver needs. It is the only
// package that imports AWS' SDK.
//
// A Session makes the requests of one account in one region. Its types are its own, reduced to what drivers read, so that no driver depends on the SDK. Each
// error has a kind of package cloud, decided by AWS' error code.
//
// The SDK's clients are concrete fields and never become interface values: paginators, waiters and interfaces around a client would make the linker keep
// each of the SDK's operations in programs that call methods by name. Pages, pauses and repetitions are the package's own.
//
// It must not depend on Kubernetes, Gardener, or the configuration of shoots.
package aws
