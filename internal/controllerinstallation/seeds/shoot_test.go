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

// granting grants what is asked for, with a new token each time.
func granting(t *testing.T, clock *clocktesting.FakePassiveClock, f *front, env *environment) grant {
	return func(_ string, request *request) error {
		request.Status.Kubeconfig = f.kubeconfig(t, env.token(t))
		request.Status.ExpirationTimestamp = metav1.NewTime(clock.Now().Add(time.Duration(*request.Spec.ExpirationSeconds) * time.Second))
		return nil
	}
}

// managed returns a garden with one managed seed.
func managed(t *testing.T, seed string, options Options) (*garden, *front, *clocktesting.FakePassiveClock, *Lines) {
	t.Helper()
	g, clock := newGarden(t), newClock()
	f := newFront(t, g.env.config, nil)
	g.manage(t, seed)
	g.onGrant(granting(t, clock, f, g.env))
	options.Clock = clock
	return g, f, clock, g.lines(t, options)
}

func TestAManagedSeedIsReachedAsItsShoot(t *testing.T) {
	g, f, clock, lines := managed(t, "managed", Options{})
	granted := granting(t, clock, f, g.env)
	g.onGrant(func(shoot string, request *request) error {
		if shoot != "shoot-of-managed" || *request.Spec.ExpirationSeconds != 3600 {
			return apierrors.NewBadRequest("asked for " + shoot)
		}
		return granted(shoot, request)
	})
	for _, failure := range together(t, lines, "managed") {
		require.NoError(t, failure)
	}
	mustReach(t, lines, "managed")
	assert.EqualValues(t, 1, g.grants.Load(), "one asks for all")
	assert.Equal(t, 1, f.count("/version"))
}

func TestCredentialsAreRenewedBeforeTheyExpire(t *testing.T) {
	for sentence, life := range map[string]time.Duration{
		"as long as asked for": 2 * time.Hour, "less than asked for": 10 * time.Minute, "more than asked for": 24 * time.Hour,
	} {
		t.Run(sentence, func(t *testing.T) {
			seed := "renewed-" + life.String()[:2]
			g, f, clock, lines := managed(t, seed, Options{CredentialsLife: 2 * time.Hour, IdleTimeout: 48 * time.Hour})
			g.onGrant(func(_ string, request *request) error {
				if *request.Spec.ExpirationSeconds != 7200 {
					return apierrors.NewBadRequest("wrong life")
				}
				request.Status.Kubeconfig = f.kubeconfig(t, g.env.token(t))
				request.Status.ExpirationTimestamp = metav1.NewTime(clock.Now().Add(life))
				return nil
			})
			for renewals := int64(1); renewals <= 3; renewals++ {
				cluster := mustReach(t, lines, seed)
				begin := clock.Now()
				require.Equal(t, renewals, g.grants.Load())
				clock.SetTime(begin.Add(life * 7 / 10).Add(-time.Second))
				mustReach(t, lines, seed)
				require.Equal(t, renewals, g.grants.Load())
				clock.SetTime(begin.Add(life * 4 / 5).Add(time.Second))
				for _, failure := range together(t, lines, seed) {
					require.NoError(t, failure)
				}
				require.Equal(t, renewals+1, g.grants.Load(), "one renews for all")
				assert.NotSame(t, cluster.Client, mustReach(t, lines, seed).Client)
			}
		})
	}
}

func TestCredentialsThatAreNotRenewedAreGoodUntilTheyExpire(t *testing.T) {
	g, f, clock, lines := managed(t, "expiring", Options{})
	mustReach(t, lines, "expiring")
	begin := clock.Now()
	g.onGrant(func(string, *request) error { return errors.New("the shoot's CA is not to be had") })

	clock.SetTime(begin.Add(50 * time.Minute))
	mustReach(t, lines, "expiring")
	mustReach(t, lines, "expiring")
	assert.EqualValues(t, 2, g.grants.Load(), "the next attempt is not at once")
	step(clock, lookEvery)
	mustReach(t, lines, "expiring")
	assert.EqualValues(t, 3, g.grants.Load())

	clock.SetTime(begin.Add(time.Hour))
	_, err := lines.To(t.Context(), seedOf("expiring"))
	assert.ErrorContains(t, unreachable(t, err, "expiring"), "asking the garden for the admin kubeconfig of Shoot garden/shoot-of-expiring: ")

	g.onGrant(granting(t, clock, f, g.env))
	step(clock, firstPause)
	mustReach(t, lines, "expiring")
}

