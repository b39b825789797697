package openstack

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

func TestValidateNamesFieldAndRemedy(t *testing.T) {
	for name, test := range map[string]struct {
		raw, want string
	}{
		"an unknown field": {`{"floatingPoolName":"public","networks":{"workers":"10.250.0.0/19","wrokers":"x"}}`, "wrokers"},
		"a wrong range":    {`{"floatingPoolName":"public","networks":{"workers":"10.250.0.0/33"}}`, "spec.providerConfig.networks.workers"},
		"a pool that the cloud profile does not allow": {
			`{"floatingPoolName":"private","networks":{"workers":"10.250.0.0/19"}}`,
			"spec.providerConfig.floatingPoolName",
		},
		"D28: a subnet pool that is no UUID": {
			`{"floatingPoolName":"public","networks":{"subnetPool":{"id":"pool"}}}`,
			"spec.providerConfig.networks.subnetPool.id",
		},
		"two sources of the nodes' addresses": {
			`{"floatingPoolName":"public","networks":{"workers":"10.250.0.0/19","subnetPool":{"id":"11111111-1111-1111-1111-111111111111"}}}`,
			"only one of",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			shoot := w.input()
			raw := `{"apiVersion":"openstack.provider.extensions.gardener.cloud/v1alpha1","kind":"InfrastructureConfig",` + test.raw[1:]
			shoot.Infrastructure.Spec.ProviderConfig = &runtime.RawExtension{Raw: []byte(raw)}
			problems := w.driver.Validate(shoot)
			require.NotEmpty(t, problems)
			assert.Contains(t, problems.ToAggregate().Error(), test.want)
			assert.Empty(t, w.calls(), "no call to the cloud")
		})
	}
}

func TestValidateKeepsWhatCannotChange(t *testing.T) {
	fulfilled := newWorld(t)
	fulfilled.mustReconcile()
	for name, test := range map[string]struct {
		change func(config *openstackv1alpha1.InfrastructureConfig)
		want   string
	}{
		"the floating pool":    {func(c *openstackv1alpha1.InfrastructureConfig) { c.FloatingPoolName = "other" }, "floatingPoolName"},
		"the range of workers": {func(c *openstackv1alpha1.InfrastructureConfig) { c.Networks.Workers = "10.250.32.0/19" }, "networks.workers"},
		"the network": {func(c *openstackv1alpha1.InfrastructureConfig) {
			c.Networks.ID = new("11111111-1111-1111-1111-111111111111")
		}, "networks.id"},
		"the router": {func(c *openstackv1alpha1.InfrastructureConfig) {
			c.Networks.Router = &openstackv1alpha1.Router{ID: "11111111-1111-1111-1111-111111111111"}
		}, "networks.router"},
		"but not the MTU": {func(c *openstackv1alpha1.InfrastructureConfig) { c.Networks.MTU = new(1500) }, ""},
		"but not the sources of node ports": {func(c *openstackv1alpha1.InfrastructureConfig) {
			c.Networks.NodePortSourceRanges = []string{"10.0.0.0/8"}
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := fulfilled
			shoot := w.input()
			changed := w.config.DeepCopy()
			test.change(changed)
			shoot.Infrastructure.Spec.ProviderConfig = w.encode(changed)
			problems := w.driver.Validate(shoot)
			if test.want == "" {
				assert.Empty(t, problems)
				return
			}
			require.NotEmpty(t, problems)
			assert.Contains(t, problems.ToAggregate().Error(), "spec.providerConfig."+test.want)
		})
	}
}

func TestValidateLetsAUserCorrectWhatNeverWorked(t *testing.T) {
	w := newWorld(t)
	w.profile.Constraints.FloatingPools[0].Name = "*"
	w.config.FloatingPoolName = "pubilc"
	_, err := w.reconcile()
	require.Error(t, err)
	w.config.FloatingPoolName = fake.ExternalNetwork
	w.mustReconcile()
}

func TestValidateComparesAdoptedShootsByID(t *testing.T) {
	w, _ := upstreamShoot(t)
	w.config.Networks.ID = new("11111111-1111-1111-1111-111111111111")
	problems := w.driver.Validate(w.input())
	require.NotEmpty(t, problems)
	assert.Contains(t, problems.ToAggregate().Error(), "is immutable: the shoot lives in "+w.state()["Network"])
}

