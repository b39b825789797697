package webhook

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// tune is a handler that writes into ConfigMaps.
func tune(_ context.Context, request admission.Request) admission.Response {
	object := &corev1.ConfigMap{}
	if err := json.Unmarshal(request.Object.Raw, object); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	object.Data = map[string]string{"tuned": "true"}
	tuned, err := json.Marshal(object)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	return admission.PatchResponseFromRaw(request.Object.Raw, tuned)
}

func guardWebhook() Webhook {
	guard := configMapWebhook("guard", func(context.Context, admission.Request) admission.Response {
		return admission.Denied("nobody gets past the guard")
	})
	guard.Kind = Validating
	return guard
}

// configMap asks for the webhook of that name.
func (l *environment) configMap(webhook string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: l.namespace, GenerateName: "test-", Labels: map[string]string{"admit": webhook},
	}}
}

// tuned creates a ConfigMap, for no longer than the call lasts, and reports whether the webhook has been at work.
func (l *environment) tuned(ctx context.Context) (bool, error) {
	object := l.configMap("tune")
	err := l.client.Create(ctx, object, client.DryRunAll)
	return object.Data["tuned"] == "true", err
}

func (l *environment) waitTuned(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool {
		tuned, err := l.tuned(t.Context())
		return tuned && err == nil
	}, timeout, interval)
}

// mutating returns the configuration, or an empty one when there is none.
func (l *environment) mutating(t *testing.T) *admissionregistrationv1.MutatingWebhookConfiguration {
	t.Helper()
	object := &admissionregistrationv1.MutatingWebhookConfiguration{}
	err := l.client.Get(t.Context(), client.ObjectKey{Name: l.configName()}, object)
	assert.NoError(t, client.IgnoreNotFound(err))
	return object
}

// deleteAndWait deletes the configuration and waits for another one.
func (l *environment) deleteAndWait(t *testing.T) {
	t.Helper()
	before := l.mutating(t)
	require.NoError(t, l.client.Delete(t.Context(), before))
	require.Eventually(t, func() bool {
		now := l.mutating(t)
		return now.UID != "" && now.UID != before.UID
	}, timeout, interval)
}

// secrets maps the names of the binary's Secrets to their resource versions.
func (l *environment) secrets(t *testing.T) map[string]string {
	t.Helper()
	list := &corev1.SecretList{}
	require.NoError(t, l.client.List(t.Context(), list, client.InNamespace(l.namespace)))
	versions := map[string]string{}
	for _, secret := range list.Items {
		versions[secret.Name] = secret.ResourceVersion
	}
	return versions
}

// TestServe holds processes to their promises against a real API server.
func TestServe(t *testing.T) {
	config, c := startAPIServer(t)
	for sentence, test := range map[string]func(*testing.T, *environment){
		"webhooks are registered and called":                        testRegistration,
		"what others change is repaired, what is right is not":      testRepair,
		"a standby serves what the leader has made, and takes over": testStandby,
		"a replica without a certificate is not ready":              testReadiness,
		"a restart finds everything as it was":                      testRestart,
		"what is not served any more is taken back":                 testDisabled,
		"what is switched off is answered until nobody asks":        testDisabledDuringRequests,
		"who has been let in gets an answer":                        testShutdown,
		"a renewal of the authority fails no request":               testRenewal,
		"two renewals at once fail no request":                      testRenewalDuringRenewal,
		"lost certificates are made again":                          testLostCertificates,
		"shoots reach their own webhooks and no others":             testShoots,
		"a renewal reaches shoots before it is used":                testRenewalInShoots,
	} {
		t.Run(sentence, func(t *testing.T) {
			binary := "binary-" + freeAddress(t)[len("127.0.0.1:"):]
			test(t, newEnvironment(t, config, c, binary))
		})
	}
}

func testRegistration(t *testing.T, l *environment) {
	l.start(t, defaultTiming(), nil, configMapWebhook("tune", tune), guardWebhook())
	l.waitTuned(t)

	registered := l.mutating(t)
	require.Len(t, registered.Webhooks, 1)
	assert.Equal(t, "tune."+l.binary+".extensions.gardener.cloud", registered.Webhooks[0].Name)
	assert.Equal(t, "true", registered.Labels["remediation.webhook.shoot.gardener.cloud/exclude"])
	namespace := &corev1.Namespace{}
	require.NoError(t, l.client.Get(t.Context(), client.ObjectKey{Name: l.namespace}, namespace))
	require.Len(t, registered.OwnerReferences, 1)
	assert.Equal(t, namespace.UID, registered.OwnerReferences[0].UID)

	require.Eventually(t, func() bool {
		return apierrors.IsForbidden(l.client.Create(t.Context(), l.configMap("guard"), client.DryRunAll))
	}, timeout, interval)
	assert.ErrorContains(t, l.client.Create(t.Context(), l.configMap("guard"), client.DryRunAll), "nobody gets past the guard")

	stranger := l.configMap("nobody")
	require.NoError(t, l.client.Create(t.Context(), stranger))
	assert.Empty(t, stranger.Data, "the object selector must keep the webhook away")
	elsewhere := l.configMap("tune")
	elsewhere.Namespace = metav1.NamespaceDefault
	require.NoError(t, l.client.Create(t.Context(), elsewhere))
	assert.Empty(t, elsewhere.Data, "the namespace selector must keep the webhook away")
}

