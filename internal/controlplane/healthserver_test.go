package controlplane

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/contract/contracttest"
)

// healthStage is a ControlPlane that was brought into being, gardener-resource-manager's word on its ManagedResources, and
// the process that looks at them.
type healthStage struct {
	*contracttest.Gardenlet[*extensionsv1alpha1.ControlPlane]
	t         *testing.T
	client    client.Client
	namespace string
	clock     *clocktesting.FakeClock
}

func newHealthStage(t *testing.T, server *contracttest.APIServer) *healthStage {
	t.Helper()
	scheme, err := contracttest.NewScheme()
	require.NoError(t, err)
	require.NoError(t, resourcesv1alpha1.AddToScheme(scheme))
	c, err := client.New(server.Config, client.Options{Scheme: scheme})
	require.NoError(t, err)
	namespace, err := server.NewNamespace(t.Context())
	require.NoError(t, err)
	s := &healthStage{
		Gardenlet: contracttest.NewGardenlet(server, client.ObjectKey{Namespace: namespace, Name: "one"},
			func() *extensionsv1alpha1.ControlPlane { return &extensionsv1alpha1.ControlPlane{} }),
		t: t, client: c, namespace: namespace, clock: clocktesting.NewFakeClock(contracttest.ManagedResourceTime()),
	}
	for _, name := range []string{resourceSeed, resourceShoot, resourceShootCRDs, resourceStorageClasses, "shoot-core-coredns"} {
		s.sets(contracttest.ManagedResource(name))
	}
	require.NoError(t, s.Deploy(t.Context(), &extensionsv1alpha1.ControlPlane{Spec: extensionsv1alpha1.ControlPlaneSpec{
		DefaultSpec: extensionsv1alpha1.DefaultSpec{Type: "test"}, Region: contracttest.Region,
	}}, ""))
	require.NoError(t, s.PatchStatus(t.Context(), func(o *extensionsv1alpha1.ControlPlane) {
		o.Status.LastOperation = &gardencorev1beta1.LastOperation{
			Type: gardencorev1beta1.LastOperationTypeCreate, State: gardencorev1beta1.LastOperationStateSucceeded,
			LastUpdateTime: metav1.NewTime(contracttest.ManagedResourceTime()),
		}
	}))
	return s
}

// run starts the process, which ends with the test.
func (s *healthStage) run(server *contracttest.APIServer) {
	s.t.Helper()
	host := contracttest.Host{Server: server, Namespace: s.namespace, Faults: &contracttest.Faults{}, Journal: &contracttest.Journal{}}
	life, err := host.Start(context.WithoutCancel(s.t.Context()), func(mgr manager.Manager, _ contracttest.Transport) error {
		return errors.Join(AddToScheme(mgr.GetScheme()), AddHealth(mgr, contract.Options{
			Types: []string{"test"}, Clock: s.clock, HealthInterval: 50 * time.Millisecond,
		}))
	})
	require.NoError(s.t, err)
	s.t.Cleanup(func() { require.NoError(s.t, life.Stop()) })
}

// sets makes the API server hold the object with its status.
func (s *healthStage) sets(object client.Object) {
	s.t.Helper()
	desired, ok := object.DeepCopyObject().(client.Object)
	require.True(s.t, ok)
	object.SetNamespace(s.namespace)
	require.NoError(s.t, client.IgnoreAlreadyExists(s.client.Create(s.t.Context(), object)))
	require.NoError(s.t, s.client.Get(s.t.Context(), client.ObjectKeyFromObject(object), object))
	desired.SetNamespace(s.namespace)
	desired.SetResourceVersion(object.GetResourceVersion())
	if resource, ok := desired.(*resourcesv1alpha1.ManagedResource); ok {
		resource.Status.ObservedGeneration = object.GetGeneration()
	}
	if deployment, ok := desired.(*appsv1.Deployment); ok {
		deployment.Status.ObservedGeneration = object.GetGeneration()
	}
	require.NoError(s.t, s.client.Status().Update(s.t.Context(), desired))
}

// deploys adds a Deployment with one pod to the seed part.
func (s *healthStage) deploys(seed *resourcesv1alpha1.ManagedResource, name string, available corev1.ConditionStatus, container corev1.ContainerStatus) {
	s.t.Helper()
	labels := map[string]string{"app": name}
	pod := corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "image"}}}
	s.sets(&appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: pod},
		},
		Status: appsv1.DeploymentStatus{Conditions: []appsv1.DeploymentCondition{isAvailable(available)}},
	})
	s.sets(&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, Spec: pod,
		Status: corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{container}},
	})
	seed.Status.Resources = append(seed.Status.Resources, resourcesv1alpha1.ObjectReference{
		ObjectReference: corev1.ObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Namespace: s.namespace, Name: name},
	})
}

