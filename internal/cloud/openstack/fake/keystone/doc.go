// Package keystone is Keystone of the fake cloud: projects, users, application credentials and tokens. It authenticates the
// callers of all services; the other services know it only by the identity of a caller. Users of the fake import package fake
// only.
package keystone
