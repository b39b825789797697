// Package core holds what all services of the fake OpenStack share: tables of resources, IDs, errors, and the attributes of request
// bodies. It knows no service; users of the fake import package fake only.
package core
