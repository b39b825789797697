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

// healthEnvironment is a ControlPlane that was brought into being, gardener-resource-manager's word on its ManagedResources, and
// the process that looks at them.
type healthEnvironment struct {
	*contracttest.Gardenlet[*extensionsv1alpha1.ControlPlane]
	t         *testing.T
	client    client.Client
	namespace string
	clock     *clocktesting.FakeClock
}

func newHealthEnvironment(t *testing.T, server *contracttest.APIServer) *healthEnvironment {
	t.Helper()
	scheme, err := contracttest.NewScheme()
	require.NoError(t, err)
	require.NoError(t, resourcesv1alpha1.AddToScheme(scheme))
	c, err := client.New(server.Config, client.Options{Scheme: scheme})
	require.NoError(t, err)
	namespace, err := server.NewNamespace(t.Context())
	require.NoError(t, err)
	env := &healthEnvironment{
		Gardenlet: contracttest.NewGardenlet(server, client.ObjectKey{Namespace: namespace, Name: "one"},
			func() *extensionsv1alpha1.ControlPlane { return &extensionsv1alpha1.ControlPlane{} }),
		t: t, client: c, namespace: namespace, clock: clocktesting.NewFakeClock(contracttest.ManagedResourceTime()),
	}
	for _, name := range []string{resourceSeed, resourceShoot, resourceShootCRDs, resourceStorageClasses, "shoot-core-coredns"} {
		env.setObject(contracttest.ManagedResource(name))
	}
	require.NoError(t, env.Deploy(t.Context(), &extensionsv1alpha1.ControlPlane{Spec: extensionsv1alpha1.ControlPlaneSpec{
		DefaultSpec: extensionsv1alpha1.DefaultSpec{Type: "test"}, Region: contracttest.Region,
	}}, ""))
	require.NoError(t, env.PatchStatus(t.Context(), func(o *extensionsv1alpha1.ControlPlane) {
		o.Status.LastOperation = &gardencorev1beta1.LastOperation{
			Type: gardencorev1beta1.LastOperationTypeCreate, State: gardencorev1beta1.LastOperationStateSucceeded,
			LastUpdateTime: metav1.NewTime(contracttest.ManagedResourceTime()),
		}
	}))
	return env
}

// run starts the process, which ends with the test.
func (env *healthEnvironment) run(server *contracttest.APIServer) {
	env.t.Helper()
	host := contracttest.Host{
		Server: server, Namespace: env.namespace, Faults: &contracttest.Faults{}, Journal: &contracttest.Journal{}, CacheTransform: CacheTransform,
	}
	instance, err := host.Start(context.WithoutCancel(env.t.Context()), func(mgr manager.Manager, _ contracttest.Transport) error {
		return errors.Join(AddToScheme(mgr.GetScheme()), AddHealth(mgr, contract.Options{
			Types: []string{"test"}, Clock: env.clock, HealthInterval: 50 * time.Millisecond,
		}))
	})
	require.NoError(env.t, err)
	env.t.Cleanup(func() { require.NoError(env.t, instance.Stop()) })
}

// setObject makes the API server hold the object with its status.
func (env *healthEnvironment) setObject(object client.Object) {
	env.t.Helper()
	desired, ok := object.DeepCopyObject().(client.Object)
	require.True(env.t, ok)
	object.SetNamespace(env.namespace)
	require.NoError(env.t, client.IgnoreAlreadyExists(env.client.Create(env.t.Context(), object)))
	require.NoError(env.t, env.client.Get(env.t.Context(), client.ObjectKeyFromObject(object), object))
	desired.SetNamespace(env.namespace)
	desired.SetResourceVersion(object.GetResourceVersion())
	if resource, ok := desired.(*resourcesv1alpha1.ManagedResource); ok {
		resource.Status.ObservedGeneration = object.GetGeneration()
	}
	if deployment, ok := desired.(*appsv1.Deployment); ok {
		deployment.Status.ObservedGeneration = object.GetGeneration()
	}
	require.NoError(env.t, env.client.Status().Update(env.t.Context(), desired))
}

// addDeployment adds a Deployment with one pod to the seed part.
func (env *healthEnvironment) addDeployment(seed *resourcesv1alpha1.ManagedResource, name string, available corev1.ConditionStatus, container corev1.ContainerStatus) {
	env.t.Helper()
	labels := map[string]string{"app": name}
	pod := corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "image"}}}
	env.setObject(&appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: pod},
		},
		Status: appsv1.DeploymentStatus{Conditions: []appsv1.DeploymentCondition{availableCondition(available)}},
	})
	env.setObject(&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, Spec: pod,
		Status: corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{container}},
	})
	seed.Status.Resources = append(seed.Status.Resources, resourcesv1alpha1.ObjectReference{
		ObjectReference: corev1.ObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Namespace: env.namespace, Name: name},
	})
}

