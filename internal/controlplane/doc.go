// Package controlplane implements the ControlPlane contract: it deploys the components of a cloud that a shoot's control plane needs. A driver describes
// them.
//
// gardenlet creates a ControlPlane after the Infrastructure and gardener-resource-manager, and before OperatingSystemConfigs and Workers. When it has
// succeeded, these exist:
//
//   - in the seed, in the shoot's namespace: the cloud-controller-manager, CSI controllers, a snapshot controller, their
//     configuration and certificates, by the ManagedResource extension-controlplane-seed;
//   - in the shoot: RBAC, CSI nodes, the snapshot CRDs, storage classes, by three more ManagedResources;
//   - with some clouds, webhooks in the shoot, by extension-controlplane-shoot-webhooks. Components in the seed serve them, or
//     this controller (ShootWebhooks, ServiceTuner).
//
// The names are upstream's, so that shoots can be taken over in both directions without a deletion.
//
// The package deploys, waits, hibernates, migrates and checks health. It must not know any cloud: a driver returns a Plan and a Tuning, both plain data, and
// never gets a client.
package controlplane
