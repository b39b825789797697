package worker

import (
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	corev1 "k8s.io/api/core/v1"

	"github.com/trellis-garden/trellis/internal/worker/machinestatus"
)

// pool is a pool of the Worker with everything that its machines are made of.
type pool struct {
	extensionsv1alpha1.WorkerPool
	machines *Machines
	// userData is what a machine of the pool starts with.
	userData []byte
}

// deployment is what is wanted of one pool in one zone.
type deployment struct {
	// pool is the pool's name.
	pool string
	// minimum, maximum and priority are for the cluster-autoscaler.
	minimum, maximum int32
	priority         *int32
	// class and secret go under the same name, which carries the hash. The secret holds the user data.
	class  *machinev1alpha1.MachineClass
	secret *corev1.Secret
	// object is the MachineDeployment, but for spec.replicas (see replicasOf). Annotations with an empty value are to be removed;
	// others that are there and not in it stay: the cluster-autoscaler's and users'.
	object *machinev1alpha1.MachineDeployment
}

func (d deployment) name() string { return d.object.Name }

// statusInputs returns what package machinestatus has to know of deployments.
func statusInputs(deployments []deployment) []machinestatus.Wanted {
	wanted := make([]machinestatus.Wanted, 0, len(deployments))
	for _, d := range deployments {
		wanted = append(wanted, machinestatus.Wanted{Name: d.name(), Pool: d.pool, Class: d.class.Name})
	}
	return wanted
}
