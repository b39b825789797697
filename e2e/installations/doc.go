// Package installations tests the operator of ControllerInstallations with Gardener: the real gardener-apiserver accepts the registrations,
// gardener-controller-manager's controllers create installations, gardenlet's own controllers serve those of type helm, check the health of all
// and report which are needed, and the real gardener-resource-manager applies ManagedResources to a seed. The operator is a process, once for the
// garden and once for a seed. Pods are simulated.
package installations
