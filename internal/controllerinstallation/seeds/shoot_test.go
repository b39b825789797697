package seeds

import (
	"errors"
	"testing"
	"time"

	authenticationv1alpha1 "github.com/gardener/gardener/pkg/apis/authentication/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
)

type request = authenticationv1alpha1.AdminKubeconfigRequest

// grantTokens grants what is asked for, with a new token each time.
func grantTokens(t *testing.T, clock *clocktesting.FakePassiveClock, f *testProxy, env *environment) grant {
	return func(_ string, request *request) error {
		request.Status.Kubeconfig = f.kubeconfig(t, env.token(t))
		request.Status.ExpirationTimestamp = metav1.NewTime(clock.Now().Add(time.Duration(*request.Spec.ExpirationSeconds) * time.Second))
		return nil
	}
}

// newManagedSeed returns a garden with one managed seed.
func newManagedSeed(t *testing.T, seed string, options Options) (*testGarden, *testProxy, *clocktesting.FakePassiveClock, *Connections) {
	t.Helper()
	g, clock := newTestGarden(t), newClock()
	f := newTestProxy(t, g.env.config, nil)
	g.createManagedSeed(t, seed)
	g.setGrant(grantTokens(t, clock, f, g.env))
	options.Clock = clock
	return g, f, clock, g.connections(t, options)
}

func TestFromGarden_ManagedSeed(t *testing.T) {
	g, f, clock, connections := newManagedSeed(t, "managed", Options{})
	granted := grantTokens(t, clock, f, g.env)
	g.setGrant(func(shoot string, request *request) error {
		if shoot != "shoot-of-managed" || *request.Spec.ExpirationSeconds != 3600 {
			return apierrors.NewBadRequest("asked for " + shoot)
		}
		return granted(shoot, request)
	})
	for _, failure := range connectConcurrently(t, connections, "managed") {
		require.NoError(t, failure)
	}
	mustConnect(t, connections, "managed")
	assert.EqualValues(t, 1, g.grants.Load(), "one asks for all")
	assert.Equal(t, 1, f.count("/version"))
}

func TestFromGarden_CredentialsRenewed(t *testing.T) {
	for sentence, life := range map[string]time.Duration{
		"as long as asked for": 2 * time.Hour, "less than asked for": 10 * time.Minute, "more than asked for": 24 * time.Hour,
	} {
		t.Run(sentence, func(t *testing.T) {
			seed := "renewed-" + life.String()[:2]
			g, f, clock, connections := newManagedSeed(t, seed, Options{CredentialsLife: 2 * time.Hour, IdleTimeout: 48 * time.Hour})
			g.setGrant(func(_ string, request *request) error {
				if *request.Spec.ExpirationSeconds != 7200 {
					return apierrors.NewBadRequest("wrong life")
				}
				request.Status.Kubeconfig = f.kubeconfig(t, g.env.token(t))
				request.Status.ExpirationTimestamp = metav1.NewTime(clock.Now().Add(life))
				return nil
			})
			for renewals := int64(1); renewals <= 3; renewals++ {
				cluster := mustConnect(t, connections, seed)
				begin := clock.Now()
				require.Equal(t, renewals, g.grants.Load())
				clock.SetTime(begin.Add(life * 7 / 10).Add(-time.Second))
				mustConnect(t, connections, seed)
				require.Equal(t, renewals, g.grants.Load())
				clock.SetTime(begin.Add(life * 4 / 5).Add(time.Second))
				for _, failure := range connectConcurrently(t, connections, seed) {
					require.NoError(t, failure)
				}
				require.Equal(t, renewals+1, g.grants.Load(), "one renews for all")
				assert.NotSame(t, cluster.Client, mustConnect(t, connections, seed).Client)
			}
		})
	}
}

func TestFromGarden_RenewalFails(t *testing.T) {
	g, f, clock, connections := newManagedSeed(t, "expiring", Options{})
	mustConnect(t, connections, "expiring")
	begin := clock.Now()
	g.setGrant(func(string, *request) error { return errors.New("the shoot's CA is not to be had") })

	clock.SetTime(begin.Add(50 * time.Minute))
	mustConnect(t, connections, "expiring")
	mustConnect(t, connections, "expiring")
	assert.EqualValues(t, 2, g.grants.Load(), "the next attempt is not at once")
	advance(clock, credentialsCheckInterval)
	mustConnect(t, connections, "expiring")
	assert.EqualValues(t, 3, g.grants.Load())

	clock.SetTime(begin.Add(time.Hour))
	_, err := connections.Connect(t.Context(), seedOf("expiring"))
	assert.ErrorContains(t, unreachable(t, err, "expiring"), "asking the garden for the admin kubeconfig of Shoot garden/shoot-of-expiring: ")

	g.setGrant(grantTokens(t, clock, f, g.env))
	advance(clock, initialBackoff)
	mustConnect(t, connections, "expiring")
}

