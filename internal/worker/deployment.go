package worker

import (
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	corev1 "k8s.io/api/core/v1"

	"github.com/trellis-garden/trellis/internal/worker/machinestatus"
)

// pool is a pool of the Worker with all that its machines are created from.
type pool struct {
	extensionsv1alpha1.WorkerPool
	machines *Machines
	// userData is the user data of the pool's machines.
	userData []byte
}

// deployment is the desired state of one pool in one zone.
type deployment struct {
	// pool is the pool's name.
	pool string
	// minimum, maximum and priority are for the cluster-autoscaler.
	minimum, maximum int32
	priority         *int32
	// class and secret have the same name, which contains the hash. The Secret contains the user data.
	class  *machinev1alpha1.MachineClass
	secret *corev1.Secret
	// object is the MachineDeployment without spec.replicas (see replicasOf). Annotations with an empty value are removed; existing
	// annotations that are not in it stay: those of the cluster-autoscaler and of users.
	object *machinev1alpha1.MachineDeployment
}

func (d deployment) name() string { return d.object.Name }

// statusInputs returns the input of package machinestatus about deployments.
func statusInputs(deployments []deployment) []machinestatus.Wanted {
	wanted := make([]machinestatus.Wanted, 0, len(deployments))
	for _, d := range deployments {
		wanted = append(wanted, machinestatus.Wanted{Name: d.name(), Pool: d.pool, Class: d.class.Name})
	}
	return wanted
}
