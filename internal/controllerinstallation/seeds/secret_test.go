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

// mustReach demands that a seed can be reached and used.
func mustReach(t *testing.T, lines *Lines, seed string) *Cluster {
	t.Helper()
	cluster, err := lines.To(t.Context(), seedOf(seed))
	require.NoError(t, err)
	require.NoError(t, listNodes(t.Context(), cluster))
	return cluster
}

func TestANewSecretLeadsElsewhere(t *testing.T) {
	g, clock := newGarden(t), newClock()
	lines := g.lines(t, Options{Clock: clock})
	first, second := newFront(t, g.env.config, nil), newFront(t, g.env.config, nil)
	g.give(t, "moving", first.kubeconfig(t, g.env.token(t)))
	cluster := mustReach(t, lines, "moving")
	assert.NotEmpty(t, cluster.KubernetesVersion)

	g.give(t, "moving", second.kubeconfig(t, g.env.token(t)))
	step(clock, lookEvery-1)
	assert.Same(t, cluster, mustReach(t, lines, "moving"))
	assert.Equal(t, 1, g.count(secretPath+"moving"), "it is looked at every 30 seconds")
	assert.Zero(t, second.connections.Load())

	step(clock, 1)
	calls := first.count("")
	moved := mustReach(t, lines, "moving")
	assert.NotSame(t, cluster, moved)
	assert.Equal(t, 2, g.count(secretPath+"moving"))
	assert.Equal(t, calls, first.count(""))
	require.NoError(t, listNodes(t.Context(), cluster), "who holds the former client goes on")

	step(clock, lookEvery)
	assert.Same(t, moved, mustReach(t, lines, "moving"), "the same Secret is the same connection")
	assert.Equal(t, 3, g.count(secretPath+"moving"))
}

func TestWithoutASecretAManagedSeedLeadsThere(t *testing.T) {
	g, clock := newGarden(t), newClock()
	lines := g.lines(t, Options{Clock: clock})
	front, byShoot := newFront(t, g.env.config, nil), newFront(t, g.env.config, nil)
	g.onGrant(granting(t, clock, byShoot, g.env))
	g.give(t, "falling", front.kubeconfig(t, g.env.token(t)))
	g.manage(t, "falling")
	mustReach(t, lines, "falling")
	assert.Zero(t, g.grants.Load(), "the Secret goes first")

	g.takeAway(t, "falling")
	step(clock, lookEvery)
	mustReach(t, lines, "falling")
	assert.EqualValues(t, 1, g.grants.Load())
	assert.NotZero(t, byShoot.connections.Load())

	g.give(t, "falling", front.kubeconfig(t, g.env.token(t)))
	step(clock, lookEvery)
	calls := byShoot.count("")
	mustReach(t, lines, "falling")
	assert.Equal(t, calls, byShoot.count(""))
}

func TestWithoutAnyAccessAnAdminIsToldWhatToDo(t *testing.T) {
	g, clock := newGarden(t), newClock()
	lines := g.lines(t, Options{Clock: clock})
	f := newFront(t, g.env.config, nil)

	_, err := lines.To(t.Context(), seedOf("lonely"))
	failure := unreachable(t, err, "lonely")
	assert.EqualError(t, failure, "reaching seed lonely: nobody has given access to it: create Secret garden/installation-access-lonely in the garden, with "+
		"a kubeconfig of the seed under the key kubeconfig (there is no ManagedSeed garden/lonely with a Shoot, whose kubeconfig would be used else)")
	_, err = lines.To(t.Context(), seedOf("lonely"))
	assert.Same(t, failure, unreachable(t, err, "lonely"))
	assert.True(t, failure.NoAccess)
	assert.Equal(t, 1, g.count(secretPath+"lonely"))

	g.give(t, "lonely", f.kubeconfig(t, g.env.token(t)))
	step(clock, firstPause)
	cluster := mustReach(t, lines, "lonely")

	g.takeAway(t, "lonely")
	step(clock, lookEvery)
	_, err = lines.To(t.Context(), seedOf("lonely"))
	assert.EqualError(t, unreachable(t, err, "lonely"), failure.Error())
	assert.True(t, unreachable(t, listNodes(t.Context(), cluster), "lonely").NoAccess, "also of what had a client before")
}

func TestASecretOfNoUseSaysSo(t *testing.T) {
	g, clock := newGarden(t), newClock()
	lines := g.lines(t, Options{Clock: clock})
	f := newFront(t, g.env.config, nil)
	g.give(t, "wrong", []byte("secret"))
	_, err := lines.To(t.Context(), seedOf("wrong"))
	assert.EqualError(t, unreachable(t, err, "wrong"), "reaching seed wrong: Secret garden/installation-access-wrong of the garden, key kubeconfig: it is no "+
		"kubeconfig: that would be YAML or JSON with apiVersion v1 and kind Config; put a kubeconfig of the seed there")

	g.give(t, "wrong", f.kubeconfig(t, g.env.token(t)))
	step(clock, firstPause)
	mustReach(t, lines, "wrong")

	g.give(t, "wrong", nil)
	step(clock, lookEvery)
	_, err = lines.To(t.Context(), seedOf("wrong"))
	assert.EqualError(t, unreachable(t, err, "wrong"), "reaching seed wrong: Secret garden/installation-access-wrong of the garden, key kubeconfig: it is "+
		"missing or empty; put a kubeconfig of the seed there")
}

