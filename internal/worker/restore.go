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

// restoreMachines creates the objects of the machines that the shoot brings along. machine-controller-manager does not run yet: gardenlet
// leaves it to us to start it. Had it nothing but a MachineDeployment, it would make new machines, and remove those that it knows
// nothing of.
//
// Machines come first, then their sets, then classes, at last the MachineDeployments: each of these steps is safe should
// machine-controller-manager run all the same. And a MachineDeployment that exists says that its machines were restored: a
// pass that does it all again, after a crash or because gardenlet asks once more, must not bring back a machine that is gone meanwhile.
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

// requireSavedState refuses to go on without any machines where there should be some. A state that is empty is that of a shoot which has
// never had machines: one that was created in hibernation, or that never got so far. Gardener saves the machines of all others. But if the
// state was lost on the way, going on would be the end of all nodes of the shoot: machine-controller-manager would make new
// machines and remove the servers of all that it does not know. So somebody who knows has to say so.
func (r *reconcileFlow) requireSavedState(found machinestatus.Observed) error {
	needsMachines := slices.ContainsFunc(r.wanted, func(d deployment) bool { return d.minimum > 0 })
	confirmed := r.rec.Object.Annotations[annotationWithoutMachines] == "true"
	if !r.saved.isEmpty() || r.hibernated || !needsMachines || !found.IsEmpty() || confirmed {
		return nil
	}
	return cloud.Errorf(cloud.Configuration,
		"status.state: nothing tells of the machines that the shoot had where it comes from, and new ones would replace them all; "+
			"if it had none, annotate the Worker with %s=true", annotationWithoutMachines)
}

// deploymentsToRestore returns what was saved of the MachineDeployments that are wanted and do not exist yet.
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
			"machines were not restored because no pool wants them, look for their servers: %s", strings.Join(unwanted, ", ")))
	}
	return restoring
}

// savedClasses are those, besides the wanted ones, that restored machines are of: the shoot has moved while machines were being
// replaced. They need no more of their class than any class of the pool has, to be deleted.
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

// classUnder is the wanted class, and its secret, under another name.
func (d deployment) classUnder(name string) classWithSecret {
	class, secret := d.class.DeepCopy(), d.secret.DeepCopy()
	class.Name, class.SecretRef.Name, secret.Name = name, name, name
	return classWithSecret{class: class, secret: secret}
}

// restoreDeployments creates the MachineDeployments with as many replicas as they had, and then has machine-controller-manager start.
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

// restorableObjects are objects as they can be created. gardenlet has left out of them what belongs to the API server they come from.
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
