package worker

import (
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"

	"github.com/trellis-garden/trellis/internal/cloud"
)

func TestDeploymentsOf_Golden(t *testing.T) {
	for name, mutate := range map[string]func(*plan){
		"pool-all-fields":             func(*plan) {},
		"pool-auto-in-place-update":   func(p *plan) { p.pool.UpdateStrategy = new(gardencorev1beta1.AutoInPlaceUpdate) },
		"pool-manual-in-place-update": func(p *plan) { p.pool.UpdateStrategy = new(gardencorev1beta1.ManualInPlaceUpdate) },
		"pool-minimal": func(p *plan) {
			p.pool = minimalPool(func(row *hashed) { row.Pool.Zones = []string{"north-1"} }).Pool
			p.capacity = nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlan()
			mutate(p)
			var documents []string
			for _, d := range p.deployments(t) {
				for _, object := range []any{d.class, d.secret, d.object, statusDeployments([]deployment{d})[0]} {
					document, err := yaml.Marshal(object)
					require.NoError(t, err)
					documents = append(documents, string(document))
				}
			}
			checkGolden(t, name+".yaml", strings.Join(documents, "---\n"))
		})
	}
}

func TestDeploymentsOf_OrderAndCopies(t *testing.T) {
	first, second := newPlan(), newPlan()
	second.pool.Name = "gpu"
	shoot, pools := first.inputs()
	_, others := second.inputs()
	deployments, err := deploymentsOf(shoot, append(pools, others...))
	require.NoError(t, err)
	var names []string
	for _, d := range deployments {
		names = append(names, d.pool+" "+d.name())
	}
	assert.Equal(t, []string{
		"cpu shoot--dev--one-cpu-z1", "cpu shoot--dev--one-cpu-z2", "gpu shoot--dev--one-gpu-z1", "gpu shoot--dev--one-gpu-z2",
	}, names)

	before := first.deployments(t)
	d := deployments[0]
	d.object.Spec.Template.Spec.NodeTemplateSpec.Labels["team"] = "nobody"
	d.object.Spec.Template.Spec.NodeTemplateSpec.Annotations["note"] = "none"
	d.object.Spec.Template.Spec.NodeTemplateSpec.Spec.Taints[0].Key = "quiet"
	d.object.Spec.Template.Spec.MachineDrainTimeout.Duration = 0
	*d.object.Spec.Template.Spec.MaxEvictRetries = 0
	*d.priority = 0
	d.secret.Data["userData"][0] = '?'
	d.class.NodeTemplate.Capacity["gpu"] = resource.MustParse("9")
	d.class.NodeTemplate.VirtualCapacity["other"] = resource.MustParse("9")
	*d.class.NodeTemplate.Architecture = "none"
	d.class.CredentialsSecretRef.Name = "other"
	assert.Equal(t, before, first.deployments(t), "results share no memory with the inputs")
	assert.Equal(t, before[1], deployments[1])
}

func TestClassObject_DriverLabels(t *testing.T) {
	shoot, pools := newPlan().inputs()
	labels := map[string]string{"zone": "north-1", ownerLabel: "somebody else"}
	pools[0].machines.Classes[0].Labels = labels
	deployments, err := deploymentsOf(shoot, pools)
	require.NoError(t, err)
	assert.Equal(t, "north-1", deployments[0].class.Labels["zone"])
	assert.Equal(t, shoot.Worker.Name, deployments[0].class.Labels[ownerLabel], "a driver does not override the contract's labels")
	assert.NotContains(t, deployments[0].secret.Labels, "zone")
	assert.NotContains(t, deployments[1].class.Labels, "zone")
	assert.Len(t, labels, 2, "the driver's labels are not changed")
}

