package idle

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/audit"
	"github.com/trellis-garden/trellis/e2e/internal/clusters"
	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/seed"
)

const (
	// shoots is how many shoots are idle. Each request for one of them is found, however many there are.
	shoots = 20
	// healthInterval is the shortest time between two checks of an object.
	healthInterval = 30 * time.Second
	prefix         = "shoot--idle--"
)

// condition is a condition that one of our controllers writes.
type condition struct {
	of   client.Object
	kind gardencorev1beta1.ConditionType
}

func TestIdle(t *testing.T) {
	s := clusterstest.New(t, clusters.Options{Bare: true, Seed: []seed.Option{seed.WithControlPlaneKinds()}}).Source
	var all errgroup.Group
	all.SetLimit(16)
	for i := range shoots {
		all.Go(func() error { return createShoot(t.Context(), s.Client, fmt.Sprintf("%s%d", prefix, i)) })
	}
	require.NoError(t, all.Wait())
	binaries := []controller.Binary{controller.Infrastructure(), controller.ControlPlane(), controller.Network(), controller.Worker()}
	startControllers(t, s, binaries)
	for i := range shoots {
		for _, c := range conditionsOf(fmt.Sprintf("%s%d", prefix, i)) {
			clusterstest.Eventually(t, fmt.Sprintf("%T of shoot %d is %s", c.of, i, c.kind), func() bool { return status(t, s.Client, c) == gardencorev1beta1.ConditionTrue })
		}
	}

	time.Sleep(3 * time.Second) // for the checks that follow the last conditions, and until the audit log has all requests
	before := map[string]int{}
	for _, what := range binaries {
		before[what.Name] = len(requestsForShoots(t, s.AuditLog(), what))
	}
	assert.Positive(t, before[controller.ControlPlane().Name], "the conditions were written")
	time.Sleep(healthInterval + healthInterval/2) // each object is checked at least once
	for _, what := range binaries {
		assert.Empty(t, requestsForShoots(t, s.AuditLog(), what)[before[what.Name]:], "%s: healthy shoots cost no request", what.Name)
	}

	one := prefix + "0"
	unhealthy := managedResource(one, "extension-controlplane-seed")
	require.NoError(t, s.Client.Get(t.Context(), client.ObjectKeyFromObject(unhealthy), unhealthy))
	unhealthy.Status.Conditions[1].Status, unhealthy.Status.Conditions[1].Message = gardencorev1beta1.ConditionFalse, "csi-driver-controller has no pod"
	require.NoError(t, s.Client.Status().Update(t.Context(), unhealthy))
	failing := time.Now()
	clusterstest.Eventually(t, "the ControlPlane is unhealthy", func() bool {
		return status(t, s.Client, conditionsOf(one)[0]) == gardencorev1beta1.ConditionProgressing
	})
	t.Logf("a failure was reported after %.1f s", time.Since(failing).Seconds())
}

func startControllers(t *testing.T, s *clusters.Seed, binaries []controller.Binary) {
	t.Helper()
	for _, what := range binaries {
		path, err := what.Build(t.Context())
		require.NoError(t, err)
		options := controller.Options{Path: path}
		if slices.Contains([]string{controller.ControlPlane().Name, controller.Worker().Name}, what.Name) {
			options.Args, err = what.WebhookArgs()
			require.NoError(t, err)
		}
		_, err = s.StartController(t.Context(), what, options)
		require.NoError(t, err)
	}
}

func status(t *testing.T, c client.Client, of condition) gardencorev1beta1.ConditionStatus {
	t.Helper()
	require.True(t, clusterstest.Get(t, c, of.of))
	for _, found := range of.of.(extensionsv1alpha1.Object).GetExtensionStatus().GetConditions() {
		if found.Type == of.kind {
			return found.Status
		}
	}
	return ""
}

