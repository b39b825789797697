package worker

import (
	"maps"
	"slices"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// reconciled is a row of testdata/reconciled.json: the MachineDeployments after a reconciliation, and their part of the Worker's status. Package e2e
// compares it with Gardener's library.
type reconciled struct {
	Sentence        string                                 `json:"sentence"`
	Worker          extensionsv1alpha1.Worker              `json:"worker"`
	TechnicalID     string                                 `json:"technicalID"`
	Hibernated      bool                                   `json:"hibernated,omitempty"`
	HashData        []string                               `json:"hashData"`
	HashDataInPlace []string                               `json:"hashDataInPlace"`
	ZoneLabel       string                                 `json:"zoneLabel"`
	Existing        []machinev1alpha1.MachineDeployment    `json:"existing,omitempty"`
	Want            []machinev1alpha1.MachineDeployment    `json:"want"`
	Status          []extensionsv1alpha1.MachineDeployment `json:"status"`
}

// reconcileCase is a plan with existing deployments: so many of its zones, each changed by existing.
type reconcileCase struct {
	plan       func(*plan)
	hibernated bool
	known      int
	existing   func(*machinev1alpha1.MachineDeployment)
}

func reconcileCases() map[string]reconcileCase {
	scaledTo := func(replicas int32) func(*machinev1alpha1.MachineDeployment) {
		return func(d *machinev1alpha1.MachineDeployment) { d.Spec.Replicas = replicas }
	}
	fixed := func(p *plan) { p.pool.Minimum, p.pool.Maximum = 5, 5 }
	return map[string]reconcileCase{
		"a new pool":                       {},
		"a new pool that updates in place": {plan: func(p *plan) { p.pool.UpdateStrategy = new(gardencorev1beta1.AutoInPlaceUpdate) }},
		"a new pool that updates when users choose to": {plan: func(p *plan) {
			p.pool.UpdateStrategy, p.pool.MaxSurge = new(gardencorev1beta1.ManualInPlaceUpdate), intstr.FromInt32(0)
		}},
		"a new pool that says the least": {plan: func(p *plan) {
			p.pool = minimalPool(func(row *hashed) { row.Pool.Zones = []string{"north-1", "north-2"} }).Pool
		}},
		"a new pool without an autoscaler":                      {plan: fixed},
		"a new pool that sleeps":                                {hibernated: true},
		"a pool that is being hibernated":                       {hibernated: true, known: 2, existing: scaledTo(3)},
		"a pool that wakes up":                                  {known: 2, existing: scaledTo(0)},
		"the autoscaler has chosen":                             {known: 2, existing: scaledTo(3)},
		"the autoscaler has chosen less than the minimum":       {known: 2, existing: scaledTo(1), plan: func(p *plan) { p.pool.Minimum = 6 }},
		"the autoscaler has chosen more than the maximum":       {known: 2, existing: scaledTo(9)},
		"somebody has scaled a pool that has no autoscaler":     {known: 2, existing: scaledTo(9), plan: fixed},
		"somebody has scaled a pool without autoscaler to none": {known: 2, existing: scaledTo(0), plan: fixed},
		"a zone that comes later":                               {known: 1, existing: scaledTo(4)},
		"a zone that may be empty": {known: 2, existing: scaledTo(0), plan: func(p *plan) {
			p.pool.Minimum, p.pool.Maximum = 0, 1
		}},
		"others have written": {known: 2, existing: func(d *machinev1alpha1.MachineDeployment) {
			d.Spec.Replicas, d.Spec.Paused, d.Spec.ProgressDeadlineSeconds = 3, true, new(int32(9))
			d.Labels["theirs"] = "yes"
			d.Annotations["theirs"] = "yes"
			d.Annotations[extensionsv1alpha1.MaxNodeProvisionTimeAnnotation] = "9m"
			d.Annotations[extensionsv1alpha1.ScaleDownUtilizationThresholdAnnotation] = "0.9"
			d.Spec.Template.Annotations = map[string]string{"restarted": "yesterday"}
			d.Spec.Template.Labels["old"] = "label"
			d.Spec.Template.Spec.NodeTemplateSpec.Labels["old"] = "label"
			d.Spec.MinReadySeconds, d.Spec.RevisionHistoryLimit, d.Spec.AutoPreserveFailedMachineMax = 1, nil, 7
			d.Spec.Strategy = machinev1alpha1.MachineDeploymentStrategy{Type: machinev1alpha1.RecreateMachineDeploymentStrategyType}
		}},
	}
}

func TestReconciledDeployments_Golden(t *testing.T) {
	all := reconcileCases()
	rows := make([]reconciled, 0, len(all))
	for _, sentence := range slices.Sorted(maps.Keys(all)) {
		p, tc := newPlan(), all[sentence]
		if tc.plan != nil {
			tc.plan(p)
		}
		machines := p.machines()
		row := reconciled{
			Sentence: sentence, Worker: *p.worker.DeepCopy(), TechnicalID: p.shoot.Status.TechnicalID, Hibernated: tc.hibernated,
			HashData: machines.HashData, HashDataInPlace: machines.HashDataInPlace, ZoneLabel: "example.com/zone",
		}
		row.Worker.Spec.Pools = []extensionsv1alpha1.WorkerPool{p.pool}
		deployments := p.deployments(t)
		row.Status = statusDeployments(deployments)
		for i, d := range deployments {
			object, replicas := &machinev1alpha1.MachineDeployment{}, replicasOf(d, nil, replicaInput{hibernated: tc.hibernated})
			if i < tc.known {
				object = existingOf(t, d, tc.existing)
				row.Existing = append(row.Existing, *object.DeepCopy())
				replicas = replicasOf(d, object, replicaInput{hibernated: tc.hibernated})
			}
			applyOnto(object, d.object, replicas)
			row.Want = append(row.Want, *object)
		}
		rows = append(rows, row)
	}
	checkGolden(t, "reconciled.json", "[\n"+linesOf(t, rows)+"]\n")
}

func existingOf(t *testing.T, d deployment, change func(*machinev1alpha1.MachineDeployment)) *machinev1alpha1.MachineDeployment {
	t.Helper()
	object := &machinev1alpha1.MachineDeployment{}
	applyOnto(object, d.object, d.minimum)
	require.NotNil(t, change)
	change(object)
	return object
}
