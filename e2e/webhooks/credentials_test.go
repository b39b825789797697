package webhooks

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
)

// testCredentials lets gardenlet put the credentials of users into the seed. Where to log in and whom to trust there is known by
// the cloud profile, which has the last word.
func testCredentials(t *testing.T, env *environment) {
	for sentence, test := range map[string]struct {
		shoot   string
		profile func(*openstackv1alpha1.CloudProfileConfig)
		given   map[string]string
		want    map[string]string
	}{
		"the region has a Keystone of its own": {
			shoot: "region",
			profile: func(config *openstackv1alpha1.CloudProfileConfig) {
				config.KeyStoneURL = keystoneURL
				config.KeyStoneURLs = []openstackv1alpha1.KeyStoneURL{
					{Region: "RegionTwo", URL: "https://two.example.org/v3"},
					{Region: "RegionOne", URL: "https://one.example.org/v3", CACert: new("the region's CA")},
				}
			},
			given: map[string]string{"username": "robot", "authURL": "https://elsewhere.example.org", "caCert": "own", "insecure": "true"},
			want:  map[string]string{"username": "robot", "authURL": "https://one.example.org/v3", "caCert": "the region's CA"},
		},
		"the landscape does not verify certificates": {
			shoot: "insecure",
			profile: func(config *openstackv1alpha1.CloudProfileConfig) {
				config.KeyStoneURL, config.KeyStoneForceInsecure = keystoneURL, true
			},
			given: map[string]string{"username": "robot"},
			want:  map[string]string{"username": "robot", "authURL": keystoneURL, "insecure": "true"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			shoot := newShoot(test.shoot)
			shoot.CloudProfileConfig = cloudProfile(test.profile)
			shoot.Credentials = map[string][]byte{}
			for key, value := range test.given {
				shoot.Credentials[key] = []byte(value)
			}
			env.prepare(t, shoot)
			first := env.secret(t, shoot.Namespace(), "cloudprovider")
			assert.Equal(t, test.want, texts(first.Data))

			env.prepare(t, shoot)
			second := env.secret(t, shoot.Namespace(), "cloudprovider")
			assert.Equal(t, texts(first.Data), texts(second.Data))
			assert.Equal(t, first.ResourceVersion, second.ResourceVersion, "gardenlet's second pass changes nothing")
		})
	}

	t.Run("other Secrets are left alone", func(t *testing.T) {
		purpose := map[string]string{"gardener.cloud/purpose": "cloudprovider"}
		for name, labels := range map[string]map[string]string{"cloudprovider-2": purpose, "observability": nil} {
			data := map[string][]byte{"username": []byte("robot")}
			meta := metav1.ObjectMeta{Namespace: env.probe.Namespace(), Name: name, Labels: labels}
			require.NoError(t, env.Client.Create(t.Context(), &corev1.Secret{ObjectMeta: meta, Data: data}))
			assert.Equal(t, map[string]string{"username": "robot"}, texts(env.secret(t, meta.Namespace, meta.Name).Data))
		}
	})
}

func (env *environment) secret(t *testing.T, namespace, name string) *corev1.Secret {
	t.Helper()
	secret := &corev1.Secret{}
	require.NoError(t, env.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, secret))
	return secret
}

func texts(data map[string][]byte) map[string]string {
	texts := map[string]string{}
	for key, value := range data {
		texts[key] = string(value)
	}
	return texts
}
