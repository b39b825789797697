package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/trellis-garden/trellis/internal/manager"
)

// shootRegistrations are those of some shoots, in memory.
type shootRegistrations struct {
	mutex   sync.Mutex
	bundles [][]byte
	err     error
}

// Trust implements ShootRegistrations.
func (s *shootRegistrations) Trust(_ context.Context, caBundle []byte) ([][]byte, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	before := bytes.Clone(bytes.Join(s.bundles, nil))
	if s.err != nil {
		return nil, s.err
	}
	s.bundles = [][]byte{caBundle}
	return [][]byte{before}, nil
}

func (s *shootRegistrations) bundle() string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return string(bytes.Join(s.bundles, nil))
}

// shootWebhook is one for shoots that changes ConfigMaps.
func shootWebhook(handler admission.HandlerFunc) Webhook {
	return Webhook{Name: "wait", Kind: Mutating, Shoots: true, Handler: handler}
}

// review asks a webhook about a ConfigMap as a kube-apiserver does that trusts a CA bundle, and returns the status and the response.
func review(t *testing.T, address, path, caBundle string) (int, *admissionv1.AdmissionResponse) {
	t.Helper()
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM([]byte(caBundle)))
	client := &http.Client{Timeout: timeout, Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: roots}}}
	question := admissionv1.AdmissionReview{Request: &admissionv1.AdmissionRequest{UID: "1", Object: runtime.RawExtension{Raw: []byte(`{"kind":"ConfigMap"}`)}}}
	question.APIVersion, question.Kind = admissionv1.SchemeGroupVersion.String(), "AdmissionReview"
	body, err := json.Marshal(question)
	require.NoError(t, err)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+address+path, bytes.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	if response.StatusCode != http.StatusOK {
		return response.StatusCode, nil
	}
	answer := admissionv1.AdmissionReview{}
	require.NoError(t, json.Unmarshal(content, &answer))
	return response.StatusCode, answer.Response
}

func testShoots(t *testing.T, l *environment) {
	l.shoots = &shootRegistrations{}
	r := l.start(t, quickTiming(), nil, configMapWebhook("tune", tune), shootWebhook(tune))
	r.waitReady(t)
	l.waitTuned(t)
	require.Eventually(t, func() bool { return l.shoots.bundle() != "" }, timeout, interval, "shoots get the CA bundle")
	bundle := l.shoots.bundle()

	status, response := review(t, r.shootAddress, "/wait", bundle)
	require.Equal(t, http.StatusOK, status)
	assert.True(t, response.Allowed)
	assert.Contains(t, string(response.Patch), "tuned")
	for sentence, target := range map[string]struct{ address, path string }{
		"a webhook of the seed at the port of shoots": {r.shootAddress, "/tune"},
		"another path": {r.shootAddress, "/"},
		"a webhook of shoots at the port of the seed":  {r.address, "/wait"},
		"a path of the seed by a detour in the path":   {r.shootAddress, "/wait/../tune"},
		"a path of the seed in other letters":          {r.shootAddress, "/%74une"},
		"a path below the webhook of shoots":           {r.shootAddress, "/wait/tune"},
		"a webhook of the seed with a query of shoots": {r.shootAddress, "/tune?/wait"},
	} {
		status, _ := review(t, target.address, target.path, bundle)
		assert.Equal(t, http.StatusNotFound, status, sentence)
	}
	registered := l.mutating(t)
	require.Len(t, registered.Webhooks, 1, "the cluster's own API server does not know it")
	assert.Equal(t, "tune."+l.binary+".extensions.gardener.cloud", registered.Webhooks[0].Name)
}

func testRenewalInShoots(t *testing.T, l *environment) {
	l.shoots = &shootRegistrations{}
	leader := l.start(t, quickTiming(), nil, configMapWebhook("tune", tune), shootWebhook(tune))
	leader.waitReady(t)
	first := l.newest(t, "authority")
	require.Eventually(t, func() bool { return l.shoots.bundle() == string(first.Data["ca.crt"]) }, timeout, interval)

	l.shoots.mutex.Lock()
	l.shoots.err = errors.New("the seed is down")
	l.shoots.mutex.Unlock()
	second := l.renew(t)
	assert.Never(t, func() bool { return l.signed(t) }, quickTiming().trustDelay+time.Second, interval, "shoots must trust the new authority first")
	l.shoots.mutex.Lock()
	l.shoots.err = nil
	l.shoots.mutex.Unlock()
	require.Eventually(t, func() bool { return l.shoots.bundle() == string(second.Data["ca.crt"])+string(first.Data["ca.crt"]) }, timeout, interval)
	assert.False(t, l.signed(t), "kube-apiservers must get time to see it")
	require.Eventually(t, func() bool { return l.signed(t) }, timeout, interval)
	l.waitRenewed(t, leader)
	require.Eventually(t, func() bool { return l.shoots.bundle() == string(second.Data["ca.crt"]) }, timeout, interval)
	status, response := review(t, leader.shootAddress, "/wait", l.shoots.bundle())
	assert.Equal(t, http.StatusOK, status)
	assert.True(t, response.Allowed)
}