func TestFromGarden_UnauthorizedCredentialsReplacedOnce(t *testing.T) {
	g, f, clock, connections := newManagedSeed(t, "refused", Options{})
	var last string
	g.setGrant(func(_ string, request *request) error {
		last = g.env.token(t)
		request.Status.Kubeconfig = f.kubeconfig(t, last)
		request.Status.ExpirationTimestamp = metav1.NewTime(clock.Now().Add(time.Hour))
		return nil
	})
	cluster := mustConnect(t, connections, "refused")

	f.revoked.Store(last, true)
	require.True(t, apierrors.IsUnauthorized(listNodes(t.Context(), cluster)))
	cluster = mustConnect(t, connections, "refused")
	assert.EqualValues(t, 2, g.grants.Load())

	f.revoked.Store(last, true)
	for range 10 {
		require.True(t, apierrors.IsUnauthorized(listNodes(t.Context(), cluster)))
		var err error
		cluster, err = connections.Connect(t.Context(), seedOf("refused"))
		require.NoError(t, err)
	}
	assert.EqualValues(t, 2, g.grants.Load(), "who refuses new ones too does not make the garden sign without end")
	advance(clock, credentialsCheckInterval)
	mustConnect(t, connections, "refused")
	assert.EqualValues(t, 3, g.grants.Load())

	f.revoked.Store(last, true)
	advance(clock, versionCheckInterval)
	mustConnect(t, connections, "refused")
	assert.EqualValues(t, 4, g.grants.Load(), "they are replaced within one call too")
}

func TestFromGarden_AllCredentialsUnauthorized(t *testing.T) {
	g, f, clock, connections := newManagedSeed(t, "hostile", Options{})
	g.setGrant(func(_ string, request *request) error {
		request.Status.Kubeconfig = f.kubeconfig(t, "no-token")
		request.Status.ExpirationTimestamp = metav1.NewTime(clock.Now().Add(time.Hour))
		return nil
	})
	assertSameFailure(t, connectConcurrently(t, connections, "hostile"), "hostile")
	_, err := connections.Connect(t.Context(), seedOf("hostile"))
	assert.EqualError(t, unreachable(t, err, "hostile"), "reaching seed hostile: its API server does not accept the credentials of "+
		"the admin kubeconfig of Shoot garden/shoot-of-hostile (401)")
	assert.EqualValues(t, 1, g.grants.Load())
}

func TestFromGarden_CertificateAuthorityRotated(t *testing.T) {
	g, f, clock, connections := newManagedSeed(t, "renewing", Options{})
	mustConnect(t, connections, "renewing")
	successor := newTestProxy(t, g.env.config, nil)
	// What is granted has become out of date before it is used.
	g.setGrant(func(_ string, request *request) error {
		request.Status.Kubeconfig = kubeconfig(t, f.URL, g.env.config.CAData, g.env.token(t))
		request.Status.ExpirationTimestamp = metav1.NewTime(clock.Now().Add(time.Hour))
		return nil
	})
	clock.SetTime(clock.Now().Add(50 * time.Minute))
	_, err := connections.Connect(t.Context(), seedOf("renewing"))
	assert.ErrorContains(t, unreachable(t, err, "renewing"), "x509: certificate signed by unknown authority")

	g.setGrant(grantTokens(t, clock, successor, g.env))
	advance(clock, initialBackoff)
	mustConnect(t, connections, "renewing")
	assert.EqualValues(t, 3, g.grants.Load())
}

func TestFromGarden_UnreachableSeedKeepsCredentials(t *testing.T) {
	g, f, clock, connections := newManagedSeed(t, "away", Options{})
	f.respondWith(respondStatus(503))
	for range 5 {
		_, err := connections.Connect(t.Context(), seedOf("away"))
		unreachable(t, err, "away")
		advance(clock, maxBackoff)
	}
	assert.EqualValues(t, 1, g.grants.Load())
	f.respondWith(nil)
	mustConnect(t, connections, "away")
	assert.EqualValues(t, 1, g.grants.Load())
}

func TestFromGarden_InvalidAdminKubeconfig(t *testing.T) {
	for sentence, c := range map[string]struct {
		grant func(*testGarden, *testProxy, *clocktesting.FakePassiveClock) grant
		want  string
	}{
		"expired already": {
			func(g *testGarden, f *testProxy, clock *clocktesting.FakePassiveClock) grant {
				return func(_ string, request *request) error {
					request.Status.Kubeconfig = f.kubeconfig(t, g.env.token(t))
					request.Status.ExpirationTimestamp = metav1.NewTime(clock.Now())
					return nil
				}
			},
			"and here it is later: check the clocks",
		},
		"no kubeconfig": {
			func(*testGarden, *testProxy, *clocktesting.FakePassiveClock) grant {
				return func(string, *request) error { return nil }
			},
			"reading the admin kubeconfig of Shoot garden/shoot-of-odd-no: it is missing or empty",
		},
		"forbidden": {
			func(*testGarden, *testProxy, *clocktesting.FakePassiveClock) grant {
				return func(shoot string, _ *request) error {
					return apierrors.NewForbidden(corev1.Resource("shoots/adminkubeconfig"), shoot, errors.New("not for you"))
				}
			},
			"asking the garden for the admin kubeconfig of Shoot garden/shoot-of-odd-fo: ",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			seed := "odd-" + sentence[:2]
			g, f, clock, connections := newManagedSeed(t, seed, Options{})
			g.setGrant(c.grant(g, f, clock))
			_, err := connections.Connect(t.Context(), seedOf(seed))
			assert.ErrorContains(t, unreachable(t, err, seed), c.want)
		})
	}
}
