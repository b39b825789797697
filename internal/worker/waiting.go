package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/truncate"
)

// lastDeedTimeout bounds what a pass still does when its own time is over.
const lastDeedTimeout = 15 * time.Second

// waitForMachines waits until all pools are as they are wanted, and records that. What it waits for is asked of one look at everything.
func (r *reconciliation) waitForMachines(ctx context.Context) error {
	var last observed
	err := contract.WaitUntil(ctx, func(ctx context.Context) (string, error) {
		now, err := r.observe(ctx)
		if err != nil {
			return "", err
		}
		last = now
		reason, err := examine(r.wanted, now, r.began, r.asleep)
		if err != nil || reason == "" {
			return "", err
		}
		if err := r.keepWaiting(ctx); err != nil {
			return "", err
		}
		if now.at.Sub(r.began) < r.pace.ReviveAfter {
			return reason, nil
		}
		return reason, r.revive(ctx, now)
	})
	if err == nil {
		return r.recordUpdates(last)
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastDeedTimeout)
	defer cancel()
	return errors.Join(err, r.revive(ctx, last))
}

// waitWhileGoing waits for what is wanted again while it is being deleted: it goes in any case, and can only be made anew. Where
// machine-controller-manager does not run, nothing goes, and there is nobody to wait for.
func (r *reconciliation) waitWhileGoing(ctx context.Context, going func(context.Context) (string, error)) error {
	return contract.WaitUntil(ctx, func(ctx context.Context) (string, error) {
		reason, err := going(ctx)
		if err != nil || reason == "" {
			return "", err
		}
		replicas, err := r.managerReplicas(ctx)
		if err != nil || replicas == 0 {
			return "", err
		}
		return reason, r.unlessSuperseded(ctx)
	})
}

func (r *reconciliation) deploymentsGoing(ctx context.Context) (string, error) {
	found, err := r.observe(ctx)
	if err != nil {
		return "", err
	}
	for _, d := range found.deployments {
		if d.DeletionTimestamp != nil && r.wantsDeployment(d.Name) {
			return fmt.Sprintf("MachineDeployment %s is wanted again, and its former machines have to go first", d.Name), nil
		}
	}
	return "", nil
}

// classesGoing leaves out classes that machines are of: they stay as long as these do.
func (r *reconciliation) classesGoing(ctx context.Context) (string, error) {
	classes, err := r.classes(ctx)
	if err != nil {
		return "", err
	}
	for i := range classes {
		class := &classes[i]
		if class.DeletionTimestamp == nil || !r.wantsClass(class.Name) {
			continue
		}
		found, err := r.observe(ctx)
		if err != nil {
			return "", err
		}
		isUsed := slices.ContainsFunc(found.machines, func(m machinev1alpha1.Machine) bool { return m.Spec.Class.Name == class.Name })
		if !isUsed {
			return fmt.Sprintf("machine class %s is wanted again, and machine-controller-manager has to let go of it first", class.Name), nil
		}
	}
	return "", nil
}

// keepWaiting tells gardenlet what there will be, once everything has been ordered, and goes on unless another order has come.
func (r *reconciliation) keepWaiting(ctx context.Context) error {
	if err := r.publish(ctx); err != nil {
		return err
	}
	return r.unlessSuperseded(ctx)
}

// unlessSuperseded returns an error when another order has come meanwhile: machines may take long, and whoever wants other machines, none at
// all, or the shoot in another seed, is not to wait for these.
func (r *reconciliation) unlessSuperseded(ctx context.Context) error {
	own, live := r.pass.Object, &extensionsv1alpha1.Worker{}
	if err := r.client.Get(ctx, client.ObjectKeyFromObject(own), live); err != nil {
		return fmt.Errorf("looking for a newer order: %w", err)
	}
	order := live.Annotations[v1beta1constants.GardenerOperation]
	isAnother := order != own.Annotations[v1beta1constants.GardenerOperation] ||
		live.Annotations[v1beta1constants.GardenerTimestamp] != own.Annotations[v1beta1constants.GardenerTimestamp]
	if live.DeletionTimestamp != nil || order != "" && isAnother {
		return fmt.Errorf("machines are not waited for any longer: %w", contract.ErrSuperseded)
	}
	return nil
}

// revive gives machine-controller-manager another pod when it is stuck, once in a pass.
func (r *reconciliation) revive(ctx context.Context, now observed) error {
	clause := stuck(now)
	if r.asleep || r.revived || clause == "" {
		return nil
	}
	var pods corev1.PodList
	role := client.MatchingLabels{v1beta1constants.LabelRole: roleManager}
	if err := r.client.List(ctx, &pods, client.InNamespace(r.namespace), role); err != nil {
		return fmt.Errorf("looking for the pods of machine-controller-manager, which is stuck (%s): %w", clause, err)
	}
	if err := r.remove(ctx, pointers(pods.Items)...); err != nil {
		return err
	}
	r.revived = true
	r.pass.Log.Info("Restarted machine-controller-manager because it makes no progress", "reason", clause)
	return nil
}

