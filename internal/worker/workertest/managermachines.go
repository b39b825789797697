package workertest

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"

	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func ownedBy(object client.Object, kind string, owner client.Object) bool {
	return slices.ContainsFunc(object.GetOwnerReferences(), func(r metav1.OwnerReference) bool {
		return r.Kind == kind && r.UID == owner.GetUID()
	})
}

func ownerOf(kind string, owner client.Object) []metav1.OwnerReference {
	return []metav1.OwnerReference{{
		APIVersion: machinev1alpha1.SchemeGroupVersion.String(), Kind: kind, Name: owner.GetName(), UID: owner.GetUID(),
		Controller: new(true), BlockOwnerDeletion: new(true),
	}}
}

func (t *settleRound) setsOf(d *machinev1alpha1.MachineDeployment) []*machinev1alpha1.MachineSet {
	var sets []*machinev1alpha1.MachineSet
	for _, set := range t.sets {
		if len(set.OwnerReferences) == 0 && set.Labels[labelName] == d.Name && d.DeletionTimestamp == nil && set.DeletionTimestamp == nil {
			set.OwnerReferences = ownerOf("MachineDeployment", d)
			t.update(set)
		}
		if ownedBy(set, "MachineDeployment", d) {
			sets = append(sets, set)
		}
	}
	return sets
}

func (t *settleRound) machinesOf(set *machinev1alpha1.MachineSet) []*machinev1alpha1.Machine {
	var machines []*machinev1alpha1.Machine
	for _, machine := range t.machines {
		if ownedBy(machine, "MachineSet", set) {
			machines = append(machines, machine)
		}
	}
	return machines
}

// reconcileDeployment creates sets, and replaces machines of old ones by machines of the new one.
func (t *settleRound) reconcileDeployment(d *machinev1alpha1.MachineDeployment) {
	sets := t.setsOf(d)
	if d.DeletionTimestamp != nil {
		for _, set := range sets {
			t.remove(set)
		}
		if len(sets) == 0 {
			t.setFinalizer(d, finalizerManager, false)
		}
		return
	}
	t.setFinalizer(d, finalizerManager, true)
	if t.stalled {
		return
	}
	var current *machinev1alpha1.MachineSet
	var old []*machinev1alpha1.MachineSet
	for _, set := range sets {
		if set.DeletionTimestamp == nil && set.Spec.Template.Spec.Class.Name == d.Spec.Template.Spec.Class.Name {
			current = set
		} else {
			old = append(old, set)
		}
	}
	inPlace := d.Spec.Strategy.Type == machinev1alpha1.InPlaceUpdateMachineDeploymentStrategyType
	switch {
	case current == nil:
		t.newSet(d, inPlace && len(old) > 0)
	case inPlace:
		t.updateInPlace(d, current, old)
	default:
		t.roll(d, current, old)
	}
}

func (t *settleRound) newSet(d *machinev1alpha1.MachineDeployment, empty bool) {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(d.Spec.Template.Spec.Class.Name))
	hash := fmt.Sprintf("%08x", sum.Sum32())
	labels := maps.Clone(d.Spec.Template.Labels)
	labels[labelTemplate] = hash
	set := &machinev1alpha1.MachineSet{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: d.Namespace, Name: d.Name + "-" + hash, Labels: labels, Finalizers: []string{finalizerManager},
			OwnerReferences: ownerOf("MachineDeployment", d),
		},
		Spec: machinev1alpha1.MachineSetSpec{
			Replicas: d.Spec.Replicas, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: *d.Spec.Template.DeepCopy(),
			MinReadySeconds: d.Spec.MinReadySeconds,
		},
	}
	set.Spec.Template.Labels = labels
	if empty {
		set.Spec.Replicas = 0
	}
	if t.recordWrite(t.client.Create(t.ctx, set)) {
		t.sets = append(t.sets, set)
	}
}

// roll creates the new machines before it deletes the old ones.
func (t *settleRound) roll(d *machinev1alpha1.MachineDeployment, current *machinev1alpha1.MachineSet, old []*machinev1alpha1.MachineSet) {
	t.scale(current, d.Spec.Replicas)
	for _, set := range old {
		if current.Status.AvailableReplicas >= d.Spec.Replicas {
			t.scale(set, 0)
		}
		if set.Spec.Replicas == 0 && len(t.machinesOf(set)) == 0 {
			t.remove(set)
		}
	}
}

func (t *settleRound) scale(set *machinev1alpha1.MachineSet, replicas int32) {
	if set.Spec.Replicas != replicas {
		set.Spec.Replicas = replicas
		t.update(set)
	}
}

// updateInPlace moves machines from one set to the other; for manual updates, those that users have selected.
func (t *settleRound) updateInPlace(d *machinev1alpha1.MachineDeployment, current *machinev1alpha1.MachineSet, old []*machinev1alpha1.MachineSet) {
	update := d.Spec.Strategy.InPlaceUpdate
	manual := update != nil && update.OrchestrationType == machinev1alpha1.OrchestrationTypeManual
	waiting := int32(0)
	for _, set := range old {
		remaining := int32(0)
		for _, machine := range t.machinesOf(set) {
			if manual && machine.Labels[machinev1alpha1.LabelKeyNodeSelectedForUpdate] == "" {
				t.setCondition(machine, machinev1alpha1.CandidateForUpdate)
				remaining++
				continue
			}
			machine.OwnerReferences = ownerOf("MachineSet", current)
			machine.Labels[labelTemplate] = current.Labels[labelTemplate]
			delete(machine.Labels, machinev1alpha1.LabelKeyNodeSelectedForUpdate)
			machine.Spec.Class = current.Spec.Template.Spec.Class
			t.update(machine)
		}
		waiting += remaining
		t.scale(set, remaining)
		if remaining == 0 && set.Spec.Replicas == 0 && len(t.machinesOf(set)) == 0 {
			t.remove(set)
		}
	}
	t.scale(current, max(d.Spec.Replicas-waiting, 0))
}