func TestNodeTemplate(t *testing.T) {
	amounts := func(memory string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memory)}
	}
	for sentence, tc := range map[string]struct {
		pool   *extensionsv1alpha1.NodeTemplate
		driver machinev1alpha1.NodeTemplate
		want   *machinev1alpha1.NodeTemplate
	}{
		"no capacity":                      {},
		"driver template without capacity": {driver: machinev1alpha1.NodeTemplate{InstanceType: "x"}},
		"capacity of the pool": {
			pool: &extensionsv1alpha1.NodeTemplate{Capacity: amounts("1Gi")},
			want: &machinev1alpha1.NodeTemplate{Capacity: amounts("1Gi"), InstanceType: "wide", Region: "north", Zone: "north-1", Architecture: new("arm64")},
		},
		"capacity of the driver": {
			driver: machinev1alpha1.NodeTemplate{Capacity: amounts("2Gi"), InstanceType: "x", Region: "r", Zone: "z", Architecture: new("a")},
			want:   &machinev1alpha1.NodeTemplate{Capacity: amounts("2Gi"), InstanceType: "x", Region: "r", Zone: "z", Architecture: new("a")},
		},
		"driver overrides the pool": {
			pool:   &extensionsv1alpha1.NodeTemplate{Capacity: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2"), corev1.ResourceMemory: resource.MustParse("1Gi")}},
			driver: machinev1alpha1.NodeTemplate{Capacity: amounts("2Gi")},
			want: &machinev1alpha1.NodeTemplate{
				Capacity:     corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2"), corev1.ResourceMemory: resource.MustParse("2Gi")},
				InstanceType: "wide", Region: "north", Zone: "north-1", Architecture: new("arm64"),
			},
		},
		"virtual capacity only": {
			pool: &extensionsv1alpha1.NodeTemplate{VirtualCapacity: amounts("1Gi")},
			want: &machinev1alpha1.NodeTemplate{
				Capacity: corev1.ResourceList{}, VirtualCapacity: amounts("1Gi"),
				InstanceType: "wide", Region: "north", Zone: "north-1", Architecture: new("arm64"),
			},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			shoot, pools := newPlan().inputs()
			pools[0].NodeTemplate = tc.pool
			pools[0].machines.Classes[0].NodeTemplate = tc.driver
			deployments, err := deploymentsOf(shoot, pools)
			require.NoError(t, err)
			assert.Equal(t, tc.want, deployments[0].class.NodeTemplate)
		})
	}
}

func TestDeploymentsOf_InvalidPool(t *testing.T) {
	for sentence, tc := range map[string]struct {
		mutate  func(*Shoot, *pool)
		problem string
		kind    cloud.Kind
	}{
		"no zones": {
			mutate:  func(_ *Shoot, p *pool) { p.Zones = nil },
			problem: "the pool has no zones: set at least one", kind: cloud.Configuration,
		},
		"missing class": {
			mutate:  func(_ *Shoot, p *pool) { p.machines.Classes = p.machines.Classes[:1] },
			problem: "the driver has 1 classes for 2 zones",
		},
		"no node agent secret": {
			mutate:  func(_ *Shoot, p *pool) { p.NodeAgentSecretName = nil },
			problem: `pool "cpu" has no nodeAgentSecretName, which its hash requires`,
		},
		"invalid maxSurge": {
			mutate:  func(_ *Shoot, p *pool) { p.MaxSurge = intstr.FromString("some") },
			problem: `reading maxSurge: "some" is neither a number nor a percentage`,
		},
		"invalid maxUnavailable": {
			mutate:  func(_ *Shoot, p *pool) { p.MaxUnavailable = intstr.FromString("1") },
			problem: `reading maxUnavailable: "1" is neither a number nor a percentage`,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			shoot, pools := newPlan().inputs()
			tc.mutate(shoot, &pools[0])
			_, err := deploymentsOf(shoot, pools)
			assert.EqualError(t, err, `planning the machines of pool "cpu": `+tc.problem)
			assert.Equal(t, tc.kind, cloud.KindOf(err))
		})
	}
	t.Run("a pool without zones does not block the deletion", func(t *testing.T) {
		shoot, pools := newPlan().inputs()
		shoot.Deleting = true
		pools[0].Zones, pools[0].machines.Classes = nil, nil
		deployments, err := deploymentsOf(shoot, pools)
		require.NoError(t, err)
		assert.Empty(t, deployments)
	})
}

