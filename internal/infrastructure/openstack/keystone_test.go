package openstack

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
)

// startUntrustedKeystone is a Keystone that the shoot's Secret names. It records whether anybody came.
func (env *environment) startUntrustedKeystone() *atomic.Int32 {
	var calls atomic.Int32
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { calls.Add(1) }))
	env.t.Cleanup(server.Close)
	env.secret["authURL"], env.secret["insecure"] = []byte(server.URL+"/v3"), []byte("true")
	return &calls
}

// profiles that do not say where Keystone of the shoot's region is.
func profilesWithoutKeystone() map[string]string {
	const header = `{"apiVersion":"openstack.provider.extensions.gardener.cloud/v1alpha1","kind":"CloudProfileConfig",`
	return map[string]string{
		"the profile lists other regions only":       header + `"keystoneURLs":[{"region":"elsewhere","url":"https://keystone.example.org"}]}`,
		"the profile lists the region without a URL": header + `"keystoneURLs":[{"region":"` + fake.DefaultRegion + `"}]}`,
		"the profile says nothing":                   header + `"useSNAT":true}`,
		"the profile is damaged and says nothing":    header + `"dnsServers":"damaged"}`,
		"the profile's Keystone is damaged":          header + `"keystoneURL":5}`,
		"the profile is of another kind":             `{"kind":"Nonsense"}`,
	}
}

func TestDriver_RegionWithoutKeystone(t *testing.T) {
	for sentence, profile := range profilesWithoutKeystone() {
		t.Run(sentence, func(t *testing.T) {
			env := newEnvironment(t)
			env.mustReconcile()
			before, calls := env.resources(), env.startUntrustedKeystone()

			shoot := env.input()
			shoot.Cluster.CloudProfile.Spec.ProviderConfig = &runtime.RawExtension{Raw: []byte(profile)}
			_, err := env.driver.Reconcile(t.Context(), shoot, &savingRecorder{env: env})
			require.Error(t, err)
			assert.Equal(t, cloud.Configuration, cloud.KindOf(err), err)
			assert.ErrorContains(t, err, "cloudProfile.spec.providerConfig")

			err = env.driver.Delete(t.Context(), shoot, &savingRecorder{env: env})
			require.Error(t, err)
			assert.Equal(t, cloud.Configuration, cloud.KindOf(err), err)
			assert.ErrorContains(t, err, "cloudProfile.spec.providerConfig")

			assert.Zero(t, calls.Load(), "logged in where the Secret says")
			env.assertUnchanged(before)
		})
	}
}

func TestDriver_DeleteWithDamagedCloudProfile(t *testing.T) {
	for sentence, keystone := range map[string]func(url string) string{
		"one URL for all regions": func(url string) string { return `"keystoneURL":"` + url + `"` },
		"a URL of the region only": func(url string) string {
			return `"keystoneURLs":[{"region":"` + fake.DefaultRegion + `","url":"` + url + `"}]`
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			env := newEnvironment(t)
			empty := env.resources()
			env.mustReconcile()
			calls := env.startUntrustedKeystone()
			shoot := env.input()
			shoot.Cluster.CloudProfile.Spec.ProviderConfig.Raw = []byte(`{"apiVersion":"` + openstackv1alpha1.GroupVersion().String() + `",` +
				`"kind":"CloudProfileConfig","machineImages":"damaged",` + keystone(env.cloud.AuthURL()) + `}`)
			require.NoError(t, env.driver.Delete(t.Context(), shoot, &savingRecorder{env: env}))
			env.assertUnchanged(empty)
			assert.Zero(t, calls.Load(), "logged in where the Secret says")
		})
	}
}
