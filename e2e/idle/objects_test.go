package idle

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// pools and zones are those of each shoot.
	pools, zones = 3, 1
	// resourcesInShoot is how many objects a ManagedResource lists in its status.
	resourcesInShoot = 30
)

// condition is a condition that one of our controllers writes.
type condition struct {
	of   client.Object
	kind gardencorev1beta1.ConditionType
}

func conditionsOf(namespace string) []condition {
	meta := metav1.ObjectMeta{Namespace: namespace, Name: "one"}
	return []condition{
		{&extensionsv1alpha1.ControlPlane{ObjectMeta: meta}, gardencorev1beta1.ShootControlPlaneHealthy},
		{&extensionsv1alpha1.ControlPlane{ObjectMeta: meta}, gardencorev1beta1.ShootSystemComponentsHealthy},
		{&extensionsv1alpha1.Network{ObjectMeta: meta}, gardencorev1beta1.ShootSystemComponentsHealthy},
		{&extensionsv1alpha1.Network{ObjectMeta: meta}, gardencorev1beta1.ShootObservabilityComponentsHealthy},
		{&extensionsv1alpha1.Worker{ObjectMeta: meta}, gardencorev1beta1.ShootEveryNodeReady},
	}
}

// createShoot creates the objects of a shoot that has been created, and whose components are healthy. They are as large as those of a real shoot.
func createShoot(ctx context.Context, c client.Client, namespace string) error {
	if err := c.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		return err
	}
	deployments := machineDeployments(namespace)
	objects := extensionObjects(namespace, deployments)
	for i := range deployments {
		objects = append(objects, &deployments[i])
	}
	for _, name := range []string{
		"extension-controlplane-seed", "extension-controlplane-shoot", "extension-controlplane-shoot-crds", "extension-controlplane-storageclasses",
		"extension-networking-calico-config", "extension-networking-calico-seed",
	} {
		objects = append(objects, managedResource(namespace, name))
	}
	for _, object := range objects {
		withStatus := object.DeepCopyObject().(client.Object)
		if err := c.Create(ctx, object); err != nil {
			return fmt.Errorf("creating %T %s: %w", object, object.GetName(), err)
		}
		withStatus.SetResourceVersion(object.GetResourceVersion())
		if err := c.Status().Update(ctx, withStatus); err != nil {
			return fmt.Errorf("writing the status of %T %s: %w", object, object.GetName(), err)
		}
	}
	return nil
}

// extensionObjects have a status like after a creation.
func extensionObjects(namespace string, deployments []machinev1alpha1.MachineDeployment) []client.Object {
	created := extensionsv1alpha1.DefaultStatus{
		ObservedGeneration: 1,
		ProviderStatus:     rawObject("status", 30),
		LastOperation: &gardencorev1beta1.LastOperation{
			Type: gardencorev1beta1.LastOperationTypeCreate, State: gardencorev1beta1.LastOperationStateSucceeded, Progress: 100,
			Description: "Create succeeded", LastUpdateTime: metav1.Now(),
		},
	}
	withState := created
	withState.State = rawObject("state", 40)
	meta := metav1.ObjectMeta{
		Namespace: namespace, Name: "one",
		Annotations: map[string]string{"gardener.cloud/timestamp": "2026-01-01T00:00:00Z"},
		Labels:      map[string]string{"shoot.gardener.cloud/provider": "openstack", "worker.gardener.cloud/pool": "cpu"},
	}
	ofCloud := extensionsv1alpha1.DefaultSpec{Type: "openstack", ProviderConfig: rawObject("config", 15)}
	secret := corev1.SecretReference{Namespace: namespace, Name: "cloudprovider"}
	worker := &extensionsv1alpha1.Worker{
		ObjectMeta: meta,
		Spec: extensionsv1alpha1.WorkerSpec{
			DefaultSpec: ofCloud, Region: "r", SecretRef: secret, InfrastructureProviderStatus: rawObject("infrastructure", 30), Pools: workerPools(),
		},
		Status: extensionsv1alpha1.WorkerStatus{DefaultStatus: created},
	}
	for i := range deployments {
		worker.Status.MachineDeployments = append(worker.Status.MachineDeployments,
			extensionsv1alpha1.MachineDeployment{Name: deployments[i].Name, Minimum: 1, Maximum: 3})
	}
	return []client.Object{
		&extensionsv1alpha1.Infrastructure{
			ObjectMeta: meta,
			Spec:       extensionsv1alpha1.InfrastructureSpec{DefaultSpec: ofCloud, Region: "r", SecretRef: secret, SSHPublicKey: []byte(strings.Repeat("k", 700))},
			Status:     extensionsv1alpha1.InfrastructureStatus{DefaultStatus: withState, EgressCIDRs: []string{"192.0.2.1/32"}},
		},
		&extensionsv1alpha1.ControlPlane{
			ObjectMeta: meta,
			Spec: extensionsv1alpha1.ControlPlaneSpec{
				DefaultSpec: ofCloud, Region: "r", SecretRef: secret, InfrastructureProviderStatus: rawObject("infrastructure", 30),
			},
			Status: extensionsv1alpha1.ControlPlaneStatus{DefaultStatus: created},
		},
		&extensionsv1alpha1.Network{
			ObjectMeta: meta,
			Spec: extensionsv1alpha1.NetworkSpec{
				DefaultSpec: extensionsv1alpha1.DefaultSpec{Type: "calico", ProviderConfig: rawObject("config", 15)},
				PodCIDR:     "100.96.0.0/11", ServiceCIDR: "100.64.0.0/13",
			},
			Status: extensionsv1alpha1.NetworkStatus{DefaultStatus: withState},
		},
		worker,
	}
}

