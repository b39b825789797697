package openstack_test

import (
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/openstack"
)

func TestTokenSource_RenewsBeforeExpiry(t *testing.T) {
	for name, tc := range map[string]struct {
		lifetime, skew, after time.Duration
		logins                int
	}{
		"an hour's, after 54 minutes":               {lifetime: time.Hour, after: 54 * time.Minute, logins: 1},
		"an hour's, after 55 minutes":               {lifetime: time.Hour, after: 55 * time.Minute, logins: 2},
		"ten minutes', after 8":                     {lifetime: 10 * time.Minute, after: 8 * time.Minute, logins: 1},
		"ten minutes', after 9":                     {lifetime: 10 * time.Minute, after: 9 * time.Minute, logins: 2},
		"an hour's, by a clock that is a day slow":  {lifetime: time.Hour, skew: -24 * time.Hour, after: 54 * time.Minute, logins: 1},
		"an hour's, by a clock that is a day ahead": {lifetime: time.Hour, skew: 24 * time.Hour, after: 55 * time.Minute, logins: 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stub := &stubCloud{lifetime: tc.lifetime, skew: tc.skew}
				session := stub.session(t, openstack.Options{})
				time.Sleep(tc.after)
				var callers sync.WaitGroup
				for range 10 {
					callers.Go(func() { assert.NoError(t, listNetworks(t.Context(), session)) })
				}
				callers.Wait()
				assert.Equal(t, tc.logins, stub.logins())
			})
		})
	}
}

func TestTokenSource_RenewalFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keystoneDown := false
		stub := &stubCloud{login: func(*http.Request) int {
			if keystoneDown {
				return http.StatusInternalServerError
			}
			return 0
		}}
		session := stub.session(t, openstack.Options{})
		keystoneDown = true

		time.Sleep(56 * time.Minute)
		for range 5 {
			require.NoError(t, listNetworks(t.Context(), session))
		}
		assert.Equal(t, 2, stub.logins(), "one attempt to renew, then a pause")
		time.Sleep(time.Minute)
		require.NoError(t, listNetworks(t.Context(), session))
		assert.Equal(t, 3, stub.logins())

		time.Sleep(10 * time.Minute)
		err := listNetworks(t.Context(), session)
		require.ErrorContains(t, err, "logging in at https://cloud.test/identity/v3/")
		assert.Equal(t, cloud.Unavailable, cloud.KindOf(err))

		keystoneDown = false
		require.NoError(t, listNetworks(t.Context(), session), "an expired session comes back by itself")
	})
}

func TestTokenSource_RejectedTokenConcurrentCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		close(gate)
		stub := &stubCloud{login: func(*http.Request) int { <-gate; return 0 }}
		session := stub.session(t, openstack.Options{})
		stub.revoke()

		gate = make(chan struct{})
		var callers sync.WaitGroup
		for range 100 {
			callers.Go(func() { assert.NoError(t, listNetworks(t.Context(), session)) })
		}
		synctest.Wait() // all are rejected
		close(gate)
		callers.Wait()

		assert.Equal(t, 2, stub.logins())
		assert.Len(t, stub.calls(), 200, "each call once rejected, once accepted")
	})
}

func TestTokenSource_RejectedTokenRepeatsBody(t *testing.T) {
	stub := &stubCloud{serve: status(http.StatusCreated, `{"network": {"id": "n"}}`)}
	session := stub.session(t, openstack.Options{})
	stub.revoke()
	network, err := session.CreateNetwork(t.Context(), openstack.NetworkCreate{Name: "a"})
	require.NoError(t, err)
	assert.Equal(t, "n", network.ID)
	assert.JSONEq(t, `{"network": {"name": "a"}}`, stub.lastBody())
}

func TestTokenSource_EveryTokenRejected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stub := &stubCloud{serve: status(http.StatusUnauthorized, `{}`)}
		session := stub.session(t, openstack.Options{})
		for range 20 {
			assert.Equal(t, cloud.Unauthenticated, cloud.KindOf(listNetworks(t.Context(), session)))
		}
		assert.Equal(t, 2, stub.logins())

		time.Sleep(61 * time.Second)
		require.Error(t, listNetworks(t.Context(), session))
		assert.Equal(t, 3, stub.logins(), "after a while it is worth another try")
	})
}

func TestTokenSource_ReplacementFails(t *testing.T) {
	locked := false
	stub := &stubCloud{login: func(*http.Request) int {
		if locked {
			return http.StatusUnauthorized
		}
		return 0
	}}
	session := stub.session(t, openstack.Options{})
	stub.revoke()
	locked = true
	err := listNetworks(t.Context(), session)
	require.ErrorContains(t, err, "Keystone does not accept the OpenStack credentials")
	assert.Equal(t, cloud.Unauthenticated, cloud.KindOf(err))
}
