package controlplane

import (
	"context"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/contract/contracttest"
)

const reporterName = "example-route-controller"

// reportingSeed is the ManagedResource of a seed with a component that reports by Events.
func reportingSeed(t *testing.T, states ...contracttest.ManagedResourceState) *resourcesv1alpha1.ManagedResource {
	t.Helper()
	value, err := encodeEventReporters([]EventReporter{{
		Account: reporterName, Codes: map[string]gardencorev1beta1.ErrorCode{"RouteLimitExceeded": gardencorev1beta1.ErrorInfraQuotaExceeded},
	}})
	require.NoError(t, err)
	seed := contracttest.ManagedResource(resourceSeed, states...)
	metav1.SetMetaDataAnnotation(&seed.ObjectMeta, annotationEventReporters, value)
	return seed
}

// reportedEvent is an Event about a ServiceAccount in the shoot, some time before the check.
func reportedEvent(name, account, kind, message string, age time.Duration) *corev1.Event {
	return &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: name},
		InvolvedObject: corev1.ObjectReference{Kind: "ServiceAccount", Namespace: metav1.NamespaceSystem, Name: account},
		Type:           kind, Reason: "CreatingRoutes", Message: message,
		LastTimestamp: metav1.NewTime(eventsNow().Add(-age)),
	}
}

// eventsNow is the time of the check: an Event has the time of its creation at least.
func eventsNow() time.Time { return time.Now().Add(24 * time.Hour).Truncate(time.Second) }

func TestCheckHealth_Events(t *testing.T) {
	server := apiServer.Get(t)
	env := newHealthEnvironment(t, server)
	env.addKubeconfig(t, server)
	env.setAnnotated(reportingSeed(t))
	for sentence, test := range map[string]struct {
		events  []*corev1.Event
		message string
		codes   []gardencorev1beta1.ErrorCode
	}{
		"no Event": {},
		"a recent warning": {
			events:  []*corev1.Event{reportedEvent("a", reporterName, "Warning", "the API does not respond", time.Minute)},
			message: `Component "example-route-controller" reports CreatingRoutes: the API does not respond.`,
			codes:   []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorRetryableInfraDependencies},
		},
		"a warning with a code of the cloud, without the ID of the request": {
			events: []*corev1.Event{reportedEvent("a", reporterName, "Warning",
				"https response error StatusCode: 400, RequestID: 0a1b-2c3d, api error RouteLimitExceeded: the limit of 50 is reached", time.Minute)},
			message: `Component "example-route-controller" reports CreatingRoutes: ` +
				"https response error StatusCode: 400, api error RouteLimitExceeded: the limit of 50 is reached.",
			codes: []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorInfraQuotaExceeded},
		},
		"an old warning": {events: []*corev1.Event{reportedEvent("a", reporterName, "Warning", "the API does not respond", time.Hour)}},
		"a warning, and a success after it": {events: []*corev1.Event{
			reportedEvent("a", reporterName, "Warning", "the API does not respond", 2*time.Minute),
			reportedEvent("b", reporterName, "Normal", "routes are up to date", time.Minute),
		}},
		"a success, and a warning after it": {
			events: []*corev1.Event{
				reportedEvent("a", reporterName, "Normal", "routes are up to date", 2*time.Minute),
				reportedEvent("b", reporterName, "Warning", "the API does not respond", time.Minute),
			},
			message: `Component "example-route-controller" reports CreatingRoutes: the API does not respond.`,
			codes:   []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorRetryableInfraDependencies},
		},
		"a warning about another account": {events: []*corev1.Event{reportedEvent("a", "default", "Warning", "no token", time.Minute)}},
	} {
		t.Run(sentence, func(t *testing.T) {
			for _, event := range test.events {
				require.NoError(t, env.client.Create(t.Context(), event))
				t.Cleanup(func() { assert.NoError(t, env.client.Delete(context.WithoutCancel(t.Context()), event)) })
			}
			findings, err := env.check(t, eventsNow())
			require.NoError(t, err)
			finding := findings[controlPlaneHealthy]
			assert.Equal(t, test.message == "", finding.Healthy)
			assert.Equal(t, test.message, finding.Message)
			assert.Equal(t, test.codes, finding.Codes)
			assert.True(t, findings[systemComponentsHealthy].Healthy)
		})
	}
}