func TestCredentialsThatAreRefusedAreReplacedOnce(t *testing.T) {
	g, f, clock, lines := managed(t, "refused", Options{})
	var last string
	g.onGrant(func(_ string, request *request) error {
		last = g.env.token(t)
		request.Status.Kubeconfig = f.kubeconfig(t, last)
		request.Status.ExpirationTimestamp = metav1.NewTime(clock.Now().Add(time.Hour))
		return nil
	})
	cluster := mustReach(t, lines, "refused")

	f.revoked.Store(last, true)
	require.True(t, apierrors.IsUnauthorized(listNodes(t.Context(), cluster)))
	cluster = mustReach(t, lines, "refused")
	assert.EqualValues(t, 2, g.grants.Load())

	f.revoked.Store(last, true)
	for range 10 {
		require.True(t, apierrors.IsUnauthorized(listNodes(t.Context(), cluster)))
		var err error
		cluster, err = lines.To(t.Context(), seedOf("refused"))
		require.NoError(t, err)
	}
	assert.EqualValues(t, 2, g.grants.Load(), "who refuses new ones too does not make the garden sign without end")
	step(clock, lookEvery)
	mustReach(t, lines, "refused")
	assert.EqualValues(t, 3, g.grants.Load())

	f.revoked.Store(last, true)
	step(clock, versionEvery)
	mustReach(t, lines, "refused")
	assert.EqualValues(t, 4, g.grants.Load(), "they are replaced within one call too")
}

func TestASeedThatRefusesAllCredentialsSaysSo(t *testing.T) {
	g, f, clock, lines := managed(t, "hostile", Options{})
	g.onGrant(func(_ string, request *request) error {
		request.Status.Kubeconfig = f.kubeconfig(t, "no-token")
		request.Status.ExpirationTimestamp = metav1.NewTime(clock.Now().Add(time.Hour))
		return nil
	})
	allSame(t, together(t, lines, "hostile"), "hostile")
	_, err := lines.To(t.Context(), seedOf("hostile"))
	assert.EqualError(t, unreachable(t, err, "hostile"), "reaching seed hostile: its API server does not accept the credentials of "+
		"the admin kubeconfig of Shoot garden/shoot-of-hostile (401)")
	assert.EqualValues(t, 1, g.grants.Load())
}

func TestANewCertificateAuthorityIsFetched(t *testing.T) {
	g, f, clock, lines := managed(t, "renewing", Options{})
	mustReach(t, lines, "renewing")
	successor := newFront(t, g.env.config, nil)
	// What is granted has become out of date before it is used.
	g.onGrant(func(_ string, request *request) error {
		request.Status.Kubeconfig = kubeconfig(t, f.URL, g.env.config.CAData, g.env.token(t))
		request.Status.ExpirationTimestamp = metav1.NewTime(clock.Now().Add(time.Hour))
		return nil
	})
	clock.SetTime(clock.Now().Add(50 * time.Minute))
	_, err := lines.To(t.Context(), seedOf("renewing"))
	assert.ErrorContains(t, unreachable(t, err, "renewing"), "x509: certificate signed by unknown authority")

	g.onGrant(granting(t, clock, successor, g.env))
	step(clock, firstPause)
	mustReach(t, lines, "renewing")
	assert.EqualValues(t, 3, g.grants.Load())
}

func TestADeadSeedIsNotAskedForCredentialsAgainAndAgain(t *testing.T) {
	g, f, clock, lines := managed(t, "away", Options{})
	f.answer(code(503))
	for range 5 {
		_, err := lines.To(t.Context(), seedOf("away"))
		unreachable(t, err, "away")
		step(clock, longestPause)
	}
	assert.EqualValues(t, 1, g.grants.Load())
	f.answer(nil)
	mustReach(t, lines, "away")
	assert.EqualValues(t, 1, g.grants.Load())
}

func TestOddAnswersOfTheGarden(t *testing.T) {
	for sentence, c := range map[string]struct {
		grant func(*garden, *front, *clocktesting.FakePassiveClock) grant
		want  string
	}{
		"expired already": {
			func(g *garden, f *front, clock *clocktesting.FakePassiveClock) grant {
				return func(_ string, request *request) error {
					request.Status.Kubeconfig = f.kubeconfig(t, g.env.token(t))
					request.Status.ExpirationTimestamp = metav1.NewTime(clock.Now())
					return nil
				}
			},
			"and here it is later: check the clocks",
		},
		"no kubeconfig": {
			func(*garden, *front, *clocktesting.FakePassiveClock) grant {
				return func(string, *request) error { return nil }
			},
			"reading the admin kubeconfig of Shoot garden/shoot-of-odd-no: it is missing or empty",
		},
		"forbidden": {
			func(*garden, *front, *clocktesting.FakePassiveClock) grant {
				return func(shoot string, _ *request) error {
					return apierrors.NewForbidden(corev1.Resource("shoots/adminkubeconfig"), shoot, errors.New("not for you"))
				}
			},
			"asking the garden for the admin kubeconfig of Shoot garden/shoot-of-odd-fo: ",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			seed := "odd-" + sentence[:2]
			g, f, clock, lines := managed(t, seed, Options{})
			g.onGrant(c.grant(g, f, clock))
			_, err := lines.To(t.Context(), seedOf(seed))
			assert.ErrorContains(t, unreachable(t, err, seed), c.want)
		})
	}
}
