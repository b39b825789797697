package worker

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	extensionsv1alpha1helper "github.com/gardener/gardener/pkg/api/extensions/v1alpha1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/internal/worker/machinestatus"
)

// minReadySeconds is how long a machine must have been ready to be available.
const minReadySeconds = 500

// deploymentObject returns a MachineDeployment without replicas. In its template, labels of the machines, annotations and the class
// identify the machines for machine-controller-manager: another value replaces them. Labels, annotations and taints of nodes and the
// settings of machine-controller-manager do not.
func deploymentObject(shoot *Shoot, p *pool, zone int, class string) (*machinev1alpha1.MachineDeployment, error) {
	name := deploymentName(shoot.TechnicalID, p.Name, zone)
	strategy, err := strategyOf(p, zone)
	if err != nil {
		return nil, err
	}
	keepNoRevisions := int32(0)
	return &machinev1alpha1.MachineDeployment{
		ObjectMeta: metav1.ObjectMeta{
			Name:        name,
			Namespace:   shoot.Worker.Namespace,
			Labels:      map[string]string{v1beta1constants.LabelWorkerPool: p.Name},
			Annotations: extensionsv1alpha1helper.GetMachineDeploymentClusterAutoscalerAnnotations(p.ClusterAutoscaler),
		},
		Spec: machinev1alpha1.MachineDeploymentSpec{
			Selector:                     &metav1.LabelSelector{MatchLabels: map[string]string{machinestatus.LabelName: name}},
			Strategy:                     strategy,
			MinReadySeconds:              minReadySeconds,
			RevisionHistoryLimit:         &keepNoRevisions,
			AutoPreserveFailedMachineMax: preservedOf(p, zone),
			Template: machinev1alpha1.MachineTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: machineLabels(shoot, p, name)},
				Spec: machinev1alpha1.MachineSpec{
					Class: machinev1alpha1.ClassSpec{Kind: "MachineClass", Name: class},
					NodeTemplateSpec: machinev1alpha1.NodeTemplateSpec{
						ObjectMeta: metav1.ObjectMeta{
							Labels:      union(p.Labels, p.machines.Classes[zone].NodeLabels),
							Annotations: maps.Clone(p.Annotations),
						},
						Spec: corev1.NodeSpec{Taints: slices.Clone(p.Taints)},
					},
					MachineConfiguration: machineConfiguration(p.MachineControllerManagerSettings),
				},
			},
		},
	}, nil
}

func strategyOf(p *pool, zone int) (machinev1alpha1.MachineDeploymentStrategy, error) {
	at, zones := int32(zone), int32(len(p.Zones))
	surge, err := distributeIntOrPercent(at, p.MaxSurge, zones, p.Maximum)
	if err != nil {
		return machinev1alpha1.MachineDeploymentStrategy{}, fmt.Errorf("reading maxSurge: %w", err)
	}
	unavailable, err := distributeIntOrPercent(at, p.MaxUnavailable, zones, p.Minimum)
	if err != nil {
		return machinev1alpha1.MachineDeploymentStrategy{}, fmt.Errorf("reading maxUnavailable: %w", err)
	}
	update := machinev1alpha1.UpdateConfiguration{MaxSurge: &surge, MaxUnavailable: &unavailable}
	if !helper.IsUpdateStrategyInPlace(p.UpdateStrategy) {
		return machinev1alpha1.MachineDeploymentStrategy{
			Type:          machinev1alpha1.RollingUpdateMachineDeploymentStrategyType,
			RollingUpdate: &machinev1alpha1.RollingUpdateMachineDeployment{UpdateConfiguration: update},
		}, nil
	}
	orchestration := machinev1alpha1.OrchestrationTypeAuto
	if helper.IsUpdateStrategyManualInPlace(p.UpdateStrategy) {
		orchestration = machinev1alpha1.OrchestrationTypeManual
	}
	return machinev1alpha1.MachineDeploymentStrategy{
		Type: machinev1alpha1.InPlaceUpdateMachineDeploymentStrategyType,
		InPlaceUpdate: &machinev1alpha1.InPlaceUpdateMachineDeployment{
			UpdateConfiguration: update, OrchestrationType: orchestration,
		},
	}, nil
}

