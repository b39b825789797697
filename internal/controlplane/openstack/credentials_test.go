package openstack

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
)

func TestTheCloudProfileCompletesCredentials(t *testing.T) {
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
		"a profile that does not know the region leaves all to the user": {
			profile: &openstackv1alpha1.CloudProfileConfig{KeyStoneURLs: regional[:1]},
			given:   map[string]string{"authURL": "https://mine", "caCert": "mine", "insecure": "true"},
			want:    map[string]string{"authURL": "https://mine", "caCert": "mine", "insecure": "true"},
		},
		"a profile without any configuration as well": {
			given: map[string]string{"authURL": "https://mine"}, want: map[string]string{"authURL": "https://mine"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			data, want := secretData(mine, test.given), secretData(mine, test.want)
			original := maps.Clone(data)
			for range 2 {
				require.NoError(t, (&Driver{}).CompleteCredentials(data, clusterWith(t, test.profile)))
				assert.Empty(t, cmp.Diff(want, data))
			}
			if test.profile != nil {
				// Whoever goes by the Secret alone logs in as whoever asks the profile.
				byProfile, err := cloudopenstack.ParseCredentials(original)
				require.NoError(t, err)
				bySecret, err := cloudopenstack.ParseCredentials(data)
				require.NoError(t, err)
				assert.Equal(t, byProfile.At(keystoneOf(test.profile, "RegionOne")), bySecret)
			}
		})
	}
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
