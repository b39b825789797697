// Package openstack is the machine driver for OpenStack: it creates, finds and deletes the servers of machine-controller-manager's
// Machines.
//
// Its only state is that of the cloud and the Machine objects. Everything that it creates has the machine's name and the shoot's
// mark from the create call on, so that the next process finds the leftovers of one that was killed between a call and its
// response. Servers and ports of the existing machine driver are found by the same names and adopted.
//
// One login serves all machines of an account; flavors, images, networks and security groups are looked up once for all of them, and all
// machines that are waited for share one poll.
//
// The package must not depend on controller-runtime, on Gardener's extension contracts, or on its caller.
package openstack