// machineLabels include the Worker's name if machines are updated in place: Gardener watches those.
func machineLabels(shoot *Shoot, p *pool, deployment string) map[string]string {
	labels := map[string]string{machinestatus.LabelName: deployment}
	if helper.IsUpdateStrategyInPlace(p.UpdateStrategy) {
		labels[v1beta1constants.LabelWorkerName] = shoot.Worker.Name
	}
	return labels
}

func preservedOf(p *pool, zone int) int32 {
	settings := p.MachineControllerManagerSettings
	if settings == nil || settings.AutoPreserveFailedMachineMax == nil {
		return 0
	}
	return distribute(int32(zone), *settings.AutoPreserveFailedMachineMax, int32(len(p.Zones)))
}

// machineConfiguration overrides machine-controller-manager's defaults for the machines of a pool. It is never nil.
func machineConfiguration(settings *gardencorev1beta1.MachineControllerManagerSettings) *machinev1alpha1.MachineConfiguration {
	if settings == nil {
		return &machinev1alpha1.MachineConfiguration{}
	}
	configuration := &machinev1alpha1.MachineConfiguration{
		MachineDrainTimeout:         clone(settings.MachineDrainTimeout),
		MachineHealthTimeout:        clone(settings.MachineHealthTimeout),
		MachineCreationTimeout:      clone(settings.MachineCreationTimeout),
		MachineInPlaceUpdateTimeout: clone(settings.MachineInPlaceUpdateTimeout),
		MachinePreserveTimeout:      clone(settings.MachinePreserveTimeout),
		DisableHealthTimeout:        clone(settings.DisableHealthTimeout),
		MaxEvictRetries:             clone(settings.MaxEvictRetries),
	}
	if len(settings.NodeConditions) > 0 {
		conditions := strings.Join(settings.NodeConditions, ",")
		configuration.NodeConditions = &conditions
	}
	return configuration
}

// union is nil only if both are nil.
func union(below, above map[string]string) map[string]string {
	both := maps.Clone(below)
	if both == nil {
		return maps.Clone(above)
	}
	maps.Copy(both, above)
	return both
}

// applyOnto changes an existing MachineDeployment, or an empty one, to the desired one with the given replicas. It keeps what others have
// written: labels and annotations, including those in the template (which identify the machines), pauses, and status. An annotation
// with an empty value is removed.
func applyOnto(existing, wanted *machinev1alpha1.MachineDeployment, replicas int32) {
	existing.Name, existing.Namespace = wanted.Name, wanted.Namespace
	for key, value := range wanted.Labels {
		metav1.SetMetaDataLabel(&existing.ObjectMeta, key, value)
	}
	for key, value := range wanted.Annotations {
		if value == "" {
			delete(existing.Annotations, key)
			continue
		}
		metav1.SetMetaDataAnnotation(&existing.ObjectMeta, key, value)
	}
	spec := wanted.Spec.DeepCopy()
	for key, value := range existing.Spec.Template.Annotations {
		metav1.SetMetaDataAnnotation(&spec.Template.ObjectMeta, key, value)
	}
	existing.Spec.Replicas = replicas
	existing.Spec.Selector = spec.Selector
	existing.Spec.Template = spec.Template
	existing.Spec.Strategy = spec.Strategy
	existing.Spec.MinReadySeconds = spec.MinReadySeconds
	existing.Spec.RevisionHistoryLimit = spec.RevisionHistoryLimit
	existing.Spec.AutoPreserveFailedMachineMax = spec.AutoPreserveFailedMachineMax
}

// statusDeployments are the inputs from which gardenlet configures the cluster-autoscaler. What may be preserved of failed machines is only
// in the MachineDeployments, as with Gardener's own library.
func statusDeployments(deployments []deployment) []extensionsv1alpha1.MachineDeployment {
	status := make([]extensionsv1alpha1.MachineDeployment, 0, len(deployments))
	for _, d := range deployments {
		status = append(status, extensionsv1alpha1.MachineDeployment{
			Name: d.name(), Minimum: d.minimum, Maximum: d.maximum, Priority: clone(d.priority),
		})
	}
	return status
}