func testRepair(t *testing.T, l *environment) {
	r := l.start(t, quickTiming(), nil, configMapWebhook("tune", tune), guardWebhook())
	l.waitTuned(t)
	desired := l.mutating(t)

	// By then it has also looked for outdated Secrets.
	require.Eventually(t, func() bool {
		return time.Since(l.newest(t, "server").CreationTimestamp.Time) > 2*quickTiming().loadDelay
	}, timeout, interval)
	before := r.writes.Load()
	assert.Never(t, func() bool { return r.writes.Load() > before }, 5*quickTiming().reconcileInterval, interval, "what is right must not be written")

	changed := desired.DeepCopy()
	changed.Webhooks[0].ClientConfig.CABundle = nil
	changed.Webhooks[0].FailurePolicy = new(admissionregistrationv1.Ignore)
	changed.Webhooks[0].MatchConditions = []admissionregistrationv1.MatchCondition{{Name: "never", Expression: "false"}}
	changed.Labels = map[string]string{"foreign": "label"}
	changed.OwnerReferences = nil
	require.NoError(t, l.client.Update(t.Context(), changed))
	require.Eventually(t, func() bool { return l.mutating(t).ResourceVersion != changed.ResourceVersion }, timeout, interval)
	repaired := l.mutating(t)
	assert.Equal(t, desired.Webhooks, repaired.Webhooks)
	assert.Equal(t, desired.OwnerReferences, repaired.OwnerReferences)
	assert.Equal(t, map[string]string{"foreign": "label", "remediation.webhook.shoot.gardener.cloud/exclude": "true"}, repaired.Labels)

	l.deleteAndWait(t)
	assert.Equal(t, desired.Webhooks, l.mutating(t).Webhooks)
}

func testStandby(t *testing.T, l *environment) {
	leader := l.start(t, quickTiming(), nil, configMapWebhook("tune", tune))
	leader.waitReady(t)
	standby := l.start(t, quickTiming(), nil, configMapWebhook("tune", tune))
	standby.waitReady(t)
	require.False(t, standby.isLeader())
	assert.Equal(t, l.servedCertificate(t, leader), l.servedCertificate(t, standby), "both must show the same certificate")

	l.waitTuned(t)
	l.loadBalancer.remove(leader.address)
	leader.stop()
	require.Eventually(t, standby.isLeader, timeout, interval)
	l.waitTuned(t)
	l.deleteAndWait(t)
}

func testReadiness(t *testing.T, l *environment) {
	// Somebody else leads, who makes no certificates.
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: l.binary},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: new("somebody"), LeaseDurationSeconds: new(int32(3600)),
			AcquireTime: new(metav1.NowMicro()), RenewTime: new(metav1.NowMicro()),
		},
	}
	require.NoError(t, l.client.Create(t.Context(), lease))
	standby := l.start(t, quickTiming(), nil, configMapWebhook("tune", tune))
	require.Eventually(t, func() bool {
		status, _ := standby.readiness(t.Context())
		return status == http.StatusInternalServerError
	}, timeout, interval)
	assert.True(t, refusesConnections(t, standby.address), "it must not listen either")

	require.NoError(t, l.client.Delete(t.Context(), lease))
	standby.waitReady(t)
}

func testRestart(t *testing.T, l *environment) {
	before := l.start(t, quickTiming(), nil, configMapWebhook("tune", tune))
	l.waitTuned(t)
	// By then the leader had time to do everything that it ever does.
	require.Eventually(t, func() bool {
		return time.Since(l.newest(t, "server").CreationTimestamp.Time) > 2*quickTiming().loadDelay
	}, timeout, interval)
	secrets, registered, shown := l.secrets(t), l.mutating(t), l.servedCertificate(t, before)
	before.stop()
	assert.Equal(t, secrets, l.secrets(t), "a process that ends leaves everything behind")
	assert.Equal(t, registered, l.mutating(t), "a process that ends leaves everything behind")

	after := l.start(t, quickTiming(), nil, configMapWebhook("tune", tune))
	after.waitReady(t)
	require.Eventually(t, after.isLeader, timeout, interval)
	assert.Never(t, func() bool { return after.writes.Load() > 0 }, 5*quickTiming().reconcileInterval, interval, "there is nothing to do")
	assert.Equal(t, secrets, l.secrets(t))
	assert.Equal(t, shown, l.servedCertificate(t, after))
}