// waitFor waits until the condition has the status and returns it.
func (s *healthStage) waitFor(kind gardencorev1beta1.ConditionType, want gardencorev1beta1.ConditionStatus) gardencorev1beta1.Condition {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	object, err := s.WaitFor(ctx, func(o *extensionsv1alpha1.ControlPlane) error {
		if c := v1beta1helper.GetCondition(o.Status.Conditions, kind); c == nil || c.Status != want {
			return errors.New(string(kind) + " is not " + string(want))
		}
		return nil
	})
	require.NoError(s.t, err)
	return *v1beta1helper.GetCondition(object.Status.Conditions, kind)
}

func TestHealthOnARealAPIServer(t *testing.T) {
	server := apiServer.Get(t)
	t.Run("what ails a Deployment ends up in the condition, and goes again", func(t *testing.T) { testSickDeployment(t, server) })
	t.Run("what blocks a deletion in the shoot does, with its code", func(t *testing.T) { testBlockedDeletion(t, server) })
	t.Run("a shoot that sleeps is healthy", func(t *testing.T) { testSleep(t, server) })
	t.Run("while a shoot falls asleep, what runs in the seed still counts", func(t *testing.T) { testFallingAsleep(t, server) })
	t.Run("a look costs little while all is well, and no more than it must when not", func(t *testing.T) { testCost(t, server) })
}

func testSickDeployment(t *testing.T, server *contracttest.APIServer) {
	s := newHealthStage(t, server)
	s.run(server)
	s.waitFor(controlPlaneHealthy, gardencorev1beta1.ConditionTrue)
	s.waitFor(systemComponentsHealthy, gardencorev1beta1.ConditionTrue)

	crashing := corev1.ContainerStatus{Name: "main", State: waiting("CrashLoopBackOff", "back-off 10s"), LastTerminationState: ended(1, "Error")}
	sick := contracttest.ManagedResource(resourceSeed, contracttest.ManagedResourceState{
		Kind: resourcesv1alpha1.ResourcesHealthy, Status: gardencorev1beta1.ConditionFalse, Reason: "DeploymentUnhealthy", Message: "no detail",
	})
	s.deploys(sick, "cloud-controller-manager", corev1.ConditionFalse, crashing)
	s.deploys(sick, "csi-driver-controller", corev1.ConditionTrue, corev1.ContainerStatus{Name: "main", Ready: true, State: running()})
	s.deploys(sick, "csi-driver-manila-controller", corev1.ConditionFalse, crashing)
	s.sets(sick)
	const sentence = `Deployment "cloud-controller-manager" is not healthy: container "main" waits (CrashLoopBackOff), ` +
		`it last ended with exit code 1 (Error); neither is "csi-driver-manila-controller".`
	assert.Equal(t, sentence, s.waitFor(controlPlaneHealthy, gardencorev1beta1.ConditionProgressing).Message)

	require.NoError(t, s.PatchStatus(t.Context(), func(o *extensionsv1alpha1.ControlPlane) {
		o.Status.LastError = &gardencorev1beta1.LastError{
			Description: "d", Codes: []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorInfraUnauthenticated},
		}
	}))
	s.clock.Step(61 * time.Second)
	condition := s.waitFor(controlPlaneHealthy, gardencorev1beta1.ConditionFalse)
	assert.Equal(t, sentence, condition.Message)
	assert.Equal(t, []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorInfraUnauthenticated}, condition.Codes)
	assert.Equal(t, gardencorev1beta1.ConditionTrue, s.waitFor(systemComponentsHealthy, gardencorev1beta1.ConditionTrue).Status)

	s.sets(contracttest.ManagedResource(resourceSeed))
	assert.Empty(t, s.waitFor(controlPlaneHealthy, gardencorev1beta1.ConditionTrue).Codes)
}

func testBlockedDeletion(t *testing.T, server *contracttest.APIServer) {
	s := newHealthStage(t, server)
	s.run(server)
	s.waitFor(systemComponentsHealthy, gardencorev1beta1.ConditionTrue)
	s.sets(contracttest.ManagedResource(resourceStorageClasses, contracttest.ManagedResourceState{
		Kind: resourcesv1alpha1.ResourcesApplied, Status: gardencorev1beta1.ConditionProgressing,
		Reason: resourcesv1alpha1.ConditionDeletionPending, Message: "StorageClass default still exists", Since: 2 * time.Minute,
	}))
	condition := s.waitFor(systemComponentsHealthy, gardencorev1beta1.ConditionProgressing)
	assert.Equal(t, `Objects of ManagedResource "extension-controlplane-storageclasses" are not deleted yet: StorageClass default still exists.`, condition.Message)
	assert.Equal(t, []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorCleanupClusterResources}, condition.Codes)
	s.waitFor(controlPlaneHealthy, gardencorev1beta1.ConditionTrue)
}

