package worker

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/worker/machinestatus"
)

// annotationWithoutMachines on a Worker confirms that a shoot that is to be restored had no machines.
const annotationWithoutMachines = "worker.trellis.garden/restore-without-machines"

// restoreMachines creates the objects of the machines in the saved state. machine-controller-manager does not run yet: gardenlet leaves
// starting it to this controller. With only a MachineDeployment, it would create new machines, and delete the servers without a Machine.
//
// Machines are created first, then their sets, then classes, and MachineDeployments last: each of these steps is safe even if
// machine-controller-manager runs. An existing MachineDeployment means that its machines were restored: a repeated reconciliation, after a
// crash or another request of gardenlet, must not restore a machine that was deleted meanwhile.
func (r *reconcileFlow) restoreMachines(ctx context.Context) error {
	found, err := r.observe(ctx)
	if err != nil {
		return err
	}
	if err := r.requireSavedState(found); err != nil {
		return err
	}
	r.restoring = r.deploymentsToRestore(found)
	var machines, sets []client.Object
	for _, d := range r.restoring {
		machines = append(machines, restorableObjects(r.namespace, d.Machines)...)
		sets = append(sets, restorableObjects(r.namespace, d.MachineSets)...)
	}
	for _, objects := range [][]client.Object{machines, sets} {
		if err := inParallel(ctx, objects, r.createIfNotExists); err != nil {
			return err
		}
	}
	return nil
}

// requireSavedState fails if there are no saved machines where there should be some. The state is empty for a shoot that has never had
// machines: one that was created in hibernation, or whose creation failed before. Gardener saves the machines of all others. If the state
// was lost in the migration, continuing would replace all nodes of the shoot: machine-controller-manager would create new machines and
// delete the servers without a Machine. So an admin has to confirm that there were none.
func (r *reconcileFlow) requireSavedState(found machinestatus.Observed) error {
	needsMachines := slices.ContainsFunc(r.wanted, func(d deployment) bool { return d.minimum > 0 })
	confirmed := r.rec.Object.Annotations[annotationWithoutMachines] == "true"
	if !r.saved.isEmpty() || r.hibernated || !needsMachines || !found.IsEmpty() || confirmed {
		return nil
	}
	return cloud.Errorf(cloud.Configuration,
		"status.state: it contains no machines of the shoot, and new ones would replace all that exist; "+
			"if it had none, annotate the Worker with %s=true", annotationWithoutMachines)
}

// deploymentsToRestore returns the saved state of wanted MachineDeployments that do not exist yet.
func (r *reconcileFlow) deploymentsToRestore(found machinestatus.Observed) map[string]*deploymentState {
	restoring := map[string]*deploymentState{}
	var unwanted []string
	for _, name := range slices.Sorted(maps.Keys(r.saved.MachineDeployments)) {
		d := r.saved.MachineDeployments[name]
		switch {
		case d == nil || len(d.MachineSets) == 0:
		case !r.isWantedDeployment(name):
			unwanted = append(unwanted, namesOf(d.Machines)...)
		case find(found.Deployments, name) == nil:
			restoring[name] = d
		}
	}
	if len(unwanted) > 0 {
		r.rec.Messages = append(r.rec.Messages, fmt.Sprintf(
			"machines were not restored because no pool has them, delete their servers: %s", strings.Join(unwanted, ", ")))
	}
	return restoring
}

// savedClasses are the classes of restored machines that are not wanted: the shoot was migrated while machines were being replaced. To
// delete such machines, any class of the pool is sufficient.
func (r *reconcileFlow) savedClasses(existing []machinev1alpha1.MachineClass) []classWithSecret {
	var all []classWithSecret
	for _, d := range r.wanted {
		saved := r.restoring[d.name()]
		if saved == nil {
			continue
		}
		for _, name := range saved.classes() {
			if !r.isWantedClass(name) && find(existing, name) == nil {
				all = append(all, d.classUnder(name))
			}
		}
	}
	return all
}

// classUnder returns the wanted class and its secret with another name.
func (d deployment) classUnder(name string) classWithSecret {
	class, secret := d.class.DeepCopy(), d.secret.DeepCopy()
	class.Name, class.SecretRef.Name, secret.Name = name, name, name
	return classWithSecret{class: class, secret: secret}
}

// restoreDeployments creates the MachineDeployments with their saved replicas, and then starts machine-controller-manager.
func (r *reconcileFlow) restoreDeployments(ctx context.Context) error {
	err := inParallel(ctx, r.wanted, func(ctx context.Context, d deployment) error {
		saved := r.restoring[d.name()]
		if saved == nil {
			return nil
		}
		return r.createOrPatchDeployment(ctx, machinestatus.Observed{}, d, replicaInput{hibernated: r.hibernated, restored: &saved.Replicas})
	})
	if err != nil || r.hibernated && r.rec.Cluster.Shoot.Status.IsHibernated {
		return err
	}
	return r.scaleManager(ctx, 1)
}

func (r *reconcileFlow) createOrPatchDeployment(ctx context.Context, found machinestatus.Observed, d deployment, input replicaInput) error {
	existing := find(found.Deployments, d.name())
	have, _ := existing.(*machinev1alpha1.MachineDeployment)
	replicas := replicasOf(d, have, input)
	wanted := &machinev1alpha1.MachineDeployment{}
	applyOnto(wanted, d.object, replicas)
	return r.createOrPatch(ctx, existing, wanted, func(have client.Object) {
		deployment, _ := have.(*machinev1alpha1.MachineDeployment)
		applyOnto(deployment, d.object, replicas)
	})
}

// restorableObjects returns objects that can be created. gardenlet has removed the metadata of the former API server.
func restorableObjects[T any, P object[T]](namespace string, saved []T) []client.Object {
	objects := make([]client.Object, len(saved))
	for i := range saved {
		//nolint:forcetypeassert // a deep copy has the type of its original
		objects[i] = P(&saved[i]).DeepCopyObject().(client.Object)
		objects[i].SetNamespace(namespace)
		objects[i].SetResourceVersion("")
		objects[i].SetUID("")
		objects[i].SetOwnerReferences([]metav1.OwnerReference(nil))
	}
	return objects
}

func (s store) createIfNotExists(ctx context.Context, object client.Object) error {
	if err := s.client.Create(ctx, object); client.IgnoreAlreadyExists(err) != nil {
		return fmt.Errorf("restoring %T %s: %w", object, object.GetName(), err)
	}
	return nil
}