func testDisabled(t *testing.T, l *environment) {
	webhooks := []Webhook{configMapWebhook("tune", tune), configMapWebhook("wait", allow), guardWebhook()}
	key := client.ObjectKey{Name: l.configName()}
	first := l.start(t, quickTiming(), nil, webhooks...)
	require.Eventually(t, func() bool {
		return l.client.Get(t.Context(), key, &admissionregistrationv1.ValidatingWebhookConfiguration{}) == nil
	}, timeout, interval)
	require.Len(t, l.mutating(t).Webhooks, 2)

	first.stop()
	second := l.start(t, quickTiming(), []string{"wait", "guard"}, webhooks...)
	require.Eventually(t, func() bool { return len(l.mutating(t).Webhooks) == 1 }, timeout, interval)
	assert.Equal(t, "tune."+l.binary+".extensions.gardener.cloud", l.mutating(t).Webhooks[0].Name)
	require.Eventually(t, func() bool {
		return apierrors.IsNotFound(l.client.Get(t.Context(), key, &admissionregistrationv1.ValidatingWebhookConfiguration{}))
	}, timeout, interval)
	second.stop()

	l.start(t, quickTiming(), []string{"tune", "wait", "guard"}, webhooks...)
	require.Eventually(t, func() bool {
		return apierrors.IsNotFound(l.client.Get(t.Context(), key, &admissionregistrationv1.MutatingWebhookConfiguration{})) &&
			len(l.secrets(t)) == 0
	}, timeout, interval)
	tuned, err := l.tuned(t.Context())
	require.NoError(t, err)
	assert.False(t, tuned)
}

// testDisabledDuringRequests lets a replica whose webhooks are switched off take the place of one that serves them, while they are asked.
func testDisabledDuringRequests(t *testing.T, l *environment) {
	before := l.start(t, quickTiming(), nil, configMapWebhook("tune", tune))
	before.waitReady(t)
	l.waitTuned(t)

	asking, stop := context.WithCancel(t.Context())
	var asked int
	var failures []error
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ; asking.Err() == nil; asked++ {
			if _, err := l.tuned(t.Context()); err != nil {
				failures = append(failures, err)
			}
		}
	}()
	after := l.start(t, quickTiming(), []string{"tune"}, configMapWebhook("tune", tune))
	after.waitReady(t)
	before.stop()
	assert.Eventually(t, func() bool { return len(l.mutating(t).Webhooks) == 0 && len(l.secrets(t)) == 0 }, timeout, interval)
	stop()
	<-done
	assert.Empty(t, failures, "of %d requests", asked)
	assert.Greater(t, asked, 10)

	again := l.start(t, quickTiming(), []string{"tune"}, configMapWebhook("tune", tune))
	again.waitReady(t) // with nothing to show, and nobody who asks
}

func testShutdown(t *testing.T, l *environment) {
	called, release := make(chan struct{}, 1), make(chan struct{})
	r := l.start(t, quickTiming(), nil, configMapWebhook("wait", func(ctx context.Context, request admission.Request) admission.Response {
		if request.Name == "first" {
			called <- struct{}{}
			select {
			case <-release:
			case <-ctx.Done():
				return admission.Errored(http.StatusInternalServerError, ctx.Err())
			}
		}
		return admission.Allowed("")
	}))
	r.waitReady(t)
	require.Eventually(t, func() bool { return len(l.mutating(t).Webhooks) == 1 }, timeout, interval)
	created := make(chan error, 1)
	go func() {
		object := l.configMap("wait")
		object.Name = "first"
		for { // the API server needs a moment to see the webhook
			err := l.client.Create(t.Context(), object.DeepCopy(), client.DryRunAll)
			select {
			case <-release:
				created <- err
				return
			default:
			}
		}
	}()
	<-called
	stopped := make(chan struct{})
	go func() {
		r.stop()
		close(stopped)
	}()
	require.Eventually(t, func() bool { return refusesConnections(t, r.address) }, timeout, interval, "it must be on its way down")
	close(release)
	assert.NoError(t, <-created)
	<-stopped
}
