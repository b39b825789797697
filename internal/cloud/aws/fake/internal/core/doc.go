// Package core contains what all services of the fake AWS share: HTTP, signatures and credentials, dispatch to actions, idempotency tokens, quotas,
// transitions and delayed consistency. It must not know the resources of a service. Users of the fake import package fake only.
package core
