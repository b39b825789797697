package controlplanetest

import (
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/contract/contracttest"
)

// The ManagedResources of a control plane. The names are upstream's.
const (
	Seed           = "extension-controlplane-seed"
	ShootObjects   = "extension-controlplane-shoot"
	ShootCRDs      = "extension-controlplane-shoot-crds"
	StorageClasses = "extension-controlplane-storageclasses"

	// ShootWebhooks is there only if a component serves webhooks of the shoot.
	ShootWebhooks = "extension-controlplane-shoot-webhooks"
	// UpstreamConfiguration is upstream's alone.
	UpstreamConfiguration = "extension-controlplane-configuration-seed"
)

// deletedBefore names the ManagedResources whose objects must be gone before those of another one are deleted: what users made of
// a class or a kind is cleaned up by those who watch it.
func deletedBefore(name string) []string {
	switch name {
	case ShootCRDs:
		return []string{StorageClasses}
	case ShootObjects:
		return []string{StorageClasses, ShootCRDs}
	case Seed:
		return []string{StorageClasses, ShootCRDs, ShootObjects, ShootWebhooks}
	default:
		return nil
	}
}

func newResourceManager(server *contracttest.APIServer, namespace string, shoot *contracttest.ObjectTracker) *contracttest.ResourceManager {
	manager := contracttest.NewResourceManager(server, namespace, shoot)
	manager.GoneBefore = deletedBefore
	return manager
}

// Subject is a ControlPlane controller with a driver, and the shoot that it is tried with.
type Subject struct {
	// Type is the value of spec.type that the controller serves.
	Type string
	// Program adds the controller to a manager. It is called for each life of the process anew.
	Program func(mgr manager.Manager, options contract.Options) error
	// Inputs is the configuration of the shoot.
	Inputs Inputs
}

// Inputs is what users, operators and the other contracts provide. Nil parts are left out.
type Inputs struct {
	ControlPlaneConfig, InfrastructureStatus, CloudProfileConfig runtime.Object
	Credentials                                                  map[string][]byte
	// Existing returns what else is in the namespace when the controller comes, and is not the controller's.
	Existing func(namespace string) []client.Object
	// Upstream returns what upstream's controller has left for this one. The resource manager has acted upon it.
	Upstream func(namespace string) []client.Object
	// Retired are objects of upstream's in the shoot that must be gone as soon as the ControlPlane is ready. Nothing else may be
	// deleted from a living shoot.
	Retired []contracttest.Key
	// Webhooks is true if the plan has webhooks in the shoot.
	Webhooks bool
	// Kept are objects in the shoot that stay when the ControlPlane is deleted.
	Kept []contracttest.Key
}
