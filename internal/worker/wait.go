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
	"github.com/trellis-garden/trellis/internal/worker/machinestatus"
)

// finalWriteTimeout bounds the writes of a reconciliation after its context has ended.
const finalWriteTimeout = 15 * time.Second

// waitForMachines waits until all pools have their desired state, and records that. Each check reads everything once.
func (r *reconcileFlow) waitForMachines(ctx context.Context) error {
	var last machinestatus.Observed
	err := contract.WaitUntil(ctx, func(ctx context.Context) (string, error) {
		now, err := r.observe(ctx)
		if err != nil {
			return "", err
		}
		last = now
		reason, err := machinestatus.CheckProgress(statusInputs(r.wanted), now, r.startedAt, r.hibernated)
		if err != nil || reason == "" {
			return "", err
		}
		if err := r.publishAndCheckSuperseded(ctx); err != nil {
			return "", err
		}
		if now.At.Sub(r.startedAt) < r.intervals.RestartManagerAfter {
			return reason, nil
		}
		return reason, r.restartManager(ctx, now)
	})
	if err == nil {
		r.observed = last
		return r.recordUpdates(last)
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finalWriteTimeout)
	defer cancel()
	return errors.Join(err, r.restartManager(ctx, last))
}

// waitWhileDeleting waits for objects that are wanted again while they are being deleted: a deletion cannot be stopped, so they have to be
// created again. It does not wait if machine-controller-manager does not run, since nothing completes the deletion then.
func (r *reconcileFlow) waitWhileDeleting(ctx context.Context, deleting func(context.Context) (string, error)) error {
	return contract.WaitUntil(ctx, func(ctx context.Context) (string, error) {
		reason, err := deleting(ctx)
		if err != nil || reason == "" {
			return "", err
		}
		replicas, err := r.managerReplicas(ctx)
		if err != nil || replicas == 0 {
			return "", err
		}
		return reason, r.checkSuperseded(ctx)
	})
}

func (r *reconcileFlow) deploymentsBeingDeleted(found machinestatus.Observed) string {
	for _, d := range found.Deployments {
		if d.DeletionTimestamp != nil && r.isWantedDeployment(d.Name) {
			return fmt.Sprintf("MachineDeployment %s is wanted again, waiting for the deletion of its former machines", d.Name)
		}
	}
	return ""
}

// classesBeingDeleted omits classes with machines: they exist as long as these do.
func (r *reconcileFlow) classesBeingDeleted(ctx context.Context, classes []machinev1alpha1.MachineClass) (string, error) {
	for i := range classes {
		class := &classes[i]
		if class.DeletionTimestamp == nil || !r.isWantedClass(class.Name) {
			continue
		}
		found, err := r.observe(ctx)
		if err != nil {
			return "", err
		}
		isUsed := slices.ContainsFunc(found.Machines, func(m machinev1alpha1.Machine) bool { return m.Spec.Class.Name == class.Name })
		if !isUsed {
			return fmt.Sprintf("machine class %s is wanted again, waiting for machine-controller-manager to release it", class.Name), nil
		}
	}
	return "", nil
}

// publishAndCheckSuperseded publishes the expected state for gardenlet after everything has been requested, and fails if there is a newer
// operation.
func (r *reconcileFlow) publishAndCheckSuperseded(ctx context.Context) error {
	if err := r.publish(ctx); err != nil {
		return err
	}
	return r.checkSuperseded(ctx)
}

// checkSuperseded returns an error if there is a newer operation: machines may take long, and a change, deletion or migration must not wait
// for machines that are not wanted any more.
func (r *reconcileFlow) checkSuperseded(ctx context.Context) error {
	own, live := r.rec.Object, &extensionsv1alpha1.Worker{}
	if err := r.client.Get(ctx, client.ObjectKeyFromObject(own), live); err != nil {
		return fmt.Errorf("checking for a newer operation: %w", err)
	}
	operation := live.Annotations[v1beta1constants.GardenerOperation]
	isAnother := operation != own.Annotations[v1beta1constants.GardenerOperation] ||
		live.Annotations[v1beta1constants.GardenerTimestamp] != own.Annotations[v1beta1constants.GardenerTimestamp]
	if live.DeletionTimestamp != nil || operation != "" && isAnother {
		return fmt.Errorf("stopping the wait for machines: %w", contract.ErrSuperseded)
	}
	return nil
}

