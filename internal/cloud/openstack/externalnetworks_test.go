package openstack_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/openstack"
)

func TestSession_RecentExternalNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		session := (&stubCloud{}).session(t, openstack.Options{})
		isRecent := func(name string) bool {
			_, ok := session.RecentExternalNetwork(name)
			return ok
		}
		assert.False(t, isRecent("public"))
		session.RememberExternalNetwork("public", openstack.Network{ID: "1"})
		recent, ok := session.RecentExternalNetwork("public")
		assert.True(t, ok)
		assert.Equal(t, "1", recent.ID)
		assert.False(t, isRecent("pub*"), "a pattern may mean another network")

		time.Sleep(9 * time.Minute)
		session.RememberExternalNetwork("other", openstack.Network{ID: "2"})
		assert.True(t, isRecent("public"))
		time.Sleep(time.Minute)
		assert.False(t, isRecent("public"), "a use does not extend the ten minutes")
		assert.True(t, isRecent("other"))
		session.ForgetExternalNetwork("other")
		assert.False(t, isRecent("other"))
	})
}

func TestSessions_LoggedIn(t *testing.T) {
	accept := false
	stub := &stubCloud{login: func(*http.Request) int {
		if accept {
			return 0
		}
		return http.StatusUnauthorized
	}}
	sessions := stub.sessions(openstack.Options{})
	assert.False(t, sessions.LoggedIn(credentials(), "one"))
	_, err := sessions.Get(t.Context(), credentials(), "one")
	require.Error(t, err)
	assert.False(t, sessions.LoggedIn(credentials(), "one"), "the credentials were rejected")
	accept = true
	_, err = sessions.Get(t.Context(), credentials(), "one")
	require.NoError(t, err)
	assert.True(t, sessions.LoggedIn(credentials(), "one"))
	assert.False(t, sessions.LoggedIn(credentials(), "two"))
	other := credentials()
	other.ApplicationCredentialSecret = "psst"
	assert.False(t, sessions.LoggedIn(other, "one"))
}
