// Package controlplane tests the controlplane-controller as what it is in a landscape: a process beside real
// gardener-resource-managers, a shoot with an API server of its own, and a second seed. The client on the other side is
// gardenlet's own code, and what came of an order is read from the seeds, from the shoot and from the cloud. Nothing here looks
// inside the controller.
package controlplane