// removeObsolete deletes what is not wanted of deployments, then of classes and their secrets. A class goes after the last
// machine that refers to it: without it, nobody could delete the machine.
func (r *reconciliation) removeObsolete(ctx context.Context) error {
	found, err := r.observe(ctx)
	if err != nil {
		return err
	}
	if obsolete := r.obsolete(found); !obsolete.isEmpty() {
		if err := r.dissolve(ctx, obsolete); err != nil {
			return err
		}
		if err := r.waitForObsolete(ctx); err != nil {
			return err
		}
		if found, err = r.observe(ctx); err != nil {
			return err
		}
	}
	return r.removeClasses(ctx, found)
}

// obsolete returns what belongs to a deployment that is not wanted. What belongs to none is somebody else's.
func (r *reconciliation) obsolete(now observed) observed {
	obsolete := observed{at: now.at}
	for _, d := range now.deployments {
		if !r.wantsDeployment(d.Name) {
			obsolete.deployments = append(obsolete.deployments, d)
		}
	}
	for _, set := range now.sets {
		if name := set.Labels[labelName]; name != "" && !r.wantsDeployment(name) {
			obsolete.sets = append(obsolete.sets, set)
		}
	}
	for _, machine := range now.machines {
		if name := machine.Labels[labelName]; name != "" && !r.wantsDeployment(name) {
			obsolete.machines = append(obsolete.machines, machine)
		}
	}
	return obsolete
}

// waitForObsolete waits while there is somebody to wait for: in a shoot that sleeps, what is left goes when it wakes up.
func (r *reconciliation) waitForObsolete(ctx context.Context) error {
	replicas, err := r.managerReplicas(ctx)
	if err != nil || replicas == 0 {
		return err
	}
	return contract.WaitUntil(ctx, func(ctx context.Context) (string, error) {
		now, err := r.observe(ctx)
		if err != nil {
			return "", err
		}
		obsolete := r.obsolete(now)
		reason, err := leaving(obsolete, r.began)
		if err != nil || reason == "" {
			return "", err
		}
		if err := r.keepWaiting(ctx); err != nil {
			return "", err
		}
		return reason, r.dissolve(ctx, obsolete)
	})
}

func (r *reconciliation) removeClasses(ctx context.Context, now observed) error {
	kept := map[string]bool{}
	for _, d := range r.wanted {
		kept[d.class.Name] = true
	}
	for i := range now.machines {
		kept[now.machines[i].Spec.Class.Name] = true
	}
	classes, err := r.classes(ctx)
	if err != nil {
		return err
	}
	secrets, err := r.classSecrets(ctx)
	if err != nil {
		return err
	}
	for i := range classes {
		if ref := classes[i].SecretRef; kept[classes[i].Name] && ref != nil {
			kept[ref.Name] = true
		}
	}
	if err := r.remove(ctx, unless(kept, classes)...); err != nil {
		return err
	}
	return r.remove(ctx, unless(kept, secrets)...)
}

// unless returns the objects whose names are not to be kept.
func unless[T any, P object[T]](kept map[string]bool, objects []T) []client.Object {
	var all []client.Object
	for i := range objects {
		if !kept[P(&objects[i]).GetName()] {
			all = append(all, P(&objects[i]))
		}
	}
	return all
}

// leaving says what of machines and of what brings them is still there, or why it does not go.
func leaving(rest observed, since time.Time) (reason string, err error) {
	failures := failuresOf(rest.machines)
	if err := hopeless(failures, since, rest.at, len(failures) < len(rest.machines)); err != nil {
		return "", err
	}
	switch count := len(rest.machines); {
	case len(failures) > 0:
		return fmt.Sprintf("%d %s to go; %s", count, plural(count, "machine is", "machines are"), failuresClause(failures)), nil
	case count > 0:
		return fmt.Sprintf("%d %s to go%s", count, plural(count, "machine is", "machines are"), lastDeed(rest.machines)), nil
	case len(rest.sets)+len(rest.deployments) > 0:
		return "machine-controller-manager has yet to let go of machine sets and deployments", nil
	default:
		return "", nil
	}
}

// lastDeed tells of the machine that is most worth telling of: the first with anything to tell.
func lastDeed(machines []machinev1alpha1.Machine) string {
	for i := range machines {
		if what := machines[i].Status.LastOperation.Description; what != "" {
			return fmt.Sprintf("; machine %s: %s", machines[i].Name, truncate.Line(what, longestFailure))
		}
	}
	return ""
}
