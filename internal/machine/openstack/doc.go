// Package openstack is the machine driver for OpenStack: it creates, finds and deletes the servers that machine-controller-manager's
// Machines stand for.
//
// It keeps nothing but what the cloud and the Machine objects say. Everything that it creates carries the machine's name and the shoot's
// mark from the create call on, so that a process that was killed between a call and its answer leaves nothing behind that the
// next does not find. Servers and ports of the existing machine driver are found by the same names and taken over.
//
// One login serves all machines of an account; flavors, images, networks and security groups are looked up once for all of them, and all
// machines that are under way share one poll.
//
// The package must not know controller-runtime, Gardener's extension contracts, nor who asks.
package openstack