// requestsForShoots returns a controller's requests for objects of shoots. Watches of all namespaces are not among them.
func requestsForShoots(t *testing.T, log audit.Log, what controller.Binary) []audit.Request {
	t.Helper()
	requests, err := log.Requests(what.Name)
	require.NoError(t, err)
	return slices.DeleteFunc(requests, func(r audit.Request) bool { return !strings.HasPrefix(r.Namespace, prefix) })
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

// createShoot creates the objects of a shoot that has been created, and whose components are healthy.
func createShoot(ctx context.Context, c client.Client, namespace string) error {
	if err := c.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		return err
	}
	created := extensionsv1alpha1.DefaultStatus{ObservedGeneration: 1, LastOperation: &gardencorev1beta1.LastOperation{
		Type: gardencorev1beta1.LastOperationTypeCreate, State: gardencorev1beta1.LastOperationStateSucceeded, Progress: 100, LastUpdateTime: metav1.Now(),
	}}
	meta := metav1.ObjectMeta{Namespace: namespace, Name: "one"}
	ofCloud := extensionsv1alpha1.DefaultSpec{Type: "openstack"}
	secret := corev1.SecretReference{Namespace: namespace, Name: "cloudprovider"}
	deployment := &machinev1alpha1.MachineDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "one-cpu-z1"}}
	deployment.Spec.Replicas = 1
	deployment.Status = machinev1alpha1.MachineDeploymentStatus{
		ObservedGeneration: 1, Replicas: 1, UpdatedReplicas: 1, ReadyReplicas: 1, AvailableReplicas: 1,
		Conditions: []machinev1alpha1.MachineDeploymentCondition{{Type: machinev1alpha1.MachineDeploymentAvailable, Status: machinev1alpha1.ConditionTrue}},
	}
	objects := []client.Object{
		&extensionsv1alpha1.Infrastructure{
			ObjectMeta: meta, Spec: extensionsv1alpha1.InfrastructureSpec{DefaultSpec: ofCloud, Region: "r", SecretRef: secret},
			Status: extensionsv1alpha1.InfrastructureStatus{DefaultStatus: created},
		},
		&extensionsv1alpha1.ControlPlane{
			ObjectMeta: meta, Spec: extensionsv1alpha1.ControlPlaneSpec{DefaultSpec: ofCloud, Region: "r", SecretRef: secret},
			Status: extensionsv1alpha1.ControlPlaneStatus{DefaultStatus: created},
		},
		&extensionsv1alpha1.Network{
			ObjectMeta: meta, Spec: extensionsv1alpha1.NetworkSpec{DefaultSpec: extensionsv1alpha1.DefaultSpec{Type: "calico"}, PodCIDR: "100.96.0.0/11", ServiceCIDR: "100.64.0.0/13"},
			Status: extensionsv1alpha1.NetworkStatus{DefaultStatus: created},
		},
		&extensionsv1alpha1.Worker{
			ObjectMeta: meta, Spec: extensionsv1alpha1.WorkerSpec{DefaultSpec: ofCloud, Region: "r", SecretRef: secret, Pools: []extensionsv1alpha1.WorkerPool{}},
			Status: extensionsv1alpha1.WorkerStatus{
				DefaultStatus: created, MachineDeployments: []extensionsv1alpha1.MachineDeployment{{Name: deployment.Name, Minimum: 1, Maximum: 1}},
			},
		},
		deployment,
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

// managedResource is healthy.
func managedResource(namespace, name string) *resourcesv1alpha1.ManagedResource {
	resource := &resourcesv1alpha1.ManagedResource{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	resource.Spec.SecretRefs = []corev1.LocalObjectReference{{Name: name}}
	resource.Status.ObservedGeneration = 1
	for _, c := range []struct {
		kind   gardencorev1beta1.ConditionType
		status gardencorev1beta1.ConditionStatus
	}{
		{resourcesv1alpha1.ResourcesApplied, gardencorev1beta1.ConditionTrue},
		{resourcesv1alpha1.ResourcesHealthy, gardencorev1beta1.ConditionTrue},
		{resourcesv1alpha1.ResourcesProgressing, gardencorev1beta1.ConditionFalse},
	} {
		resource.Status.Conditions = append(resource.Status.Conditions, gardencorev1beta1.Condition{
			Type: c.kind, Status: c.status, Reason: "Tested", Message: "By the test.", LastTransitionTime: metav1.Now(), LastUpdateTime: metav1.Now(),
		})
	}
	return resource
}
