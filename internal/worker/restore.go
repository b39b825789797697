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
func (r *reconciliation) restoreMachines(ctx context.Context) error {
	found, err := r.observe(ctx)
	if err != nil {
		return err
	}
	if err := r.demandState(found); err != nil {
		return err
	}
	r.restoring = r.toBeRestored(found)
	var machines, sets []client.Object
	for _, d := range r.restoring {
		machines = append(machines, resurrected(r.namespace, d.Machines)...)
		sets = append(sets, resurrected(r.namespace, d.MachineSets)...)
	}
	for _, objects := range [][]client.Object{machines, sets} {
		if err := inParallel(ctx, objects, r.createAgain); err != nil {
			return err
		}
	}
	return nil
}

// demandState refuses to go on without any machines where there should be some. A state that is empty is that of a shoot which has
// never had machines: one that was created in hibernation, or that never got so far. Gardener saves the machines of all others. But if the
// state was lost on the way, going on would be the end of all nodes of the shoot: machine-controller-manager would make new
// machines and remove the servers of all that it does not know. So somebody who knows has to say so.
func (r *reconciliation) demandState(found observed) error {
	wantsSome := slices.ContainsFunc(r.wanted, func(d deployment) bool { return d.minimum > 0 })
	confirmed := r.pass.Object.Annotations[annotationWithoutMachines] == "true"
	if !r.saved.isEmpty() || r.asleep || !wantsSome || !found.isEmpty() || confirmed {
		return nil
	}
	return cloud.Errorf(cloud.Configuration,
		"status.state: nothing tells of the machines that the shoot had where it comes from, and new ones would replace them all; "+
			"if it had none, annotate the Worker with %s=true", annotationWithoutMachines)
}

// toBeRestored returns what was saved of the MachineDeployments that are wanted and do not exist yet.
func (r *reconciliation) toBeRestored(found observed) map[string]*deploymentState {
	restoring := map[string]*deploymentState{}
	var unwanted []string
	for _, name := range slices.Sorted(maps.Keys(r.saved.MachineDeployments)) {
		d := r.saved.MachineDeployments[name]
		switch {
		case d == nil || len(d.MachineSets) == 0:
		case !r.wantsDeployment(name):
			unwanted = append(unwanted, namesOf(d.Machines)...)
		case find(found.deployments, name) == nil:
			restoring[name] = d
		}
	}
	if len(unwanted) > 0 {
		r.pass.Remarks = append(r.pass.Remarks, fmt.Sprintf(
			"machines were not restored because no pool wants them, look for their servers: %s", strings.Join(unwanted, ", ")))
	}
	return restoring
}

// savedClasses are those, besides the wanted ones, that restored machines are of: the shoot has moved while machines were being
// replaced. They need no more of their class than any class of the pool has, to be deleted.
func (r *reconciliation) savedClasses(existing []machinev1alpha1.MachineClass) []classWithSecret {
	var all []classWithSecret
	for _, d := range r.wanted {
		saved := r.restoring[d.name()]
		if saved == nil {
			continue
		}
		for _, name := range saved.classes() {
			if !r.wantsClass(name) && find(existing, name) == nil {
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
func (r *reconciliation) restoreDeployments(ctx context.Context) error {
	err := inParallel(ctx, r.wanted, func(ctx context.Context, d deployment) error {
		saved := r.restoring[d.name()]
		if saved == nil {
			return nil
		}
		return r.putDeployment(ctx, observed{}, d, situation{hibernated: r.asleep, restored: &saved.Replicas})
	})
	if err != nil || r.asleep && r.pass.Cluster.Shoot.Status.IsHibernated {
		return err
	}
	return r.scaleManager(ctx, 1)
}

func (r *reconciliation) putDeployment(ctx context.Context, found observed, d deployment, at situation) error {
	existing := find(found.deployments, d.name())
	have, _ := existing.(*machinev1alpha1.MachineDeployment)
	replicas := replicasOf(d, have, at)
	wanted := &machinev1alpha1.MachineDeployment{}
	applyOnto(wanted, d.object, replicas)
	return r.put(ctx, existing, wanted, func(have client.Object) {
		deployment, _ := have.(*machinev1alpha1.MachineDeployment)
		applyOnto(deployment, d.object, replicas)
	})
}

// resurrected are objects as they can be created. gardenlet has left out of them what belongs to the API server they come from.
func resurrected[T any, P object[T]](namespace string, saved []T) []client.Object {
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

func (s store) createAgain(ctx context.Context, object client.Object) error {
	if err := s.client.Create(ctx, object); client.IgnoreAlreadyExists(err) != nil {
		return fmt.Errorf("restoring %T %s: %w", object, object.GetName(), err)
	}
	return nil
}
