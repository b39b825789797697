// Package openstack tests Trellis with a real OpenStack: the behaviours of package conformance, on the fake and on the real one, side by side. Its
// tests have the build tag openstack, since they need a cloud: `make e2e-openstack` starts one.
package openstack
