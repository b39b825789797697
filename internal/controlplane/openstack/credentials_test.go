package openstack

import (
	"maps"
	"testing"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/auth"
	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/controlplane"
)

func TestDriver_CompleteCredentials(t *testing.T) {
	mine := map[string]string{"username": "me", "password": "secret", "domainName": "d", "tenantName": "p"}
	regional := []openstackv1alpha1.KeyStoneURL{
		{Region: "RegionTwo", URL: "https://two"}, {Region: "RegionOne", URL: "https://one", CACert: new("one's")},
	}
	for sentence, test := range map[string]struct {
		profile     *openstackv1alpha1.CloudProfileConfig
		given, want map[string]string
	}{
		"where the cloud is comes from the profile": {
			profile: &openstackv1alpha1.CloudProfileConfig{KeyStoneURL: "https://cloud", KeyStoneCACert: new("a CA")},
			want:    map[string]string{"authURL": "https://cloud", "caCert": "a CA"},
		},
		"a region has its own": {
			profile: &openstackv1alpha1.CloudProfileConfig{KeyStoneURL: "https://cloud", KeyStoneCACert: new("a CA"), KeyStoneURLs: regional},
			want:    map[string]string{"authURL": "https://one", "caCert": "one's"},
		},
		"a user sends nobody elsewhere, and does not decide whom to trust": {
			profile: &openstackv1alpha1.CloudProfileConfig{KeyStoneURL: "https://cloud", KeyStoneCACert: new("a CA")},
			given:   map[string]string{"authURL": "https://evil", "caCert": "evil's", "insecure": "true"},
			want:    map[string]string{"authURL": "https://cloud", "caCert": "a CA"},
		},
		"a user's CA stays where the operator names none": {
			profile: &openstackv1alpha1.CloudProfileConfig{KeyStoneURL: "https://cloud"},
			given:   map[string]string{"caCert": "mine"},
			want:    map[string]string{"authURL": "https://cloud", "caCert": "mine"},
		},
		"the operator may do without certificates": {
			profile: &openstackv1alpha1.CloudProfileConfig{KeyStoneURL: "https://cloud", KeyStoneForceInsecure: true},
			given:   map[string]string{"insecure": "false"},
			want:    map[string]string{"authURL": "https://cloud", "insecure": "true"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			data, want := secretData(mine, test.given), secretData(mine, test.want)
			original := maps.Clone(data)
			for range 2 {
				require.NoError(t, (&Driver{}).CompleteCredentials(&corev1.Secret{Data: data}, clusterWith(t, test.profile)))
				assert.Empty(t, cmp.Diff(want, data))
			}
			// Whoever goes by the Secret alone logs in as whoever asks the profile.
			byProfile, err := auth.ParseCredentials(original)
			require.NoError(t, err)
			bySecret, err := auth.ParseCredentials(data)
			require.NoError(t, err)
			keystone, err := keystoneOf(test.profile, "RegionOne")
			require.NoError(t, err)
			assert.Equal(t, byProfile.WithKeystone(keystone), bySecret)
		})
	}
}

func TestDriver_CompleteCredentialsWithoutKeystone(t *testing.T) {
	elsewhere := &openstackv1alpha1.CloudProfileConfig{KeyStoneURLs: []openstackv1alpha1.KeyStoneURL{{Region: "RegionTwo", URL: "https://two"}}}
	damaged := clusterWith(t, &openstackv1alpha1.CloudProfileConfig{})
	damaged.CloudProfile.Spec.ProviderConfig.Raw = []byte(`{"kind":"Nonsense"}`)
	mine := map[string]string{"username": "me", "password": "secret", "domainName": "d", "tenantName": "p", "caCert": "mine"}
	for sentence, cluster := range map[string]*contract.Cluster{
		"the profile does not know the region":           clusterWith(t, elsewhere),
		"the profile has no configuration":               clusterWith(t, nil),
		"the profile's configuration is of another kind": damaged,
	} {
		t.Run(sentence+": the Secret passes and leads nowhere", func(t *testing.T) {
			data := secretData(mine, map[string]string{"authURL": "https://evil", "insecure": "true"})
			require.NoError(t, (&Driver{}).CompleteCredentials(&corev1.Secret{Data: data}, cluster))
			assert.Equal(t, secretData(mine), data)
			delete(data, "caCert")
			credentials, err := auth.ParseCredentials(data)
			require.NoError(t, err)
			err = credentials.Validate()
			require.ErrorContains(t, err, `"authURL" is missing: the cloud profile has to have a URL of Keystone for the region`)
			assert.Equal(t, cloud.Configuration, cloud.KindOf(err))
		})
	}
}

func TestDriver_CompleteCredentialsIgnoresOtherFields(t *testing.T) {
	cluster := clusterWith(t, &openstackv1alpha1.CloudProfileConfig{})
	cluster.CloudProfile.Spec.ProviderConfig.Raw = []byte(`{"apiVersion":"openstack.provider.extensions.gardener.cloud/v1alpha1",
		"kind":"CloudProfileConfig","keystoneURL":"https://cloud","machineImages":"damaged"}`)
	data := secretData(map[string]string{"authURL": "https://evil"})
	require.NoError(t, (&Driver{}).CompleteCredentials(&corev1.Secret{Data: data}, cluster))
	assert.Equal(t, secretData(map[string]string{"authURL": "https://cloud"}), data)
}

func TestDecodeInputs_RegionWithoutKeystone(t *testing.T) {
	cluster := clusterWith(t, &openstackv1alpha1.CloudProfileConfig{KeyStoneURLs: []openstackv1alpha1.KeyStoneURL{{Region: "RegionTwo", URL: "https://two"}}})
	shoot := &controlplane.Shoot{
		ControlPlane: &extensionsv1alpha1.ControlPlane{Spec: extensionsv1alpha1.ControlPlaneSpec{Region: "RegionOne"}}, Cluster: cluster,
		Credentials: secretData(map[string]string{
			"username": "me", "password": "secret", "domainName": "d", "tenantName": "p", "authURL": "https://evil", "insecure": "true",
		}),
	}
	in, errs := decodeInputs(shoot)
	assert.ErrorContains(t, errs.ToAggregate(), `cloudProfile.spec.providerConfig: Invalid value: the cloud profile has no URL of Keystone for region "RegionOne"`)
	assert.Empty(t, in.credentials.AuthURL)
	_, err := New().Plan(shoot)
	assert.Equal(t, cloud.Configuration, cloud.KindOf(err))
}

func secretData(sources ...map[string]string) map[string][]byte {
	data := map[string][]byte{}
	for _, source := range sources {
		for key, value := range source {
			data[key] = []byte(value)
		}
	}
	return data
}
