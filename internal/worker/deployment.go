package worker

import (
	"time"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	corev1 "k8s.io/api/core/v1"
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

// observed is what there is of a shoot's machines in the seed.
type observed struct {
	deployments []machinev1alpha1.MachineDeployment
	sets        []machinev1alpha1.MachineSet
	machines    []machinev1alpha1.Machine
	// at is when it was observed.
	at time.Time
}