// restartManager deletes the pod of machine-controller-manager if it is stuck, once per reconciliation.
func (r *reconcileFlow) restartManager(ctx context.Context, now machinestatus.Observed) error {
	clause := machinestatus.StuckReason(now)
	if r.hibernated || r.managerRestarted || clause == "" {
		return nil
	}
	var pods corev1.PodList
	role := client.MatchingLabels{v1beta1constants.LabelRole: roleManager}
	if err := r.client.List(ctx, &pods, client.InNamespace(r.namespace), role); err != nil {
		return fmt.Errorf("listing the pods of machine-controller-manager, which is stuck (%s): %w", clause, err)
	}
	if err := r.remove(ctx, pointers(pods.Items)...); err != nil {
		return err
	}
	r.managerRestarted = true
	r.rec.Log.Info("Restarted machine-controller-manager because it makes no progress", "reason", clause)
	return nil
}

// removeObsolete deletes unwanted deployments, then unwanted classes and their secrets. A class is deleted after the last machine that
// refers to it: the machine cannot be deleted without it.
func (r *reconcileFlow) removeObsolete(ctx context.Context) error {
	if obsolete := r.obsolete(r.observed); !obsolete.IsEmpty() {
		if err := r.deleteMachineObjects(ctx, obsolete); err != nil {
			return err
		}
		if err := r.waitForObsolete(ctx); err != nil {
			return err
		}
		var err error
		if r.observed, err = r.observe(ctx); err != nil {
			return err
		}
	}
	return r.removeClasses(ctx, r.observed)
}

// obsolete returns objects of deployments that are not wanted. Objects without a deployment belong to others.
func (r *reconcileFlow) obsolete(now machinestatus.Observed) machinestatus.Observed {
	obsolete := machinestatus.Observed{At: now.At}
	for _, d := range now.Deployments {
		if !r.isWantedDeployment(d.Name) {
			obsolete.Deployments = append(obsolete.Deployments, d)
		}
	}
	for _, set := range now.Sets {
		if name := set.Labels[machinestatus.LabelName]; name != "" && !r.isWantedDeployment(name) {
			obsolete.Sets = append(obsolete.Sets, set)
		}
	}
	for _, machine := range now.Machines {
		if name := machine.Labels[machinestatus.LabelName]; name != "" && !r.isWantedDeployment(name) {
			obsolete.Machines = append(obsolete.Machines, machine)
		}
	}
	return obsolete
}

// waitForObsolete does not wait in a hibernated shoot: the rest is deleted when it wakes up.
func (r *reconcileFlow) waitForObsolete(ctx context.Context) error {
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
		reason, err := machinestatus.DeletionReason(obsolete, r.startedAt)
		if err != nil || reason == "" {
			return "", err
		}
		if err := r.publishAndCheckSuperseded(ctx); err != nil {
			return "", err
		}
		return reason, r.deleteMachineObjects(ctx, obsolete)
	})
}

func (r *reconcileFlow) removeClasses(ctx context.Context, now machinestatus.Observed) error {
	kept := map[string]bool{}
	for _, d := range r.wanted {
		kept[d.class.Name] = true
	}
	for i := range now.Machines {
		kept[now.Machines[i].Spec.Class.Name] = true
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
	if err := r.remove(ctx, objectsExcept(kept, classes)...); err != nil {
		return err
	}
	return r.remove(ctx, objectsExcept(kept, secrets)...)
}

// objectsExcept returns the objects whose names are not to be kept.
func objectsExcept[T any, P object[T]](kept map[string]bool, objects []T) []client.Object {
	var all []client.Object
	for i := range objects {
		if !kept[P(&objects[i]).GetName()] {
			all = append(all, P(&objects[i]))
		}
	}
	return all
}
