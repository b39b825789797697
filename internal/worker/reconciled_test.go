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

// reconciled is a row of testdata/reconciled.json: the MachineDeployments after a reconciliation, and their part of the Worker's status.
// Package e2e compares it with Gardener's library.
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
		"new pool":                           {},
		"new pool with auto in-place update": {plan: func(p *plan) { p.pool.UpdateStrategy = new(gardencorev1beta1.AutoInPlaceUpdate) }},
		"new pool with manual in-place update": {plan: func(p *plan) {
			p.pool.UpdateStrategy, p.pool.MaxSurge = new(gardencorev1beta1.ManualInPlaceUpdate), intstr.FromInt32(0)
		}},
		"new minimal pool": {plan: func(p *plan) {
			p.pool = minimalPool(func(row *hashed) { row.Pool.Zones = []string{"north-1", "north-2"} }).Pool
		}},
		"new pool without autoscaler":            {plan: fixed},
		"new pool of a hibernated shoot":         {hibernated: true},
		"pool that is being hibernated":          {hibernated: true, known: 2, existing: scaledTo(3)},
		"pool that wakes up":                     {known: 2, existing: scaledTo(0)},
		"replicas within the limits":             {known: 2, existing: scaledTo(3)},
		"replicas below the minimum":             {known: 2, existing: scaledTo(1), plan: func(p *plan) { p.pool.Minimum = 6 }},
		"replicas above the maximum":             {known: 2, existing: scaledTo(9)},
		"scaled pool without autoscaler":         {known: 2, existing: scaledTo(9), plan: fixed},
		"pool without autoscaler scaled to zero": {known: 2, existing: scaledTo(0), plan: fixed},
		"added zone":                             {known: 1, existing: scaledTo(4)},
		"zone with a minimum of zero": {known: 2, existing: scaledTo(0), plan: func(p *plan) {
			p.pool.Minimum, p.pool.Maximum = 0, 1
		}},
		"fields written by others": {known: 2, existing: func(d *machinev1alpha1.MachineDeployment) {
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
