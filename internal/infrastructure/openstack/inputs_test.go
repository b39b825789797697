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
	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
)

func TestDriver_ValidateMessages(t *testing.T) {
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
			env := newEnvironment(t)
			shoot := env.input()
			raw := `{"apiVersion":"openstack.provider.extensions.gardener.cloud/v1alpha1","kind":"InfrastructureConfig",` + test.raw[1:]
			shoot.Infrastructure.Spec.ProviderConfig = &runtime.RawExtension{Raw: []byte(raw)}
			problems := env.driver.Validate(shoot)
			require.NotEmpty(t, problems)
			assert.Contains(t, problems.ToAggregate().Error(), test.want)
			assert.Empty(t, env.takeCalls(), "no call to the cloud")
		})
	}
}

func TestDriver_ValidateImmutableFields(t *testing.T) {
	fulfilled := newEnvironment(t)
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
			env := fulfilled
			shoot := env.input()
			changed := env.config.DeepCopy()
			test.change(changed)
			shoot.Infrastructure.Spec.ProviderConfig = env.encode(changed)
			problems := env.driver.Validate(shoot)
			if test.want == "" {
				assert.Empty(t, problems)
				return
			}
			require.NotEmpty(t, problems)
			assert.Contains(t, problems.ToAggregate().Error(), "spec.providerConfig."+test.want)
		})
	}
}

func TestDriver_ValidateBeforeFirstSuccess(t *testing.T) {
	env := newEnvironment(t)
	env.profile.Constraints.FloatingPools[0].Name = "*"
	env.config.FloatingPoolName = "pubilc"
	_, err := env.reconcile()
	require.Error(t, err)
	env.config.FloatingPoolName = fake.ExternalNetwork
	env.mustReconcile()
}

func TestDriver_ValidateAdoptedShoot(t *testing.T) {
	env, _ := upstreamShoot(t)
	env.config.Networks.ID = new("11111111-1111-1111-1111-111111111111")
	problems := env.driver.Validate(env.input())
	require.NotEmpty(t, problems)
	assert.Contains(t, problems.ToAggregate().Error(), "is immutable: the shoot lives in "+env.state()["Network"])
}

func TestDriver_ReconcileUpstreamConfiguration(t *testing.T) {
	for sentence, change := range map[string]func(env *environment){
		"a subnet pool by name, with a long prefix": func(env *environment) {
			env.config.Networks = openstackv1alpha1.Networks{SubnetPool: &openstackv1alpha1.SubnetPool{ID: "my-pool", PrefixLength: new(31)}}
		},
		"an IPv6 pool by name, which waits": func(env *environment) {
			env.config.Networks.IPv6 = &openstackv1alpha1.IPv6Config{SubnetPoolID: new("my-pool")}
		},
		"an IPv6 pool beside some ranges": func(env *environment) {
			env.config.Networks.IPv6 = &openstackv1alpha1.IPv6Config{SubnetPoolID: new("my-pool"), PodCIDR: "2001:db8::/64"}
		},
		"a floating pool by a glob":                    func(env *environment) { env.config.FloatingPoolName = fake.ExternalNetwork[:3] + "*" },
		"a floating pool subnet by an expression":      func(env *environment) { env.config.FloatingPoolSubnetName = new("public-[ab]{2}.*") },
		"a floating pool that the profile has no more": func(env *environment) { env.profile.Constraints.FloatingPools = nil },
	} {
		t.Run(sentence, func(t *testing.T) {
			env, before := upstreamShoot(t)
			change(env)
			env.mustReconcile()
			env.assertUnchanged(before)
			env.mustReconcile() // by what is recorded now
			env.assertUnchanged(before)
		})
		t.Run(sentence+", in a new shoot", func(t *testing.T) {
			env := newEnvironment(t)
			change(env)
			assert.NotEmpty(t, env.driver.Validate(env.input()))
		})
	}
}

func TestDriver_ReconcileErrorKinds(t *testing.T) {
	for name, test := range map[string]struct {
		arrange func(env *environment)
		kind    cloud.Kind
		text    string
	}{
		"an exhausted quota": {
			func(env *environment) { require.NoError(env.t, env.cloud.SetQuota(fake.DefaultProject, "router", 0)) },
			cloud.QuotaExceeded, `ensuring router: creating router "shoot--dev--one"`,
		},
		"a secret without a password": {
			func(env *environment) { delete(env.secret, "password") },
			cloud.Configuration, "password",
		},
		"a wrong password": {
			func(env *environment) { env.secret["password"] = []byte("wrong") },
			cloud.Unauthenticated, "logging in to OpenStack",
		},
		"an action that is not allowed": {
			func(env *environment) { env.profile.UseSNAT = new(false) },
			cloud.Unauthorized, "creating router",
		},
		"a share network in a cloud without Manila": {func(env *environment) {
			env.config.Networks.ShareNetwork = &openstackv1alpha1.ShareNetwork{Enabled: true}
		}, cloud.Configuration, "networks.shareNetwork.enabled"},
		"a network plugin's configuration that cannot be read": {func(env *environment) {
			env.shoot.Spec.Networking.Type = new("calico")
			env.shoot.Spec.Networking.ProviderConfig = &runtime.RawExtension{Raw: []byte(`{"overlay":"off"}`)}
		}, cloud.Configuration, "shoot.spec.networking.providerConfig"},
	} {
		t.Run(name, func(t *testing.T) {
			env := newEnvironment(t, fake.WithoutServices(services.Manila))
			test.arrange(env)
			_, err := env.driver.Reconcile(t.Context(), env.input(), &savingRecorder{env: env})
			require.ErrorContains(t, err, test.text)
			assert.Equal(t, test.kind, cloud.KindOf(err))
		})
	}
}

func TestNewPlan_WithoutNetworking(t *testing.T) {
	env := newEnvironment(t)
	env.shoot.Spec.Networking = &gardencorev1beta1.Networking{}
	in, errs := decodeInputs(env.input())
	require.Empty(t, errs)
	assert.Equal(t, "10.250.0.0/19", in.newPlan(env.input()).nodes)
	env.shoot.Spec.Networking = nil
	_, errs = decodeInputs(env.input())
	assert.Empty(t, errs)
}

func TestInputs_CredentialsKeystone(t *testing.T) {
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
			env := newEnvironment(t)
			for key, value := range test.secret {
				env.secret[key] = []byte(value)
			}
			credentials, err := (&inputs{profile: test.profile}).credentials(env.input())
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
