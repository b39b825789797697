// Package controlplane is the ControlPlane contract: it brings into being what a shoot's control plane needs of a cloud,
// and lets drivers say what that is.
//
// In gardenlet's order of a shoot a ControlPlane comes after the infrastructure and gardener-resource-manager, and before
// operating system configurations and workers. When it has succeeded, these exist:
//
//   - in the seed, in the shoot's namespace: the cloud-controller-manager, CSI controllers, a snapshot controller, their
//     configuration and certificates, by the ManagedResource extension-controlplane-seed;
//   - in the shoot: RBAC, CSI nodes, the snapshot CRDs, storage classes, by three more ManagedResources.
//
// The names are upstream's, so that a shoot changes hands in both directions and nothing is deleted on the way.
//
// The package deploys, waits, puts to sleep, migrates and watches over health. It must not know any cloud: a driver answers
// with a Plan and a Tuning, both plain data, and never sees a client.
package controlplane