func TestApplyOnto_Existing(t *testing.T) {
	p := newPlan()
	p.pool.ClusterAutoscaler.ScaleDownUnneededTime = nil
	wanted := p.deployments(t)[0].object
	const unneeded, utilization = extensionsv1alpha1.ScaleDownUnneededTimeAnnotation, extensionsv1alpha1.ScaleDownUtilizationThresholdAnnotation
	existing := &machinev1alpha1.MachineDeployment{
		ObjectMeta: metav1.ObjectMeta{
			Name: wanted.Name, Namespace: wanted.Namespace, ResourceVersion: "7",
			Labels:      map[string]string{"theirs": "yes", "worker.gardener.cloud/pool": "other"},
			Annotations: map[string]string{"theirs": "yes", unneeded: "1h", utilization: "0.9"},
		},
		Spec: machinev1alpha1.MachineDeploymentSpec{
			Paused: true, ProgressDeadlineSeconds: new(int32(9)), Replicas: 1,
			Template: machinev1alpha1.MachineTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"restarted": "yesterday"}, Labels: map[string]string{"old": "label"}},
				Spec:       machinev1alpha1.MachineSpec{Class: machinev1alpha1.ClassSpec{Name: "old"}, ProviderID: "left behind"},
			},
		},
		Status: machinev1alpha1.MachineDeploymentStatus{Replicas: 1},
	}
	applyOnto(existing, wanted, 5)

	want := wanted.DeepCopy()
	want.ResourceVersion = "7"
	want.Labels["theirs"] = "yes"
	want.Annotations = map[string]string{"theirs": "yes", utilization: "0.5"}
	want.Spec.Paused, want.Spec.ProgressDeadlineSeconds, want.Spec.Replicas = true, new(int32(9)), 5
	want.Spec.Template.Annotations = map[string]string{"restarted": "yesterday"}
	want.Status.Replicas = 1
	assert.Equal(t, want, existing)

	again := existing.DeepCopy()
	applyOnto(again, wanted, 5)
	assert.Equal(t, existing, again, "the second call changes nothing")
	assert.Empty(t, wanted.Spec.Template.Annotations, "the wanted object is not changed")
}

func TestApplyOnto_Empty(t *testing.T) {
	wanted := newPlan().deployments(t)[1].object
	created := &machinev1alpha1.MachineDeployment{}
	applyOnto(created, wanted, 2)
	want := wanted.DeepCopy()
	want.Spec.Replicas = 2
	want.Annotations = map[string]string{
		extensionsv1alpha1.ScaleDownUtilizationThresholdAnnotation: "0.5", extensionsv1alpha1.ScaleDownUnneededTimeAnnotation: "1h0m0s",
	}
	assert.Equal(t, want, created)
}

func TestOperatingSystemLabels(t *testing.T) {
	for sentence, tt := range map[string]struct {
		image extensionsv1alpha1.MachineImage
		want  map[string]string
	}{
		"name and version": {
			extensionsv1alpha1.MachineImage{Name: "gardenlinux", Version: "1592.8.0"},
			map[string]string{"operatingSystemName": "gardenlinux", "operatingSystemVersion": "1592.8.0"},
		},
		"version with build metadata": {
			extensionsv1alpha1.MachineImage{Name: "linux", Version: "1.0.0+build.7"},
			map[string]string{"operatingSystemName": "linux", "operatingSystemVersion": "1.0.0_build.7"},
		},
		"no image":                          {extensionsv1alpha1.MachineImage{}, map[string]string{}},
		"name that is no valid label value": {extensionsv1alpha1.MachineImage{Name: "Garden Linux", Version: "1"}, map[string]string{"operatingSystemVersion": "1"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			p := &pool{WorkerPool: extensionsv1alpha1.WorkerPool{MachineImage: tt.image}}
			assert.Equal(t, tt.want, operatingSystemLabels(p))
		})
	}
}