func workerPools() []extensionsv1alpha1.WorkerPool {
	all := make([]extensionsv1alpha1.WorkerPool, 0, pools)
	for i := range pools {
		all = append(all, extensionsv1alpha1.WorkerPool{
			Name: fmt.Sprintf("pool-%d", i), MachineType: "m1.large", Minimum: zones, Maximum: 3 * zones,
			MaxSurge: intstr.FromInt32(1), MaxUnavailable: intstr.FromInt32(0), Zones: []string{"z1", "z2"},
			Labels:            map[string]string{"worker.gardener.cloud/pool": fmt.Sprintf("pool-%d", i), "worker.gardener.cloud/system-components": "true"},
			Annotations:       map[string]string{"example.com/owner": "the team that owns this pool"},
			MachineImage:      extensionsv1alpha1.MachineImage{Name: "ubuntu", Version: "24.4.0"},
			ProviderConfig:    rawObject("pool", 20),
			UserDataSecretRef: corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "user-data"}, Key: "cloud-config"},
			NodeTemplate: &extensionsv1alpha1.NodeTemplate{Capacity: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("16Gi"), "gpu": resource.MustParse("0"),
			}},
		})
	}
	return all
}

func machineDeployments(namespace string) []machinev1alpha1.MachineDeployment {
	all := make([]machinev1alpha1.MachineDeployment, 0, pools*zones)
	for i := range pools * zones {
		name := fmt.Sprintf("one-pool-%d-z%d", i/zones, i%zones+1)
		deployment := machinev1alpha1.MachineDeployment{ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, Annotations: map[string]string{"deployment.kubernetes.io/revision": "1"}, Labels: map[string]string{"name": name},
		}}
		deployment.Spec.Replicas = 1
		deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"name": name}}
		deployment.Spec.Template.Labels = map[string]string{"name": name}
		deployment.Spec.Template.Spec.Class = machinev1alpha1.ClassSpec{Kind: "MachineClass", Name: name + "-abcde"}
		deployment.Status = machinev1alpha1.MachineDeploymentStatus{
			ObservedGeneration: 1, Replicas: 1, UpdatedReplicas: 1, ReadyReplicas: 1, AvailableReplicas: 1,
			Conditions: []machinev1alpha1.MachineDeploymentCondition{{
				Type: machinev1alpha1.MachineDeploymentAvailable, Status: machinev1alpha1.ConditionTrue,
				Reason: "MinimumReplicasAvailable", Message: "Deployment has minimum availability.",
			}},
		}
		all = append(all, deployment)
	}
	return all
}

// managedResource is healthy.
func managedResource(namespace, name string) *resourcesv1alpha1.ManagedResource {
	managed := &resourcesv1alpha1.ManagedResource{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	managed.Spec.SecretRefs = []corev1.LocalObjectReference{{Name: name}}
	managed.Status.ObservedGeneration = 1
	for i := range resourcesInShoot {
		managed.Status.Resources = append(managed.Status.Resources, resourcesv1alpha1.ObjectReference{ObjectReference: corev1.ObjectReference{
			APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRoleBinding", Name: fmt.Sprintf("system:controller:component-%d", i),
		}})
	}
	for _, c := range []struct {
		kind   gardencorev1beta1.ConditionType
		status gardencorev1beta1.ConditionStatus
	}{
		{resourcesv1alpha1.ResourcesApplied, gardencorev1beta1.ConditionTrue},
		{resourcesv1alpha1.ResourcesHealthy, gardencorev1beta1.ConditionTrue},
		{resourcesv1alpha1.ResourcesProgressing, gardencorev1beta1.ConditionFalse},
	} {
		managed.Status.Conditions = append(managed.Status.Conditions, gardencorev1beta1.Condition{
			Type: c.kind, Status: c.status, Reason: "Tested", Message: "By the test.", LastTransitionTime: metav1.Now(), LastUpdateTime: metav1.Now(),
		})
	}
	return managed
}

// rawObject is a part of an object that only its provider reads, with some fields of 60 bytes.
func rawObject(kind string, fields int) *runtime.RawExtension {
	content := map[string]any{"apiVersion": "example.com/v1alpha1", "kind": kind}
	data := map[string]string{}
	for i := range fields {
		data[fmt.Sprintf("%s-%d", kind, i)] = "0f0c9ab2-8e66-4b0f-9a56-2d9d4a3f9c11"
	}
	content["data"] = data
	raw, err := json.Marshal(content)
	if err != nil {
		panic(err) // a map of strings has an encoding
	}
	return &runtime.RawExtension{Raw: raw}
}
