// Package rollouts tests the operator of ControllerInstallations as what it is for a landscape: one process that brings a change to twenty seeds wave
// by wave, and back. The garden is a real gardener-apiserver with gardener-controller-manager's controllers. The seeds share three real API servers
// with a gardener-resource-manager and a kube-controller-manager each; pods are simulated. All that the process writes goes through a proxy, where it
// can be killed at any write. Nothing here looks inside of the binary.
//
// There are no gardenlets: access to the seeds is by kubeconfigs of an admin, and all conditions are the operator's to write.
//
// What is said about order is read from watches: of the ControllerInstallations, and of what arrives in the seeds.
package rollouts
