// Package core holds what all services of the fake OpenStack share: the HTTP server, callers, configuration, catalog, quotas,
// transitions, tables of resources, lists with their filters, and errors. It knows how each service words an answer to a call that it
// cannot serve, but none of their resources. Users of the fake import package fake only.
package core
