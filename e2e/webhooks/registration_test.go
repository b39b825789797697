package webhooks

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"flag"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/trellis-garden/trellis/e2e/internal/controller"
)

// -update writes the golden files instead of comparing with them.
var update = flag.Bool("update", false, "write golden files")

// startOne starts the replica that serves all parts of Objects.
func startOne(t *testing.T, env *environment) {
	t.Helper()
	env.createEtcds(t)
	r := env.start(t, controller.Options{}, append(env.byURL(),
		"--etcd-main-storage-class=fast", "--etcd-main-storage-capacity=25Gi", "--etcd-events-storage-capacity=15Gi")...)
	env.loadBalancer.setBackends(r.address)
	env.waitForCalls(t)
}

// testRegistration looks at what the API server is told.
func testRegistration(t *testing.T, env *environment) {
	assertGolden(t, "url.yaml", env.registeredText(t))
	authorities := env.authorities(t)
	require.Len(t, authorities, 1)
	for _, w := range env.registered(t).Webhooks {
		assert.Equal(t, authorities[0].Data["ca.crt"], w.ClientConfig.CABundle)
	}
	env.assertTrusted(t, env.running[0], env.loadBalancer.host)
}

// registeredText returns what is registered, with words in the place of what differs from test to test.
func (env *environment) registeredText(t *testing.T) string {
	t.Helper()
	object := env.registered(t)
	namespace := &corev1.Namespace{}
	require.NoError(t, env.Client.Get(t.Context(), client.ObjectKey{Name: env.namespace}, namespace))
	object.ObjectMeta = metav1.ObjectMeta{Name: object.Name, Labels: object.Labels, Annotations: object.Annotations, OwnerReferences: object.OwnerReferences}
	for i := range object.Webhooks {
		assert.NotEmpty(t, object.Webhooks[i].ClientConfig.CABundle)
		object.Webhooks[i].ClientConfig.CABundle = nil
	}
	text, err := yaml.Marshal(object)
	require.NoError(t, err)
	return strings.NewReplacer(string(namespace.UID), "the UID of the namespace", env.loadBalancer.address, "webhooks.example.org").Replace(string(text))
}

func assertGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o750))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	assert.Equal(t, readFile(t, path), got, "%s differs, -update accepts it", path)
}

// authorities returns the Secrets of the controller's certificate authorities.
func (env *environment) authorities(t *testing.T) []corev1.Secret {
	t.Helper()
	list := &corev1.SecretList{}
	require.NoError(t, env.Client.List(t.Context(), list, client.InNamespace(env.namespace),
		client.MatchingLabels{"name": "ca-" + env.namespace + "-webhook"}))
	return list.Items
}

// secrets maps the names of all of the controller's Secrets to their resource versions.
func (env *environment) secrets(t *testing.T) map[string]string {
	t.Helper()
	list := &corev1.SecretList{}
	require.NoError(t, env.Client.List(t.Context(), list, client.InNamespace(env.namespace)))
	versions := map[string]string{}
	for _, secret := range list.Items {
		versions[secret.Name] = secret.ResourceVersion
	}
	return versions
}

// bundle returns the CA bundle by which the API server trusts the webhooks.
func (env *environment) bundle(t *testing.T) []byte {
	t.Helper()
	webhooks := env.registered(t).Webhooks
	require.NotEmpty(t, webhooks)
	for _, w := range webhooks {
		assert.Equal(t, webhooks[0].ClientConfig.CABundle, w.ClientConfig.CABundle)
	}
	return webhooks[0].ClientConfig.CABundle
}

// assertTrusted makes a handshake with a replica as the API server does that calls a host.
func (env *environment) assertTrusted(t *testing.T, r *replica, host string) {
	t.Helper()
	_, err := handshake(r.address, host, env.bundle(t))
	assert.NoError(t, err)
}