func TestCertRotator_RegisterAll(t *testing.T) {
	own := func(k *certRotator) { require.NoError(t, k.reconcile(t.Context())) }
	for sentence, test := range map[string]struct {
		webhooks []Webhook
		shoots   func(bundle []byte) *shootRegistrations
		want     int
		err      string
	}{
		"all shoots trust it": {
			webhooks: []Webhook{configMapWebhook("tune", allow)},
			shoots:   func(bundle []byte) *shootRegistrations { return &shootRegistrations{bundles: [][]byte{bundle}} }, want: 1,
		},
		"a shoot does not": {
			webhooks: []Webhook{configMapWebhook("tune", allow)},
			shoots:   func([]byte) *shootRegistrations { return &shootRegistrations{} },
		},
		"nobody but shoots trusts anything": {
			shoots: func(bundle []byte) *shootRegistrations { return &shootRegistrations{bundles: [][]byte{bundle}} }, want: 1,
		},
		"the registrations cannot be read": {
			webhooks: []Webhook{configMapWebhook("tune", allow)},
			shoots:   func([]byte) *shootRegistrations { return &shootRegistrations{err: errors.New("timeout")} }, err: "in shoots: timeout",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			k := newCertRotator(t, nil, test.webhooks, ownNamespace())
			k.shoots = &shootRegistrations{}
			own(k)
			keys, err := readKeyring(t.Context(), k.client, k.names)
			require.NoError(t, err)
			bundle := keys.bundle(time.Now())
			require.NotEmpty(t, bundle)
			k.shoots = test.shoots(bundle)
			trusted, err := k.registerAll(t.Context(), bundle)
			if test.err != "" {
				require.EqualError(t, err, test.err)
			} else {
				require.NoError(t, err)
			}
			assert.Len(t, trusted, test.want)
		})
	}
}

func TestShootServer_Address(t *testing.T) {
	for sentence, test := range map[string]struct {
		mode, url, want string
	}{
		"a Service":                  {manager.WebhookModeService, "", "https://gardener-extension-controlplane.extension-controlplane:8443"},
		"a Service for another API":  {manager.WebhookModeURLService, "", "https://gardener-extension-controlplane.extension-controlplane:8443"},
		"a URL with a port":          {manager.WebhookModeURL, "example.org:9443", "https://example.org:8443"},
		"a URL without a port":       {manager.WebhookModeURL, "example.org", "https://example.org:8443"},
		"a URL with an IPv6 address": {manager.WebhookModeURL, "[2001:db8::1]:9443", "https://[2001:db8::1]:8443"},
	} {
		t.Run(sentence, func(t *testing.T) {
			p := &manager.Process{Webhooks: manager.WebhookOptions{
				Mode: test.mode, URL: test.url, ConfigName: "gardener-extension-controlplane", Namespace: "extension-controlplane",
				ServicePort: 443, ShootServicePort: 8443,
			}}
			assert.Equal(t, test.want, NewShootServer(p).Address)
		})
	}
}

// A denial, an error and a panic are counted and logged, and users of shoots do not see them.
func TestServer_ShootsAreNeverDenied(t *testing.T) {
	for sentence, test := range map[string]struct {
		handler admission.HandlerFunc
		logged  string
		counted string
	}{
		"an error": {
			func(context.Context, admission.Request) admission.Response {
				return admission.Errored(http.StatusInternalServerError, errors.New("out of order"))
			},
			`"error"="out of order"`, resultFailed,
		},
		"a denial": {
			func(context.Context, admission.Request) admission.Response { return admission.Denied("no") }, `"error"="no"`, resultRefused,
		},
		"a panic": {
			func(context.Context, admission.Request) admission.Response { panic("out of bounds") }, `"error"="out of bounds"`, resultFailed,
		},
		"nothing at all": {allow, "", resultAllowed},
	} {
		t.Run(sentence, func(t *testing.T) {
			var logs strings.Builder
			log := funcr.New(func(_, args string) { logs.WriteString(args) }, funcr.Options{})
			registry := prometheus.NewRegistry()
			results, err := newResults(registry)
			require.NoError(t, err)
			completed, err := complete([]Webhook{shootWebhook(test.handler)}, []string{"wait"})
			require.NoError(t, err)
			answer := completed[0].handler(results).Handle(logf.IntoContext(t.Context(), log), admission.Request{})
			assert.True(t, answer.Allowed)
			assert.Empty(t, answer.Patches)
			assert.Contains(t, logs.String(), test.logged)
			assert.Equal(t, map[string]float64{test.counted: 1}, countsOf(t, registry))
		})
	}
}

func TestServe_ShootsWithoutPort(t *testing.T) {
	p := &manager.Process{Webhooks: manager.WebhookOptions{Compiled: []string{"wait"}}}
	require.ErrorContains(t, serve(p, defaultTiming(), &shootRegistrations{}, []Webhook{shootWebhook(allow)}), `webhook "wait" is for shoots, the binary is not`)
	p.Webhooks.ShootServerPort = 9444
	require.ErrorContains(t, serve(p, defaultTiming(), nil, []Webhook{shootWebhook(allow)}), `webhook "wait" is for shoots, the binary is not`)
}
