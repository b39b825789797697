package workertest

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/worker"
)

const (
	// objectName is the name of the Worker and of the shoot.
	objectName  = "one"
	userDataKey = "cloud_config"
	// restartManagerAfter is the time after which the pod of a machine-controller-manager that is stuck is replaced.
	restartManagerAfter = time.Second
)

// shootIdentity has a technical ID that differs from every namespace, so that a driver that confuses them fails.
func shootIdentity() Identity {
	return Identity{TechnicalID: "shoot--suite--one", UID: "5f0c9a52-3c1e-4f6b-9d39-8a1f6f1f7a11"}
}

func newWorker() *extensionsv1alpha1.Worker { return &extensionsv1alpha1.Worker{} }

// gardener writes the objects that Gardener writes.
type gardener struct {
	subject Subject
	inputs  Inputs
}

// prerequisites are the objects in the namespace before the Worker: machine-controller-manager runs, or waits for a restore.
func (g gardener) prerequisites(namespace string, managers int32, changes ...func(*gardencorev1beta1.Shoot)) ([]client.Object, error) {
	cluster, err := g.cluster(namespace, changes...)
	if err != nil {
		return nil, err
	}
	objects := []client.Object{cluster, g.fixture(nil).Secret(namespace), managerDeployment(namespace, managers)}
	for _, pool := range g.inputs.Pools {
		objects = append(objects, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: userDataName(pool.Name)},
			Data:       map[string][]byte{userDataKey: []byte("#!/bin/bash\necho " + pool.Name + "\n")},
		})
	}
	return objects, nil
}

func userDataName(pool string) string { return "gardener-node-init-" + pool }

func (g gardener) fixture(profile *runtime.RawExtension) contracttest.Fixture {
	return contracttest.Fixture{
		ProviderType: g.subject.Type, TechnicalID: shootIdentity().TechnicalID, UID: types.UID(shootIdentity().UID),
		CloudProfileConfig: profile, Credentials: g.inputs.Credentials,
	}
}

func (g gardener) cluster(namespace string, changes ...func(*gardencorev1beta1.Shoot)) (*extensionsv1alpha1.Cluster, error) {
	profile, err := encode(g.inputs.CloudProfileConfig)
	if err != nil {
		return nil, err
	}
	fixture := g.fixture(profile)
	shoot := fixture.Shoot()
	for _, change := range changes {
		change(shoot)
	}
	return contracttest.NewCluster(namespace, shoot, fixture.CloudProfile(), fixture.Seed())
}

func managerDeployment(namespace string, replicas int32) *appsv1.Deployment {
	labels := map[string]string{v1beta1constants.LabelApp: "kubernetes", v1beta1constants.LabelRole: "machine-controller-manager"}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: nameManager, Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: nameManager, Image: "registry.example.org/manager:v1"}}},
			},
		},
	}
}

// worker returns the Worker with all pools.
func (g gardener) worker(namespace string) (*extensionsv1alpha1.Worker, error) {
	infrastructure, err := encode(g.inputs.InfrastructureStatus)
	if err != nil {
		return nil, err
	}
	object := newWorker()
	object.ObjectMeta = metav1.ObjectMeta{Namespace: namespace, Name: objectName}
	object.Spec = extensionsv1alpha1.WorkerSpec{
		DefaultSpec:                  extensionsv1alpha1.DefaultSpec{Type: g.subject.Type},
		Region:                       contracttest.Region,
		SecretRef:                    corev1.SecretReference{Namespace: namespace, Name: v1beta1constants.SecretNameCloudProvider},
		InfrastructureProviderStatus: infrastructure,
	}
	for _, pool := range g.inputs.Pools {
		object.Spec.Pools = append(object.Spec.Pools, withDefaults(pool))
	}
	return object, nil
}

// withDefaults sets fields that a subject has left empty.
func withDefaults(pool extensionsv1alpha1.WorkerPool) extensionsv1alpha1.WorkerPool {
	if pool.Maximum == 0 {
		pool.Minimum, pool.Maximum = 1, 3
	}
	pool.MaxSurge, pool.MaxUnavailable = intstr.FromInt32(1), intstr.FromInt32(0)
	pool.UserDataSecretRef = corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: userDataName(pool.Name)}, Key: userDataKey,
	}
	if pool.NodeAgentSecretName == nil {
		pool.NodeAgentSecretName = new("gardener-node-agent-" + pool.Name + "-77ac3")
	}
	if pool.KubernetesVersion == nil {
		pool.KubernetesVersion = new("1.34.2")
	}
	if pool.NodeTemplate == nil {
		pool.NodeTemplate = &extensionsv1alpha1.NodeTemplate{Capacity: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("2"), corev1.ResourceMemory: resource.MustParse("8Gi"),
		}}
	}
	return pool
}

func encode(config runtime.Object) (*runtime.RawExtension, error) {
	if config == nil {
		return nil, nil
	}
	raw, err := json.Marshal(config)
	if err != nil {
		return nil, fmt.Errorf("encoding %T: %w", config, err)
	}
	return &runtime.RawExtension{Raw: raw}, nil
}

// addController adds the controller with a new driver.
func addController(subject Subject, cloud Cloud, mgr manager.Manager, transport contracttest.Transport) error {
	if err := worker.AddToScheme(mgr.GetScheme()); err != nil {
		return err
	}
	driver, err := cloud.NewDriver(transport)
	if err != nil {
		return fmt.Errorf("building the driver: %w", err)
	}
	return worker.AddWithIntervals(mgr, map[string]worker.Driver{subject.Type: driver}, contract.Options{
		Types:      []string{subject.Type},
		Retry:      contract.Retry{Base: 5 * time.Millisecond, Max: 100 * time.Millisecond},
		Registerer: prometheus.NewRegistry(),
	}, worker.Intervals{RestartManagerAfter: restartManagerAfter, UpdatesInterval: 100 * time.Millisecond})
}

// scaleManager scales machine-controller-manager as gardenlet does. It never waits for the simulation.
func scaleManager(ctx context.Context, c client.Client, namespace string, replicas int32) error {
	deployment := managerDeployment(namespace, replicas)
	patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas)
	return c.Patch(ctx, deployment, client.RawPatch(types.MergePatchType, patch))
}