// waitFor waits until the condition has the status and returns it.
func (env *healthEnvironment) waitFor(kind gardencorev1beta1.ConditionType, want gardencorev1beta1.ConditionStatus) gardencorev1beta1.Condition {
	env.t.Helper()
	ctx, cancel := context.WithTimeout(env.t.Context(), time.Minute)
	defer cancel()
	object, err := env.WaitFor(ctx, func(o *extensionsv1alpha1.ControlPlane) error {
		if c := v1beta1helper.GetCondition(o.Status.Conditions, kind); c == nil || c.Status != want {
			return errors.New(string(kind) + " is not " + string(want))
		}
		return nil
	})
	require.NoError(env.t, err)
	return *v1beta1helper.GetCondition(object.Status.Conditions, kind)
}

func TestHealth(t *testing.T) {
	server := apiServer.Get(t)
	t.Run("what ails a Deployment ends up in the condition, and goes again", func(t *testing.T) { testUnhealthyDeployment(t, server) })
	t.Run("what blocks a deletion in the shoot does, with its code", func(t *testing.T) { testBlockedDeletion(t, server) })
	t.Run("a shoot that sleeps is healthy", func(t *testing.T) { testHibernated(t, server) })
	t.Run("while a shoot is being hibernated, what runs in the seed still counts", func(t *testing.T) { testHibernating(t, server) })
	t.Run("a look costs little while all is well, and no more than it must when not", func(t *testing.T) { testRequestCount(t, server) })
}

func testUnhealthyDeployment(t *testing.T, server *contracttest.APIServer) {
	env := newHealthEnvironment(t, server)
	env.run(server)
	env.waitFor(controlPlaneHealthy, gardencorev1beta1.ConditionTrue)
	env.waitFor(systemComponentsHealthy, gardencorev1beta1.ConditionTrue)

	crashing := corev1.ContainerStatus{Name: "main", State: waiting("CrashLoopBackOff", "back-off 10s"), LastTerminationState: ended(1, "Error")}
	unhealthy := contracttest.ManagedResource(resourceSeed, contracttest.ManagedResourceState{
		Kind: resourcesv1alpha1.ResourcesHealthy, Status: gardencorev1beta1.ConditionFalse, Reason: "DeploymentUnhealthy", Message: "no detail",
	})
	env.addDeployment(unhealthy, "cloud-controller-manager", corev1.ConditionFalse, crashing)
	env.addDeployment(unhealthy, "csi-driver-controller", corev1.ConditionTrue, corev1.ContainerStatus{Name: "main", Ready: true, State: running()})
	env.addDeployment(unhealthy, "csi-driver-manila-controller", corev1.ConditionFalse, crashing)
	env.setObject(unhealthy)
	const sentence = `Deployment "cloud-controller-manager" is not healthy: container "main" waits (CrashLoopBackOff), ` +
		`it last ended with exit code 1 (Error); neither is "csi-driver-manila-controller".`
	assert.Equal(t, sentence, env.waitFor(controlPlaneHealthy, gardencorev1beta1.ConditionProgressing).Message)

	require.NoError(t, env.PatchStatus(t.Context(), func(o *extensionsv1alpha1.ControlPlane) {
		o.Status.LastError = &gardencorev1beta1.LastError{
			Description: "d", Codes: []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorInfraUnauthenticated},
		}
	}))
	env.clock.Step(61 * time.Second)
	condition := env.waitFor(controlPlaneHealthy, gardencorev1beta1.ConditionFalse)
	assert.Equal(t, sentence, condition.Message)
	assert.Equal(t, []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorInfraUnauthenticated}, condition.Codes)
	assert.Equal(t, gardencorev1beta1.ConditionTrue, env.waitFor(systemComponentsHealthy, gardencorev1beta1.ConditionTrue).Status)

	env.setObject(contracttest.ManagedResource(resourceSeed))
	assert.Empty(t, env.waitFor(controlPlaneHealthy, gardencorev1beta1.ConditionTrue).Codes)
}

func testBlockedDeletion(t *testing.T, server *contracttest.APIServer) {
	env := newHealthEnvironment(t, server)
	env.run(server)
	env.waitFor(systemComponentsHealthy, gardencorev1beta1.ConditionTrue)
	env.setObject(contracttest.ManagedResource(resourceStorageClasses, contracttest.ManagedResourceState{
		Kind: resourcesv1alpha1.ResourcesApplied, Status: gardencorev1beta1.ConditionProgressing,
		Reason: resourcesv1alpha1.ConditionDeletionPending, Message: "StorageClass default still exists", Since: 2 * time.Minute,
	}))
	condition := env.waitFor(systemComponentsHealthy, gardencorev1beta1.ConditionProgressing)
	assert.Equal(t, `Objects of ManagedResource "extension-controlplane-storageclasses" are not deleted yet: StorageClass default still exists.`, condition.Message)
	assert.Equal(t, []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorCleanupClusterResources}, condition.Codes)
	env.waitFor(controlPlaneHealthy, gardencorev1beta1.ConditionTrue)
}

