package worker

import (
	"slices"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/trellis-garden/trellis/internal/contract"
)

// plan has all inputs of the objects: one pool of the example cloud.
type plan struct {
	worker   extensionsv1alpha1.Worker
	shoot    gardencorev1beta1.Shoot
	pool     extensionsv1alpha1.WorkerPool
	userData string
	// The inputs of the driver's classes, and whether they replace machines.
	group           string
	securityGroups  []string
	settings        map[string]string
	rollingSettings []string
	capacity        corev1.ResourceList
}

// newPlan returns a pool with all fields set.
func newPlan() *plan {
	hour, day := &metav1.Duration{Duration: time.Hour}, &metav1.Duration{Duration: 24 * time.Hour}
	return &plan{
		worker: extensionsv1alpha1.Worker{
			ObjectMeta: metav1.ObjectMeta{Name: "one", Namespace: "shoot--dev--one"},
			Spec: extensionsv1alpha1.WorkerSpec{
				Region:    "north",
				SecretRef: corev1.SecretReference{Name: "cloudprovider", Namespace: "shoot--dev--one"},
			},
		},
		shoot: gardencorev1beta1.Shoot{Status: gardencorev1beta1.ShootStatus{TechnicalID: "shoot--dev--one"}},
		pool: extensionsv1alpha1.WorkerPool{
			Name: "cpu", MachineType: "wide", Architecture: new("arm64"),
			MachineImage: extensionsv1alpha1.MachineImage{Name: "gardenlinux", Version: "1877.3.0"},
			Minimum:      3, Maximum: 7, MaxSurge: intstr.FromString("25%"), MaxUnavailable: intstr.FromInt32(1),
			Zones:               []string{"north-1", "north-2"},
			Labels:              map[string]string{"worker.gardener.cloud/pool": "cpu", "team": "team-a"},
			Annotations:         map[string]string{"note": "handle with care"},
			Taints:              []corev1.Taint{{Key: "dedicated", Value: "true", Effect: corev1.TaintEffectNoSchedule}},
			NodeAgentSecretName: new("gardener-node-agent-cpu-77ac3"),
			KubernetesVersion:   new("1.33.4"),
			Volume:              &extensionsv1alpha1.Volume{Type: new("fast"), Size: "50Gi"},
			Priority:            new(int32(5)),
			NodeTemplate: &extensionsv1alpha1.NodeTemplate{
				Capacity: corev1.ResourceList{
					corev1.ResourceCPU: resource.MustParse("8"), corev1.ResourceMemory: resource.MustParse("32Gi"), "gpu": resource.MustParse("0"),
				},
				VirtualCapacity: corev1.ResourceList{"example.com/devices": resource.MustParse("4")},
			},
			MachineControllerManagerSettings: &gardencorev1beta1.MachineControllerManagerSettings{
				MachineDrainTimeout: hour, MachineHealthTimeout: hour, MachineCreationTimeout: day, MaxEvictRetries: new(int32(30)),
				NodeConditions: []string{"ReadonlyFilesystem", "DiskPressure"}, MachineInPlaceUpdateTimeout: hour,
				DisableHealthTimeout: new(false), MachinePreserveTimeout: day, AutoPreserveFailedMachineMax: new(int32(3)),
			},
			ClusterAutoscaler: &extensionsv1alpha1.ClusterAutoscalerOptions{
				ScaleDownUtilizationThreshold: new("0.5"), ScaleDownUnneededTime: hour,
			},
		},
		userData: "#!/bin/bash\nstart\n",
		group:    "group-1", securityGroups: []string{"group-a"}, settings: map[string]string{"rolling": "blue", "other": "red"}, rollingSettings: []string{"rolling"},
		capacity: corev1.ResourceList{"gpu": resource.MustParse("1")},
	}
}

// machines is the description of the pool by the example driver.
func (p *plan) machines() *Machines {
	machines := &Machines{HashData: []string{p.group}}
	for _, name := range slices.Sorted(slices.Values(p.rollingSettings)) {
		machines.HashData = append(machines.HashData, name+"="+p.settings[name])
	}
	machines.HashData = append(machines.HashData, p.securityGroups...)
	machines.HashDataInPlace = p.securityGroups
	for _, zone := range p.pool.Zones {
		settings := map[string]any{}
		for name, color := range p.settings {
			settings[name] = color
		}
		machines.Classes = append(machines.Classes, Class{
			Provider: "Example",
			ProviderSpec: &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "example.com/v1", "kind": "ExampleConfig",
				"width": p.pool.MachineType, "group": p.group, "settings": settings,
			}},
			NodeTemplate: machinev1alpha1.NodeTemplate{Capacity: p.capacity},
			NodeLabels:   map[string]string{"example.com/zone": zone},
		})
	}
	return machines
}

// inputs returns the plan as the contract passes it.
func (p *plan) inputs() (*Shoot, []pool) {
	shoot := &Shoot{
		Worker: &p.worker, Cluster: &contract.Cluster{Shoot: &p.shoot}, TechnicalID: p.shoot.Status.TechnicalID,
	}
	return shoot, []pool{{WorkerPool: p.pool, machines: p.machines(), userData: []byte(p.userData)}}
}

// deployments are the objects of the plan.
func (p *plan) deployments(t *testing.T) []deployment {
	t.Helper()
	shoot, pools := p.inputs()
	deployments, err := deploymentsOf(shoot, pools)
	require.NoError(t, err)
	return deployments
}