func TestDriver_ReconcileWhatUpstreamAccepted(t *testing.T) {
	for sentence, change := range map[string]func(w *world){
		"a subnet pool by name, with a long prefix": func(w *world) {
			w.config.Networks = openstackv1alpha1.Networks{SubnetPool: &openstackv1alpha1.SubnetPool{ID: "my-pool", PrefixLength: new(31)}}
		},
		"an IPv6 pool by name, which waits": func(w *world) { w.config.Networks.IPv6 = &openstackv1alpha1.IPv6Config{SubnetPoolID: new("my-pool")} },
		"an IPv6 pool beside some ranges": func(w *world) {
			w.config.Networks.IPv6 = &openstackv1alpha1.IPv6Config{SubnetPoolID: new("my-pool"), PodCIDR: "2001:db8::/64"}
		},
		"a floating pool by a glob":                    func(w *world) { w.config.FloatingPoolName = fake.ExternalNetwork[:3] + "*" },
		"a floating pool subnet by an expression":      func(w *world) { w.config.FloatingPoolSubnetName = new("public-[ab]{2}.*") },
		"a floating pool that the profile has no more": func(w *world) { w.profile.Constraints.FloatingPools = nil },
	} {
		t.Run(sentence, func(t *testing.T) {
			w, before := upstreamShoot(t)
			change(w)
			w.mustReconcile()
			w.unchanged(before)
			w.mustReconcile() // by what is recorded now
			w.unchanged(before)
		})
		t.Run(sentence+", in a new shoot", func(t *testing.T) {
			w := newWorld(t)
			change(w)
			assert.NotEmpty(t, w.driver.Validate(w.input()))
		})
	}
}

func TestErrorsHaveTheirKind(t *testing.T) {
	for name, test := range map[string]struct {
		arrange func(w *world)
		kind    cloud.Kind
		text    string
	}{
		"an exhausted quota": {
			func(w *world) { require.NoError(w.t, w.cloud.SetQuota(fake.DefaultProject, "router", 0)) },
			cloud.QuotaExceeded, `ensuring router: creating router "shoot--dev--one"`,
		},
		"a secret without a password": {
			func(w *world) { delete(w.secret, "password") },
			cloud.Configuration, "password",
		},
		"a wrong password": {
			func(w *world) { w.secret["password"] = []byte("wrong") },
			cloud.Unauthenticated, "logging in to OpenStack",
		},
		"a deed that is not allowed": {
			func(w *world) { w.profile.UseSNAT = new(false) },
			cloud.Unauthorized, "creating router",
		},
		"a share network in a cloud without Manila": {func(w *world) {
			w.config.Networks.ShareNetwork = &openstackv1alpha1.ShareNetwork{Enabled: true}
		}, cloud.Configuration, "networks.shareNetwork.enabled"},
		"a network plugin's configuration that cannot be read": {func(w *world) {
			w.shoot.Spec.Networking.Type = new("calico")
			w.shoot.Spec.Networking.ProviderConfig = &runtime.RawExtension{Raw: []byte(`{"overlay":"off"}`)}
		}, cloud.Configuration, "shoot.spec.networking.providerConfig"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, fake.WithoutServices(wire.Manila))
			test.arrange(w)
			_, err := w.driver.Reconcile(t.Context(), w.input(), &savingTrack{world: w})
			require.ErrorContains(t, err, test.text)
			assert.Equal(t, test.kind, cloud.KindOf(err))
		})
	}
}

func TestPlanWithoutNetworkingFallsBackToTheWorkersRange(t *testing.T) {
	w := newWorld(t)
	w.shoot.Spec.Networking = &gardencorev1beta1.Networking{}
	in, errs := decodeInputs(w.input())
	require.Empty(t, errs)
	assert.Equal(t, "10.250.0.0/19", in.newPlan(w.input()).nodes)
	w.shoot.Spec.Networking = nil
	_, errs = decodeInputs(w.input())
	assert.Empty(t, errs)
}

func TestKeystoneComesFromTheCloudProfileWhenItKnowsOne(t *testing.T) {
	regional, own := certificateAuthority(t), certificateAuthority(t)
	profile := func(url string, ca *string, insecure bool) *openstackv1alpha1.CloudProfileConfig {
		return &openstackv1alpha1.CloudProfileConfig{
			KeyStoneURLs:          []openstackv1alpha1.KeyStoneURL{{Region: fake.DefaultRegion, URL: url, CACert: ca}},
			KeyStoneForceInsecure: insecure,
		}
	}
	type reach struct {
		url, ca  string
		insecure bool
	}
	for name, test := range map[string]struct {
		profile *openstackv1alpha1.CloudProfileConfig
		secret  map[string]string
		want    reach
	}{
		"the profile's alone": {
			profile("https://regional", &regional, true), nil,
			reach{"https://regional", regional, true},
		},
		"the profile's win over the Secret's": {
			profile("https://regional", &regional, false),
			map[string]string{"authURL": "https://own", "caCert": own, "insecure": "true"},
			reach{"https://regional", regional, false},
		},
		"the profile's win over what cannot even be read": {
			profile("https://regional", &regional, false),
			map[string]string{"authURL": "own", "caCert": "own", "insecure": "own"},
			reach{"https://regional", regional, false},
		},
		"the Secret's CA bundle where the profile has none": {
			profile("https://regional", nil, false),
			map[string]string{"authURL": "https://own", "caCert": own},
			reach{"https://regional", own, false},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			for key, value := range test.secret {
				w.secret[key] = []byte(value)
			}
			credentials, err := (&inputs{profile: test.profile}).credentials(w.input())
			require.NoError(t, err)
			assert.Equal(t, test.want, reach{credentials.AuthURL, credentials.CACert, credentials.Insecure})
		})
	}
}

// certificateAuthority returns a bundle of one certificate, in the form in which credentials hold it.
func certificateAuthority(t *testing.T) string {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	return strings.TrimSpace(string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})))
}
