package controlplane

import "github.com/trellis-garden/trellis/internal/contract/managedresource"

// The names of the ManagedResources are upstream's: the content of those with the same purpose is replaced when a shoot is adopted, and
// gardener-resource-manager deletes nothing.
const (
	resourceSeed           = "extension-controlplane-seed"
	resourceShoot          = "extension-controlplane-shoot"
	resourceShootCRDs      = "extension-controlplane-shoot-crds"
	resourceStorageClasses = "extension-controlplane-storageclasses"

	resourceShootWebhooks = "extension-controlplane-shoot-webhooks"

	// Only upstream has this one: its content is in Secrets here.
	resourceUpstreamConfiguration = "extension-controlplane-configuration-seed"
)

func newStore(rec *reconciliation) managedresource.Store {
	return managedresource.Store{
		Client: rec.Client, Namespace: rec.Object.Namespace, Labels: map[string]string{labelOwner: rec.Object.Name},
	}
}