// Without the shoot, the health of the other components is known.
func TestCheckHealth_EventsUnreadable(t *testing.T) {
	server := apiServer.Get(t)
	env := newHealthEnvironment(t, server)
	env.setAnnotated(reportingSeed(t))
	findings, err := env.check(t, eventsNow())
	require.ErrorContains(t, err, "reading the kubeconfig of the shoot")
	assert.NotContains(t, findings, controlPlaneHealthy, "it is unknown")
	assert.True(t, findings[systemComponentsHealthy].Healthy)

	env.setAnnotated(reportingSeed(t, contracttest.ManagedResourceState{
		Kind: resourcesv1alpha1.ResourcesApplied, Status: gardencorev1beta1.ConditionFalse, Message: "forbidden",
	}))
	findings, err = env.check(t, eventsNow())
	require.Error(t, err)
	assert.Contains(t, findings[controlPlaneHealthy].Message, "could not be applied: forbidden")
}

// Nodes go before the controllers, whose reports mean nothing then.
func TestCheckHealth_EventsWhileHibernating(t *testing.T) {
	env := newHealthEnvironment(t, apiServer.Get(t))
	require.NoError(t, env.PatchStatus(t.Context(), func(o *extensionsv1alpha1.ControlPlane) {
		require.NoError(t, status{Hibernating: true}.writeTo(o))
	}))
	env.setAnnotated(reportingSeed(t))
	findings, err := env.check(t, eventsNow())
	require.NoError(t, err, "the shoot is not read")
	assert.True(t, findings[controlPlaneHealthy].Healthy)
}

func TestLastTime(t *testing.T) {
	at := func(minute int) time.Time { return time.Date(2026, 1, 2, 3, minute, 0, 0, time.UTC) }
	assert.Equal(t, at(1), lastTime(&corev1.Event{LastTimestamp: metav1.NewTime(at(1))}))
	assert.Equal(t, at(2), lastTime(&corev1.Event{EventTime: metav1.NewMicroTime(at(2))}))
	assert.Equal(t, at(3), lastTime(&corev1.Event{
		EventTime: metav1.NewMicroTime(at(2)), Series: &corev1.EventSeries{LastObservedTime: metav1.NewMicroTime(at(3))},
	}), "of a series, the last one counts")
	assert.Equal(t, at(4), lastTime(&corev1.Event{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(at(4))}}))
}

// addKubeconfig gives access to a shoot, which is the same API server.
func (env *healthEnvironment) addKubeconfig(t *testing.T, server *contracttest.APIServer) {
	t.Helper()
	require.NoError(t, env.client.Create(t.Context(), KubeconfigSecret(t, server, env.namespace, v1beta1constants.SecretNameGardenerInternal)))
}

// setAnnotated makes the API server hold the object with its annotations and status.
func (env *healthEnvironment) setAnnotated(resource *resourcesv1alpha1.ManagedResource) {
	env.t.Helper()
	annotations := resource.Annotations
	env.setObject(resource)
	found := &resourcesv1alpha1.ManagedResource{}
	require.NoError(env.t, env.client.Get(env.t.Context(), client.ObjectKey{Namespace: env.namespace, Name: resource.Name}, found))
	found.Annotations = annotations
	require.NoError(env.t, env.client.Update(env.t.Context(), found))
}

func (env *healthEnvironment) check(t *testing.T, now time.Time) (contract.Findings, error) {
	t.Helper()
	object, err := env.Get(t.Context())
	require.NoError(t, err)
	return checkHealth(t.Context(), contract.CheckInput[*extensionsv1alpha1.ControlPlane]{
		Object: object, Watched: env.client, Reader: env.client, Now: now,
	})
}