func testFallingAsleep(t *testing.T, server *contracttest.APIServer) {
	s := newHealthStage(t, server)
	require.NoError(t, s.PatchStatus(t.Context(), func(o *extensionsv1alpha1.ControlPlane) {
		require.NoError(t, status{FallingAsleep: true}.leaveIn(o))
	}))
	down := contracttest.ManagedResourceState{Kind: resourcesv1alpha1.ResourcesHealthy, Status: gardencorev1beta1.ConditionFalse, Message: "gone"}
	s.sets(contracttest.ManagedResource(resourceSeed, down))
	s.sets(contracttest.ManagedResource(resourceShoot, down))
	s.run(server)
	s.waitFor(controlPlaneHealthy, gardencorev1beta1.ConditionProgressing)
	s.waitFor(systemComponentsHealthy, gardencorev1beta1.ConditionTrue)
}

func testSleep(t *testing.T, server *contracttest.APIServer) {
	s := newHealthStage(t, server)
	down := contracttest.ManagedResourceState{Kind: resourcesv1alpha1.ResourcesHealthy, Status: gardencorev1beta1.ConditionFalse, Message: "gone"}
	s.sets(contracttest.ManagedResource(resourceSeed, down))
	s.sets(contracttest.ManagedResource(resourceShoot, down))
	s.run(server)
	s.waitFor(controlPlaneHealthy, gardencorev1beta1.ConditionProgressing)
	s.waitFor(systemComponentsHealthy, gardencorev1beta1.ConditionProgressing)

	seed := &resourcesv1alpha1.ManagedResource{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: resourceSeed}}
	asleep := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"controlplane.trellis.garden/asleep":"true"}}}`))
	require.NoError(t, s.client.Patch(t.Context(), seed, asleep))
	assert.Contains(t, s.waitFor(controlPlaneHealthy, gardencorev1beta1.ConditionTrue).Message, "hibernated")
	assert.Contains(t, s.waitFor(systemComponentsHealthy, gardencorev1beta1.ConditionTrue).Message, "hibernated")
}

// countingReader notes the requests of a look.
type countingReader struct {
	client.Reader
	requests []string
}

func (r *countingReader) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	r.requests = append(r.requests, "get "+key.Name)
	return r.Reader.Get(ctx, key, object, options...)
}

func (r *countingReader) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	r.requests = append(r.requests, fmt.Sprintf("list %T", list))
	return r.Reader.List(ctx, list, options...)
}

func testCost(t *testing.T, server *contracttest.APIServer) {
	s := newHealthStage(t, server)
	object, err := s.Get(t.Context())
	require.NoError(t, err)
	reader := &countingReader{Reader: s.client}
	// The API server's memory is a moment behind.
	lookUntil := func(message string) {
		t.Helper()
		require.Eventually(t, func() bool {
			reader.requests = nil
			look := contract.Look[*extensionsv1alpha1.ControlPlane]{Object: object, Reader: reader, Now: contracttest.ManagedResourceTime()}
			findings, err := checkHealth(t.Context(), look)
			require.NoError(t, err)
			assert.Len(t, findings, 2)
			return findings[controlPlaneHealthy].Message == message
		}, 30*time.Second, 20*time.Millisecond)
	}
	lookUntil("")
	well := []string{"get " + resourceSeed, "get " + resourceShoot, "get " + resourceShootCRDs, "get " + resourceStorageClasses}
	assert.Equal(t, well, reader.requests)

	sick := contracttest.ManagedResource(resourceSeed, contracttest.ManagedResourceState{Kind: resourcesv1alpha1.ResourcesHealthy, Status: gardencorev1beta1.ConditionFalse, Message: "gone"})
	s.deploys(sick, "a", corev1.ConditionFalse, corev1.ContainerStatus{Name: "main", State: ended(1, "Error")})
	s.deploys(sick, "b", corev1.ConditionFalse, corev1.ContainerStatus{Name: "main", State: ended(1, "Error")})
	sick.Status.Resources = append(sick.Status.Resources, resourcesv1alpha1.ObjectReference{
		ObjectReference: corev1.ObjectReference{APIVersion: "v1", Kind: "Service", Namespace: s.namespace, Name: "c"},
	})
	s.sets(sick)
	lookUntil(`Deployment "a" is not healthy: container "main" ended with exit code 1 (Error); neither is "b".`)
	assert.Equal(t, append(well, "get a", "get b", "list *v1.PodList"), reader.requests)

	require.NoError(t, s.client.Delete(t.Context(), &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "b"}}))
	lookUntil(`Deployment "b" does not exist.`)
}