// handshake returns the certificate that is shown at an address to those who ask for the host and trust the bundle.
func handshake(address, host string, bundle []byte) (*x509.Certificate, error) {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(bundle)
	connection, err := tls.Dial("tcp", address, &tls.Config{RootCAs: roots, ServerName: host})
	if err != nil {
		return nil, err
	}
	defer func() { _ = connection.Close() }()
	return connection.ConnectionState().PeerCertificates[0], nil
}

// testRepair lets somebody break what is registered. From then on nothing that the webhooks are for gets through, and
// everything else does. The controller looks after it every half minute.
func testRepair(t *testing.T, env *environment) {
	right := env.registered(t)
	wrong := right.DeepCopy()
	for i := range wrong.Webhooks {
		wrong.Webhooks[i].ClientConfig.CABundle = unrelatedCA(t)
	}
	wrong.Webhooks[0].FailurePolicy = new(admissionregistrationv1.Ignore)
	wrong.Labels, wrong.OwnerReferences = nil, nil
	require.NoError(t, env.Client.Update(t.Context(), wrong))

	eventually(t, "the API server trusts nobody", func() bool {
		_, err := env.webhookCalled(t.Context())
		return err != nil && strings.Contains(err.Error(), "failed calling webhook") && strings.Contains(err.Error(), "certificate")
	})
	other := golden(t, "1.36", "kube-controller-manager.before", env.reference)
	assert.NoError(t, env.Client.Create(t.Context(), other, client.DryRunAll), "what the webhooks are not for")

	env.waitForCalls(t)
	repaired := env.registered(t)
	assert.Equal(t, right.Webhooks, repaired.Webhooks)
	assert.Equal(t, right.OwnerReferences, repaired.OwnerReferences)
	assert.Equal(t, right.Labels, repaired.Labels)
}

// unrelatedCA returns a certificate that has signed nothing of ours.
func unrelatedCA(t *testing.T) []byte {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	server.StartTLS()
	defer server.Close()
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
}

// testModes restarts the controller in the modes of a cluster with Services. Nobody can call it, but whoever could would find
// the Service by the name that the certificate is for. The authority stays.
func testModes(t *testing.T, env *environment) {
	env.running[0].stop(t)
	before := env.bundle(t)
	var shown [2]string
	for i, mode := range []struct{ name, host string }{
		{"service", registration + "." + env.namespace + ".svc"},
		{"url-service", registration + "." + env.namespace},
	} {
		r := env.start(t, controller.Options{}, "--webhook-config-mode="+mode.name, "--webhook-config-service-port=443")
		eventually(t, "mode "+mode.name+" is registered", func() bool {
			config := env.registered(t).Webhooks[0].ClientConfig
			return (config.Service != nil) == (mode.name == "service") && (config.URL == nil || !strings.Contains(*config.URL, env.loadBalancer.address))
		})
		assertGolden(t, mode.name+".yaml", env.registeredText(t))
		assert.Equal(t, before, env.bundle(t))
		env.assertTrusted(t, r, mode.host)
		certificate, err := handshake(r.address, mode.host, env.bundle(t))
		require.NoError(t, err)
		shown[i] = certificate.SerialNumber.String()
		r.stop(t)
	}
	assert.Equal(t, shown[0], shown[1], "a Service has one certificate in both modes")
}

// testDisabled takes everything back.
func testDisabled(t *testing.T, env *environment) {
	env.running[0].stop(t)
	require.NotEmpty(t, env.registered(t).Webhooks)
	require.NotEmpty(t, env.secrets(t))
	env.start(t, controller.Options{}, "--disable-webhooks=*")
	eventually(t, "nothing is registered", func() bool {
		err := env.Client.Get(t.Context(), client.ObjectKey{Name: registration}, &admissionregistrationv1.MutatingWebhookConfiguration{})
		require.NoError(t, client.IgnoreNotFound(err))
		return apierrors.IsNotFound(err) && len(env.secrets(t)) == 0
	})
	eventually(t, "the API server calls nobody", func() bool {
		completed, err := env.webhookCalled(t.Context())
		return err == nil && !completed
	})
}
