package worker

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/observer"
)

// roll is what the next reconciliation does to the nodes of a pool.
type roll struct {
	pool string
	// inPlace is true if the nodes are updated in place, else they are replaced.
	inPlace bool
	// reasons are clauses. Without any, the inputs of the present nodes are not known.
	reasons []string
}

// rollPreview has the inputs of a preview. It is pure.
type rollPreview struct {
	shoot       *Shoot
	observer    Observer
	classes     []machinev1alpha1.MachineClass
	deployments []machinev1alpha1.MachineDeployment
}

// rolls compares the classes of the MachineDeployments with those that the next reconciliation computes.
func (v rollPreview) rolls() ([]roll, error) {
	object, changes, err := nextWorker(v.shoot.Worker, v.shoot.Cluster.Shoot)
	if err != nil {
		return nil, err
	}
	next := *v.shoot
	next.Worker, next.Decoded = object, &contract.Decoded{}
	status, err := v.observer.Foresee(&next)
	if err != nil {
		return nil, err
	}
	var rolls []roll
	for i := range object.Spec.Pools {
		after := &object.Spec.Pools[i]
		machines, _, err := v.checker(&next).plan(v.observer, status, after)
		if err != nil {
			return nil, err
		}
		names, err := classNames(next.TechnicalID, after, next.Cluster.Shoot, machines)
		if err != nil {
			return nil, err
		}
		if !v.rollsAny(after, names) {
			continue
		}
		reasons, err := v.reasons(after, machines, changes[after.Name])
		if err != nil {
			return nil, err
		}
		rolls = append(rolls, roll{pool: after.Name, inPlace: helper.IsUpdateStrategyInPlace(after.UpdateStrategy), reasons: reasons})
	}
	return rolls, nil
}

func (v rollPreview) checker(shoot *Shoot) upstreamChecker {
	return upstreamChecker{classes: v.classes, shoot: shoot}
}

// rollsAny reports whether a zone of the pool has machines of another class than the named one.
func (v rollPreview) rollsAny(p *extensionsv1alpha1.WorkerPool, names []string) bool {
	for zone, name := range names {
		d := v.deployment(p, zone)
		if d != nil && d.Spec.Template.Spec.Class.Name != name && (d.Spec.Replicas > 0 || d.Status.Replicas > 0) {
			return true
		}
	}
	return false
}

// deployment returns the MachineDeployment of a pool's zone, nil if there is none.
func (v rollPreview) deployment(p *extensionsv1alpha1.WorkerPool, zone int) *machinev1alpha1.MachineDeployment {
	d, _ := find(v.deployments, deploymentName(v.shoot.TechnicalID, p.Name, zone)).(*machinev1alpha1.MachineDeployment)
	return d
}

// reasons says what differs between the inputs of the present classes of a pool and those of the next ones. The present ones are known if the pool in the
// Worker gives the present classes, possibly with the credentials before a rotation.
func (v rollPreview) reasons(after *extensionsv1alpha1.WorkerPool, machines *Machines, changes []string) ([]string, error) {
	pools := v.shoot.Worker.Spec.Pools
	before := &pools[slices.IndexFunc(pools, func(p extensionsv1alpha1.WorkerPool) bool { return p.Name == after.Name })]
	status, err := v.observer.Foresee(v.shoot)
	if err != nil {
		return nil, err
	}
	former, _, err := v.checker(v.shoot).plan(v.observer, status, before)
	if err != nil {
		return nil, err
	}
	present := v.shoot.Cluster.Shoot.Status.Credentials
	for _, credentials := range possibleCredentials(present) {
		shoot := &gardencorev1beta1.Shoot{Status: gardencorev1beta1.ShootStatus{Credentials: credentials}}
		names, err := classNames(v.shoot.TechnicalID, before, shoot, former)
		if err != nil {
			return nil, err
		}
		if v.rollsAny(before, names) {
			continue
		}
		if !helper.IsUpdateStrategyInPlace(after.UpdateStrategy) {
			return append(slices.Clone(changes), changedInputs(former.namedHashData(), machines.namedHashData())...), nil
		}
		return inPlaceReasons(before, after, credentials, present)
	}
	rotated := rotatedSince(before.Name, present, reconciledAt(v.shoot.Worker))
	if len(rotated) == 0 || !helper.IsUpdateStrategyInPlace(after.UpdateStrategy) {
		return nil, nil
	}
	others, err := inPlaceReasons(before, after, present, present)
	return append(others, rotated...), err
}

// inPlaceReasons says what differs for a pool whose nodes are updated in place.
func inPlaceReasons(before, after *extensionsv1alpha1.WorkerPool, former, present *gardencorev1beta1.ShootCredentials) ([]string, error) {
	past, err := inPlaceInputs(before, former)
	if err != nil {
		return nil, err
	}
	next, err := inPlaceInputs(after, present)
	if err != nil {
		return nil, err
	}
	return changedInputs(past, next), nil
}

// namedHashData is HashData with its names.
func (m *Machines) namedHashData() []hashInput {
	inputs := make([]hashInput, 0, len(m.HashData))
	for i, value := range m.HashData {
		name := "the providerConfig"
		if i < len(m.HashDataNames) {
			name = m.HashDataNames[i]
		}
		inputs = append(inputs, hashInput{name: name, value: value})
	}
	return inputs
}

// rollFinding describes the rolls of a shoot.
func rollFinding(rolls []roll, shoot *gardencorev1beta1.Shoot) observer.Finding {
	if len(rolls) == 0 {
		return observer.Finding{Healthy: true, Message: "The next reconciliation replaces no nodes."}
	}
	clauses := make([]string, 0, len(rolls))
	for _, r := range rolls {
		clauses = append(clauses, r.clause())
	}
	message := "The next reconciliation " + strings.Join(clauses, "; it ") + "."
	if maintenance := shoot.Spec.Maintenance; maintenance != nil && maintenance.TimeWindow != nil {
		message += fmt.Sprintf(" It is made at the latest in the maintenance time window of the shoot, %s to %s.",
			maintenance.TimeWindow.Begin, maintenance.TimeWindow.End)
	}
	return observer.Finding{Message: message}
}

// clause completes "the next reconciliation ...".
func (r roll) clause() string {
	action := "replaces the nodes of pool " + r.pool
	if r.inPlace {
		action = "updates the nodes of pool " + r.pool + " in place"
	}
	if len(r.reasons) > 0 {
		return action + ", because " + joinClauses(r.reasons)
	}
	possible := []string{inputKubernetes, inputMachineType, inputImage, "the root volume", "rotated credentials", inputKubelet, "the providerConfig"}
	if r.inPlace {
		possible = []string{inputKubernetes, inputImage, "rotated credentials", inputKubelet}
	}
	last := len(possible) - 1
	return action + ", because of one of these inputs, whose former values are not known: " +
		strings.Join(possible[:last], ", ") + " or " + possible[last]
}