func testHibernating(t *testing.T, server *contracttest.APIServer) {
	env := newHealthEnvironment(t, server)
	require.NoError(t, env.PatchStatus(t.Context(), func(o *extensionsv1alpha1.ControlPlane) {
		require.NoError(t, status{Hibernating: true}.writeTo(o))
	}))
	down := contracttest.ManagedResourceState{Kind: resourcesv1alpha1.ResourcesHealthy, Status: gardencorev1beta1.ConditionFalse, Message: "gone"}
	env.setObject(contracttest.ManagedResource(resourceSeed, down))
	env.setObject(contracttest.ManagedResource(resourceShoot, down))
	env.run(server)
	env.waitFor(controlPlaneHealthy, gardencorev1beta1.ConditionProgressing)
	env.waitFor(systemComponentsHealthy, gardencorev1beta1.ConditionTrue)
}

func testHibernated(t *testing.T, server *contracttest.APIServer) {
	env := newHealthEnvironment(t, server)
	down := contracttest.ManagedResourceState{Kind: resourcesv1alpha1.ResourcesHealthy, Status: gardencorev1beta1.ConditionFalse, Message: "gone"}
	env.setObject(contracttest.ManagedResource(resourceSeed, down))
	env.setObject(contracttest.ManagedResource(resourceShoot, down))
	env.run(server)
	env.waitFor(controlPlaneHealthy, gardencorev1beta1.ConditionProgressing)
	env.waitFor(systemComponentsHealthy, gardencorev1beta1.ConditionProgressing)

	seed := &resourcesv1alpha1.ManagedResource{ObjectMeta: metav1.ObjectMeta{Namespace: env.namespace, Name: resourceSeed}}
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"controlplane.trellis.garden/hibernated":"true"}}}`))
	require.NoError(t, env.client.Patch(t.Context(), seed, patch))
	assert.Contains(t, env.waitFor(controlPlaneHealthy, gardencorev1beta1.ConditionTrue).Message, "hibernated")
	assert.Contains(t, env.waitFor(systemComponentsHealthy, gardencorev1beta1.ConditionTrue).Message, "hibernated")
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

func testRequestCount(t *testing.T, server *contracttest.APIServer) {
	env := newHealthEnvironment(t, server)
	object, err := env.Get(t.Context())
	require.NoError(t, err)
	reader := &countingReader{Reader: env.client}
	// The API server's memory is a moment behind.
	checkUntil := func(message string) {
		t.Helper()
		require.Eventually(t, func() bool {
			reader.requests = nil
			check := contract.CheckInput[*extensionsv1alpha1.ControlPlane]{
				Object: object, Watched: env.client, Reader: reader, Now: contracttest.ManagedResourceTime(),
			}
			findings, err := checkHealth(t.Context(), check)
			require.NoError(t, err)
			assert.Len(t, findings, 2)
			return findings[controlPlaneHealthy].Message == message
		}, 30*time.Second, 20*time.Millisecond)
	}
	checkUntil("")
	assert.Empty(t, reader.requests, "what is watched is enough for healthy components")

	unhealthy := contracttest.ManagedResource(resourceSeed, contracttest.ManagedResourceState{Kind: resourcesv1alpha1.ResourcesHealthy, Status: gardencorev1beta1.ConditionFalse, Message: "gone"})
	env.addDeployment(unhealthy, "a", corev1.ConditionFalse, corev1.ContainerStatus{Name: "main", State: ended(1, "Error")})
	env.addDeployment(unhealthy, "b", corev1.ConditionFalse, corev1.ContainerStatus{Name: "main", State: ended(1, "Error")})
	unhealthy.Status.Resources = append(unhealthy.Status.Resources, resourcesv1alpha1.ObjectReference{
		ObjectReference: corev1.ObjectReference{APIVersion: "v1", Kind: "Service", Namespace: env.namespace, Name: "c"},
	})
	env.setObject(unhealthy)
	checkUntil(`Deployment "a" is not healthy: container "main" ended with exit code 1 (Error); neither is "b".`)
	assert.Equal(t, []string{"get " + resourceSeed, "get a", "get b", "list *v1.PodList"}, reader.requests)

	require.NoError(t, env.client.Delete(t.Context(), &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: env.namespace, Name: "b"}}))
	checkUntil(`Deployment "b" does not exist.`)
}
