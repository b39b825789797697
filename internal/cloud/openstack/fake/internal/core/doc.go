// Package core contains what all services of the fake OpenStack share: the HTTP server, callers, configuration, catalog, quotas, transitions, tables
// of resources, lists with their filters, and errors. It has each service's responses to invalid calls, but none of their resources. Users of the
// fake import package fake only.
package core