func (t *settleRound) setCondition(machine *machinev1alpha1.Machine, reason string) {
	conditions := []corev1.NodeCondition{{Type: machinev1alpha1.NodeInPlaceUpdate, Status: corev1.ConditionTrue, Reason: reason}}
	if !equality.Semantic.DeepEqual(machine.Status.Conditions, conditions) {
		machine.Status.Conditions = conditions
		t.updateStatus(machine)
	}
}

// reconcileSet creates and deletes machines.
func (t *settleRound) reconcileSet(set *machinev1alpha1.MachineSet) {
	t.adopt(set)
	machines := t.machinesOf(set)
	if set.DeletionTimestamp != nil {
		for _, machine := range machines {
			t.remove(machine)
		}
		if len(machines) == 0 {
			t.setFinalizer(set, finalizerManager, false)
		}
		return
	}
	t.setFinalizer(set, finalizerManager, true)
	staying := slices.DeleteFunc(slices.Clone(machines), func(m *machinev1alpha1.Machine) bool { return m.DeletionTimestamp != nil })
	slices.SortFunc(staying, func(a, b *machinev1alpha1.Machine) int {
		return cmp.Or(cmp.Compare(b.Spec.ProviderID, a.Spec.ProviderID), cmp.Compare(a.Name, b.Name))
	})
	for n := int32(len(staying)); n < set.Spec.Replicas; n++ {
		t.newMachine(set)
	}
	for n := int(set.Spec.Replicas); n < len(staying); n++ {
		t.remove(staying[n])
	}
}

func (t *settleRound) adopt(set *machinev1alpha1.MachineSet) {
	for _, machine := range t.machines {
		if len(machine.OwnerReferences) == 0 && machine.DeletionTimestamp == nil && set.DeletionTimestamp == nil &&
			machine.Labels[labelName] == set.Labels[labelName] && machine.Labels[labelTemplate] == set.Labels[labelTemplate] {
			machine.OwnerReferences = ownerOf("MachineSet", set)
			t.update(machine)
		}
	}
}

func (t *settleRound) newMachine(set *machinev1alpha1.MachineSet) {
	machine := &machinev1alpha1.Machine{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: set.Namespace, Name: fmt.Sprintf("%s-%05d", set.Name, t.servers.next()), Labels: maps.Clone(set.Spec.Template.Labels),
			OwnerReferences: ownerOf("MachineSet", set),
		},
		Spec: *set.Spec.Template.Spec.DeepCopy(),
	}
	if t.recordWrite(t.client.Create(t.ctx, machine)) {
		t.machines = append(t.machines, machine)
	}
}

// reconcileMachine creates and deletes servers. Without the class, its Secret and the credentials, it can do neither.
func (t *settleRound) reconcileMachine(machine *machinev1alpha1.Machine) {
	t.setFinalizer(machine, finalizerManager, true)
	class := t.findClass(machine.Spec.Class.Name)
	if class == nil || !slices.Contains(class.Finalizers, finalizerManager) {
		return
	}
	if secret := t.findSecret(class.SecretRef); secret == nil || len(secret.Data["userData"]) == 0 || t.findSecret(class.CredentialsSecretRef) == nil {
		return
	}
	if machine.DeletionTimestamp != nil {
		t.servers.removeFor(machine.Name, machine.Labels[labelForceDeletion] == "True")
		t.setFinalizer(machine, finalizerManager, false)
		return
	}
	if failure, found := t.createFailures[machine.Labels[labelName]]; found && machine.Spec.ProviderID == "" {
		t.setFailed(machine, failure)
		return
	}
	if id := t.servers.ensure(machine.Name); machine.Spec.ProviderID != id {
		machine.Spec.ProviderID = id
		machine.Labels[machinev1alpha1.NodeLabelKey] = machine.Name
		t.update(machine)
	}
	if !isRunning(machine) {
		machine.Status.CurrentStatus = machinev1alpha1.CurrentStatus{Phase: machinev1alpha1.MachineRunning, LastUpdateTime: metav1.Now()}
		machine.Status.LastOperation = machinev1alpha1.LastOperation{
			Description: "Machine " + machine.Name + " successfully joined the cluster", State: machinev1alpha1.MachineStateSuccessful,
			Type: machinev1alpha1.MachineOperationCreate, LastUpdateTime: metav1.Now(),
		}
		t.updateStatus(machine)
	}
}

func (t *settleRound) setFailed(machine *machinev1alpha1.Machine, failure CreateFailure) {
	if machine.Status.LastOperation.ErrorCode == failure.Code {
		return
	}
	machine.Status.CurrentStatus = machinev1alpha1.CurrentStatus{Phase: machinev1alpha1.MachineCrashLoopBackOff, LastUpdateTime: metav1.Now()}
	machine.Status.LastOperation = machinev1alpha1.LastOperation{
		Description: fmt.Sprintf("Cloud provider message - machine codes error: code = [%s] message = [%s]", failure.Code, failure.Message),
		ErrorCode:   failure.Code, State: machinev1alpha1.MachineStateFailed, Type: machinev1alpha1.MachineOperationCreate, LastUpdateTime: metav1.Now(),
	}
	t.updateStatus(machine)
}