func TestCredentialsThatWereReplacedAreReadAtOnce(t *testing.T) {
	g, clock := newGarden(t), newClock()
	lines := g.lines(t, Options{Clock: clock})
	f := newFront(t, g.env.config, nil)
	old := g.env.token(t)
	g.give(t, "rotated", f.kubeconfig(t, old))
	cluster := mustReach(t, lines, "rotated")

	g.give(t, "rotated", f.kubeconfig(t, g.env.token(t)))
	f.revoked.Store(old, true)
	err := listNodes(t.Context(), cluster)
	require.True(t, apierrors.IsUnauthorized(err), "%v", err)
	_, is := errors.AsType[*Unreachable](err)
	assert.False(t, is)

	mustReach(t, lines, "rotated")
	assert.Equal(t, 2, g.count(secretPath+"rotated"))
}

func TestCredentialsThatAreNotReplacedAreTriedOnce(t *testing.T) {
	g, clock := newGarden(t), newClock()
	lines := g.lines(t, Options{Clock: clock})
	f := newFront(t, g.env.config, nil)
	old := g.env.token(t)
	g.give(t, "revoked", f.kubeconfig(t, old))
	cluster := mustReach(t, lines, "revoked")
	f.revoked.Store(old, true)
	require.True(t, apierrors.IsUnauthorized(listNodes(t.Context(), cluster)))

	for range 10 {
		_, err := lines.To(t.Context(), seedOf("revoked"))
		assert.True(t, unreachable(t, err, "revoked").NoAccess)
		assert.EqualError(t, err, "reaching seed revoked: its API server does not accept the credentials of "+
			"Secret garden/installation-access-revoked of the garden, key kubeconfig (401): put a kubeconfig there that is good")
	}
	assert.Equal(t, 2, f.count("/version"))
	assert.Equal(t, 2, g.count(secretPath+"revoked"))

	g.give(t, "revoked", f.kubeconfig(t, g.env.token(t)))
	step(clock, firstPause)
	mustReach(t, lines, "revoked")
}

func TestAGardenThatIsAwayDoesNotTakeSeedsWithIt(t *testing.T) {
	g, clock := newGarden(t), newClock()
	lines := g.lines(t, Options{Clock: clock})
	f := newFront(t, g.env.config, nil)
	g.give(t, "known", f.kubeconfig(t, g.env.token(t)))
	g.give(t, "new", f.kubeconfig(t, g.env.token(t)))
	cluster := mustReach(t, lines, "known")

	g.answer(code(http.StatusBadGateway))
	step(clock, lookEvery)
	assert.Equal(t, cluster, mustReach(t, lines, "known"))
	step(clock, versionEvery)
	mustReach(t, lines, "known")
	_, err := lines.To(t.Context(), seedOf("new"))
	assert.True(t, unreachable(t, err, "new").NoAccess)
	assert.ErrorContains(t, err, "reaching seed new: reading Secret garden/installation-access-new of the garden: ")

	f.answer(code(http.StatusBadGateway))
	assert.False(t, unreachable(t, listNodes(t.Context(), cluster), "known").NoAccess)
	f.answer(nil)
	step(clock, longestPause)
	mustReach(t, lines, "known")
}

func TestWhatTheGardenLacksIsNotWhatTheSeedLacks(t *testing.T) {
	g := newGarden(t)
	g.manage(t, "shootless")
	g.onGrant(func(shoot string, _ *request) error {
		return apierrors.NewNotFound(corev1.Resource("shoots"), shoot)
	})
	_, err := g.lines(t, Options{Clock: newClock()}).To(t.Context(), seedOf("shootless"))
	assert.EqualError(t, unreachable(t, err, "shootless"), "reaching seed shootless: asking the garden for the admin kubeconfig of "+
		`Shoot garden/shoot-of-shootless: shoots "shoot-of-shootless" not found`)
	assert.False(t, apierrors.IsNotFound(err), "a caller would think that of what it looked for in the seed")
}

func TestClientCertificatesAndImpersonationLeadIn(t *testing.T) {
	g := newGarden(t)
	lines := g.lines(t, Options{Clock: newClock()})
	config := parsedKubeconfig(g.env.config.Host, g.env.config.CAData, "")
	user := config.AuthInfos["admin"]
	user.ClientCertificateData, user.ClientKeyData = g.env.config.CertData, g.env.config.KeyData
	g.give(t, "certified", written(t, config))
	mustReach(t, lines, "certified")

	user.Impersonate = "nobody-in-particular"
	g.give(t, "impersonated", written(t, config))
	cluster, err := lines.To(t.Context(), seedOf("impersonated"))
	require.NoError(t, err)
	err = listNodes(t.Context(), cluster)
	require.True(t, apierrors.IsForbidden(err), "%v", err)
	assert.ErrorContains(t, err, "nobody-in-particular")
}

func TestASchemeThatLacksAKindIsRefused(t *testing.T) {
	c, err := client.New(&rest.Config{Host: "https://garden.invalid"}, client.Options{Scheme: clientgoscheme.Scheme})
	require.NoError(t, err)
	_, err = FromGarden(c, Options{})
	assert.ErrorContains(t, err, "checking the scheme of the garden's client: no kind is registered for the type v1beta1.Shoot")
}

func TestASeedThatRefusesItsVersionIsNotUnreachable(t *testing.T) {
	g := newGarden(t)
	lines := g.lines(t, Options{Clock: newClock()})
	f := newFront(t, g.env.config, func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/version" {
			return false
		}
		answerStatus(w, apierrors.NewForbidden(corev1.Resource("version"), "", errors.New("not for you")))
		return true
	})
	g.give(t, "secretive", f.kubeconfig(t, g.env.token(t)))
	_, err := lines.To(t.Context(), seedOf("secretive"))
	require.True(t, apierrors.IsForbidden(err), "%v", err)
	assert.ErrorContains(t, err, "asking seed secretive for its version: ")
	_, is := errors.AsType[*Unreachable](err)
	assert.False(t, is)
}
