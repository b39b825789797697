package seeds

import (
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const secretPath = "GET /api/v1/namespaces/garden/secrets/installation-access-"

// mustConnect demands that a seed can be reached and used.
func mustConnect(t *testing.T, connections *Connections, seed string) *Cluster {
	t.Helper()
	cluster, err := connections.Connect(t.Context(), seedOf(seed))
	require.NoError(t, err)
	require.NoError(t, listNodes(t.Context(), cluster))
	return cluster
}

func TestFromGarden_SecretChanged(t *testing.T) {
	g, clock := newTestGarden(t), newClock()
	connections := g.connections(t, Options{Clock: clock})
	first, second := newTestProxy(t, g.env.config, nil), newTestProxy(t, g.env.config, nil)
	g.createSecret(t, "moving", first.kubeconfig(t, g.env.token(t)))
	cluster := mustConnect(t, connections, "moving")
	assert.NotEmpty(t, cluster.KubernetesVersion)

	g.createSecret(t, "moving", second.kubeconfig(t, g.env.token(t)))
	advance(clock, credentialsCheckInterval-1)
	assert.Same(t, cluster, mustConnect(t, connections, "moving"))
	assert.Equal(t, 1, g.count(secretPath+"moving"), "it is looked at every 30 seconds")
	assert.Zero(t, second.connections.Load())

	advance(clock, 1)
	calls := first.count("")
	moved := mustConnect(t, connections, "moving")
	assert.NotSame(t, cluster, moved)
	assert.Equal(t, 2, g.count(secretPath+"moving"))
	assert.Equal(t, calls, first.count(""))
	require.NoError(t, listNodes(t.Context(), cluster), "who holds the former client goes on")

	advance(clock, credentialsCheckInterval)
	assert.Same(t, moved, mustConnect(t, connections, "moving"), "the same Secret is the same connection")
	assert.Equal(t, 3, g.count(secretPath+"moving"))
}

func TestFromGarden_ManagedSeedWithoutSecret(t *testing.T) {
	g, clock := newTestGarden(t), newClock()
	connections := g.connections(t, Options{Clock: clock})
	front, byShoot := newTestProxy(t, g.env.config, nil), newTestProxy(t, g.env.config, nil)
	g.setGrant(grantTokens(t, clock, byShoot, g.env))
	g.createSecret(t, "falling", front.kubeconfig(t, g.env.token(t)))
	g.createManagedSeed(t, "falling")
	mustConnect(t, connections, "falling")
	assert.Zero(t, g.grants.Load(), "the Secret goes first")

	g.deleteSecret(t, "falling")
	advance(clock, credentialsCheckInterval)
	mustConnect(t, connections, "falling")
	assert.EqualValues(t, 1, g.grants.Load())
	assert.NotZero(t, byShoot.connections.Load())

	g.createSecret(t, "falling", front.kubeconfig(t, g.env.token(t)))
	advance(clock, credentialsCheckInterval)
	calls := byShoot.count("")
	mustConnect(t, connections, "falling")
	assert.Equal(t, calls, byShoot.count(""))
}

func TestFromGarden_NoAccess(t *testing.T) {
	g, clock := newTestGarden(t), newClock()
	connections := g.connections(t, Options{Clock: clock})
	f := newTestProxy(t, g.env.config, nil)

	_, err := connections.Connect(t.Context(), seedOf("lonely"))
	failure := unreachable(t, err, "lonely")
	assert.EqualError(t, failure, "reaching seed lonely: nobody has given access to it: create Secret garden/installation-access-lonely in the garden, with "+
		"a kubeconfig of the seed under the key kubeconfig (there is no ManagedSeed garden/lonely with a Shoot, whose kubeconfig would be used else)")
	_, err = connections.Connect(t.Context(), seedOf("lonely"))
	assert.Same(t, failure, unreachable(t, err, "lonely"))
	assert.True(t, failure.NoAccess)
	assert.Equal(t, 1, g.count(secretPath+"lonely"))

	g.createSecret(t, "lonely", f.kubeconfig(t, g.env.token(t)))
	advance(clock, initialBackoff)
	cluster := mustConnect(t, connections, "lonely")

	g.deleteSecret(t, "lonely")
	advance(clock, credentialsCheckInterval)
	_, err = connections.Connect(t.Context(), seedOf("lonely"))
	assert.EqualError(t, unreachable(t, err, "lonely"), failure.Error())
	assert.True(t, unreachable(t, listNodes(t.Context(), cluster), "lonely").NoAccess, "also of what had a client before")
}

func TestFromGarden_InvalidSecret(t *testing.T) {
	g, clock := newTestGarden(t), newClock()
	connections := g.connections(t, Options{Clock: clock})
	f := newTestProxy(t, g.env.config, nil)
	g.createSecret(t, "wrong", []byte("secret"))
	_, err := connections.Connect(t.Context(), seedOf("wrong"))
	assert.EqualError(t, unreachable(t, err, "wrong"), "reaching seed wrong: Secret garden/installation-access-wrong of the garden, key kubeconfig: it is no "+
		"kubeconfig: that would be YAML or JSON with apiVersion v1 and kind Config; put a kubeconfig of the seed there")

	g.createSecret(t, "wrong", f.kubeconfig(t, g.env.token(t)))
	advance(clock, initialBackoff)
	mustConnect(t, connections, "wrong")

	g.createSecret(t, "wrong", nil)
	advance(clock, credentialsCheckInterval)
	_, err = connections.Connect(t.Context(), seedOf("wrong"))
	assert.EqualError(t, unreachable(t, err, "wrong"), "reaching seed wrong: Secret garden/installation-access-wrong of the garden, key kubeconfig: it is "+
		"missing or empty; put a kubeconfig of the seed there")
}

func TestFromGarden_RevokedTokenReplaced(t *testing.T) {
	g, clock := newTestGarden(t), newClock()
	connections := g.connections(t, Options{Clock: clock})
	f := newTestProxy(t, g.env.config, nil)
	old := g.env.token(t)
	g.createSecret(t, "rotated", f.kubeconfig(t, old))
	cluster := mustConnect(t, connections, "rotated")

	g.createSecret(t, "rotated", f.kubeconfig(t, g.env.token(t)))
	f.revoked.Store(old, true)
	err := listNodes(t.Context(), cluster)
	require.True(t, apierrors.IsUnauthorized(err), "%v", err)
	_, is := errors.AsType[*Unreachable](err)
	assert.False(t, is)

	mustConnect(t, connections, "rotated")
	assert.Equal(t, 2, g.count(secretPath+"rotated"))
}

func TestFromGarden_RevokedTokenNotReplaced(t *testing.T) {
	g, clock := newTestGarden(t), newClock()
	connections := g.connections(t, Options{Clock: clock})
	f := newTestProxy(t, g.env.config, nil)
	old := g.env.token(t)
	g.createSecret(t, "revoked", f.kubeconfig(t, old))
	cluster := mustConnect(t, connections, "revoked")
	f.revoked.Store(old, true)
	require.True(t, apierrors.IsUnauthorized(listNodes(t.Context(), cluster)))

	for range 10 {
		_, err := connections.Connect(t.Context(), seedOf("revoked"))
		assert.True(t, unreachable(t, err, "revoked").NoAccess)
		assert.EqualError(t, err, "reaching seed revoked: its API server does not accept the credentials of "+
			"Secret garden/installation-access-revoked of the garden, key kubeconfig (401): put a kubeconfig there that is good")
	}
	assert.Equal(t, 2, f.count("/version"))
	assert.Equal(t, 2, g.count(secretPath+"revoked"))

	g.createSecret(t, "revoked", f.kubeconfig(t, g.env.token(t)))
	advance(clock, initialBackoff)
	mustConnect(t, connections, "revoked")
}

func TestFromGarden_GardenUnreachable(t *testing.T) {
	g, clock := newTestGarden(t), newClock()
	connections := g.connections(t, Options{Clock: clock})
	f := newTestProxy(t, g.env.config, nil)
	g.createSecret(t, "known", f.kubeconfig(t, g.env.token(t)))
	g.createSecret(t, "new", f.kubeconfig(t, g.env.token(t)))
	cluster := mustConnect(t, connections, "known")

	g.respondWith(respondStatus(http.StatusBadGateway))
	advance(clock, credentialsCheckInterval)
	assert.Equal(t, cluster, mustConnect(t, connections, "known"))
	advance(clock, versionCheckInterval)
	mustConnect(t, connections, "known")
	_, err := connections.Connect(t.Context(), seedOf("new"))
	assert.True(t, unreachable(t, err, "new").NoAccess)
	assert.ErrorContains(t, err, "reaching seed new: reading Secret garden/installation-access-new of the garden: ")

	f.respondWith(respondStatus(http.StatusBadGateway))
	assert.False(t, unreachable(t, listNodes(t.Context(), cluster), "known").NoAccess)
	f.respondWith(nil)
	advance(clock, maxBackoff)
	mustConnect(t, connections, "known")
}

func TestFromGarden_NotFoundInGardenIsNotNotFoundInSeed(t *testing.T) {
	g := newTestGarden(t)
	g.createManagedSeed(t, "shootless")
	g.setGrant(func(shoot string, _ *request) error {
		return apierrors.NewNotFound(corev1.Resource("shoots"), shoot)
	})
	_, err := g.connections(t, Options{Clock: newClock()}).Connect(t.Context(), seedOf("shootless"))
	assert.EqualError(t, unreachable(t, err, "shootless"), "reaching seed shootless: asking the garden for the admin kubeconfig of "+
		`Shoot garden/shoot-of-shootless: shoots "shoot-of-shootless" not found`)
	assert.False(t, apierrors.IsNotFound(err), "a caller would think that of what it looked for in the seed")
}

func TestFromGarden_ClientCertificateAndImpersonation(t *testing.T) {
	g := newTestGarden(t)
	connections := g.connections(t, Options{Clock: newClock()})
	config := parsedKubeconfig(g.env.config.Host, g.env.config.CAData, "")
	user := config.AuthInfos["admin"]
	user.ClientCertificateData, user.ClientKeyData = g.env.config.CertData, g.env.config.KeyData
	g.createSecret(t, "certified", encodeKubeconfig(t, config))
	mustConnect(t, connections, "certified")

	user.Impersonate = "nobody-in-particular"
	g.createSecret(t, "impersonated", encodeKubeconfig(t, config))
	cluster, err := connections.Connect(t.Context(), seedOf("impersonated"))
	require.NoError(t, err)
	err = listNodes(t.Context(), cluster)
	require.True(t, apierrors.IsForbidden(err), "%v", err)
	assert.ErrorContains(t, err, "nobody-in-particular")
}

func TestFromGarden_IncompleteScheme(t *testing.T) {
	c, err := client.New(&rest.Config{Host: "https://garden.invalid"}, client.Options{Scheme: clientgoscheme.Scheme})
	require.NoError(t, err)
	_, err = FromGarden(c, Options{})
	assert.ErrorContains(t, err, "checking the scheme of the garden's client: no kind is registered for the type v1beta1.Shoot")
}

func TestFromGarden_VersionForbidden(t *testing.T) {
	g := newTestGarden(t)
	connections := g.connections(t, Options{Clock: newClock()})
	f := newTestProxy(t, g.env.config, func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/version" {
			return false
		}
		writeStatus(w, apierrors.NewForbidden(corev1.Resource("version"), "", errors.New("not for you")))
		return true
	})
	g.createSecret(t, "secretive", f.kubeconfig(t, g.env.token(t)))
	_, err := connections.Connect(t.Context(), seedOf("secretive"))
	require.True(t, apierrors.IsForbidden(err), "%v", err)
	assert.ErrorContains(t, err, "asking seed secretive for its version: ")
	_, is := errors.AsType[*Unreachable](err)
	assert.False(t, is)
}
