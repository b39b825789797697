// Package controlplane tests the controlplane-controller as a process with real gardener-resource-managers, a shoot with an API server of its own,
// and a second seed. gardenlet's own code is the client, and the results are read from the seeds, the shoot and the cloud. The tests do not use
// the controller's packages.
package controlplane
