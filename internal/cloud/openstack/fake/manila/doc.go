// Package manila is Manila of the fake cloud: share networks. It reads subnets of Neutron.
// Users of the fake import package fake only.
package manila
