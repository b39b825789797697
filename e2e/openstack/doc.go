// Package openstack proves Trellis against a real OpenStack: the behaviours of package conformance, on the fake and on the real
// one, side by side. Its tests are built with the tag openstack alone, since they need a cloud: `make e2e-openstack` brings
// one up.
package openstack
