package openstack

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
)

func TestDriver_RegionWithoutKeystone(t *testing.T) {
	const header = `{"apiVersion":"openstack.provider.extensions.gardener.cloud/v1alpha1","kind":"CloudProfileConfig"`
	for sentence, profile := range map[string]string{
		"the profile lists other regions only":       header + `,"keystoneURLs":[{"region":"elsewhere","url":"https://keystone.example.org"}]}`,
		"the profile has no Keystone":                header + `}`,
		"the profile is damaged and has no Keystone": header + `,"dnsServers":"damaged"}`,
		"the profile's Keystone is damaged":          header + `,"keystoneURL":5}`,
	} {
		t.Run(sentence, func(t *testing.T) {
			env := newCloudEnvironment(t)
			env.setServerGroup("cpu", "soft-anti-affinity")
			env.mustReconcile()
			var calls atomic.Int32
			server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { calls.Add(1) }))
			t.Cleanup(server.Close)
			env.secret["authURL"], env.secret["insecure"] = []byte(server.URL+"/v3"), []byte("true")

			shoot := env.shootInput()
			shoot.Cluster.CloudProfile.Spec.ProviderConfig.Raw = []byte(profile)
			_, err := env.driver.Prepare(t.Context(), shoot)
			require.Error(t, err)
			assert.Equal(t, cloud.Configuration, cloud.KindOf(err), err)

			shoot.Deleting = true
			_, err = env.driver.Cleanup(t.Context(), shoot, env.recorded())
			require.Error(t, err)
			assert.Equal(t, cloud.Configuration, cloud.KindOf(err), err)
			assert.Zero(t, calls.Load(), "the driver logged in at the URL in the Secret")
			assert.Len(t, env.serverGroupNames(), 1)
		})
	}
}

func TestDriver_DeleteWithDamagedCloudProfile(t *testing.T) {
	env := newCloudEnvironment(t)
	env.setServerGroup("cpu", "soft-anti-affinity")
	env.mustReconcile()
	shoot := env.shootInput()
	shoot.Deleting = true
	shoot.Cluster.CloudProfile.Spec.ProviderConfig.Raw = []byte(`{"apiVersion":"` + openstackv1alpha1.GroupVersion().String() + `",` +
		`"kind":"CloudProfileConfig","machineImages":"damaged","keystoneURL":"` + env.cloud.AuthURL() + `"}`)
	_, err := env.driver.Cleanup(t.Context(), shoot, env.recorded())
	require.NoError(t, err)
	assert.Empty(t, env.serverGroupNames())
}
