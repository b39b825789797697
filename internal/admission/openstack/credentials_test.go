package openstack

import (
	"net/http"
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	securityv1alpha1 "github.com/gardener/gardener/pkg/apis/security/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/admission"
)

func TestValidateSecret(t *testing.T) {
	const noPassword = "data[password]: Required value: add the user's, or use an application credential"
	noAddress := "data[authURL]: Invalid value: must be an address like https://keystone.example.org:5000/v3: correct it, " +
		"or remove the key where the CloudProfile has Keystone's address"
	for sentence, test := range map[string]struct {
		object, old *corev1.Secret
		want        []string
		warnings    []string
	}{
		"a good one":                                    {object: loginSecret()},
		"one that misses something":                     {object: loginSecret("password", "-"), want: []string{noPassword}},
		"somebody else's":                               {object: withoutLabels(loginSecret("password", "-"))},
		"one with a key that nobody knows":              {object: loginSecret("region", "x"), warnings: []string{"data[region]: is not a key of OpenStack credentials and is ignored: remove it"}},
		"one that loses something":                      {object: loginSecret("password", "-"), old: loginSecret(), want: []string{noPassword}},
		"somebody else's that changes":                  {object: withoutLabels(loginSecret("password", "-")), old: withoutLabels(loginSecret())},
		"one that loses its label meanwhile":            {object: withoutLabels(loginSecret("password", "-")), old: loginSecret(), want: []string{noPassword}},
		"one that is labelled, whatever it has in it":   {object: loginSecret("password", "-"), old: withoutLabels(loginSecret("password", "-"))},
		"one that misses the same as before":            {object: loginSecret("password", "-", "username", "v"), old: loginSecret("password", "-")},
		"one whose error stays as it is":                {object: loginSecret("authURL", "a", "password", "q"), old: loginSecret("authURL", "a")},
		"one whose error gives way to another":          {object: loginSecret("authURL", "b"), old: loginSecret("authURL", "a"), want: []string{noAddress}},
		"one whose error is mended":                     {object: loginSecret(), old: loginSecret("password", "-")},
		"another password":                              {object: loginSecret("password", "q"), old: loginSecret()},
		"another project, without any binding or shoot": {object: loginSecret("tenantName", "other"), old: loginSecret()},
	} {
		t.Run(sentence, func(t *testing.T) {
			var old []byte
			if test.old != nil {
				old = encodedCredentials(t, test.old)
			}
			garden := &credentialsGarden{}
			response := callCredentialsWebhook(t, garden, "secret.openstack", encodedCredentials(t, test.object), old)
			assert.Equal(t, test.want, credentialsCauses(response))
			assert.Equal(t, len(test.want) == 0, response.Allowed)
			assert.Equal(t, test.warnings, response.Warnings)
			if test.old == nil || string(test.old.Data["tenantName"]) == string(test.object.Data["tenantName"]) {
				assert.Empty(t, garden.requests)
			}
			if test.old == nil && len(test.want) > 0 {
				internal := &gardencorev1beta1.InternalSecret{ObjectMeta: test.object.ObjectMeta, Data: test.object.Data}
				assert.Equal(t, test.want, credentialsCauses(callCredentialsWebhook(t, garden, "internalsecret.openstack", encodedCredentials(t, internal), nil)))
			}
		})
	}
}

func TestValidateSecret_ProjectChange(t *testing.T) {
	bySecretBinding := gardencorev1beta1.ShootSpec{SecretBindingName: new("bound")}
	byCredentialsBinding := gardencorev1beta1.ShootSpec{CredentialsBindingName: new("bound")}
	secretBindings, credentialsBindings, shoots := "v1beta1.SecretBindingList", "v1alpha1.CredentialsBindingList", "v1beta1.ShootList"
	for sentence, test := range map[string]struct {
		internal bool
		objects  []client.Object
		refused  bool
		looks    []string
	}{
		"no binding refers to them": {
			objects: []client.Object{shootWithCredentials("garden-dev", "openstack", bySecretBinding)}, looks: []string{secretBindings, credentialsBindings},
		},
		"a binding that no shoot uses": {
			objects: []client.Object{newSecretBinding("openstack", "garden-dev"), shootWithCredentials("garden-dev", "openstack", byCredentialsBinding)},
			looks:   []string{secretBindings, credentialsBindings, shoots},
		},
		"a shoot of the same namespace": {
			objects: []client.Object{newSecretBinding("openstack", "garden-dev"), shootWithCredentials("garden-dev", "openstack", bySecretBinding)},
			refused: true, looks: []string{secretBindings, credentialsBindings, shoots},
		},
		"a shoot of another namespace, by a CredentialsBinding": {
			objects: []client.Object{newCredentialsBinding("v1", "Secret"), shootWithCredentials("garden-other", "openstack", byCredentialsBinding)},
			refused: true, looks: []string{secretBindings, credentialsBindings, shoots},
		},
		"a shoot elsewhere with a binding of the same name": {
			objects: []client.Object{newCredentialsBinding("v1", "Secret"), shootWithCredentials("garden-dev", "openstack", byCredentialsBinding)},
			looks:   []string{secretBindings, credentialsBindings, shoots},
		},
		"a shoot of another type that shares them": {
			objects: []client.Object{newSecretBinding("aws,openstack", "garden-dev"), shootWithCredentials("garden-dev", "aws", bySecretBinding)},
			looks:   []string{secretBindings, credentialsBindings, shoots},
		},
		"a binding to another kind of the same name": {
			objects: []client.Object{newCredentialsBinding("core.gardener.cloud/v1beta1", "InternalSecret"), shootWithCredentials("garden-other", "openstack", byCredentialsBinding)},
			looks:   []string{secretBindings, credentialsBindings},
		},
		"a shoot that lives on an InternalSecret": {
			internal: true,
			objects:  []client.Object{newCredentialsBinding("core.gardener.cloud/v1beta1", "InternalSecret"), shootWithCredentials("garden-other", "openstack", byCredentialsBinding)},
			refused:  true, looks: []string{credentialsBindings, shoots},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			garden := &credentialsGarden{objects: test.objects}
			name, object, old := "secret.openstack", encodedCredentials(t, loginSecret("tenantName", "other")), encodedCredentials(t, loginSecret())
			if test.internal {
				name, object, old = "internalsecret.openstack", encodedCredentials(t, loginInternalSecret("tenantName", "other")), encodedCredentials(t, loginInternalSecret())
			}
			response := callCredentialsWebhook(t, garden, name, object, old)
			assert.Equal(t, !test.refused, response.Allowed)
			assert.Equal(t, test.looks, garden.requests)
			if test.refused {
				require.Len(t, credentialsCauses(response), 1)
				assert.Contains(t, credentialsCauses(response)[0], "data[tenantName]: Invalid value: is another project than before")
			}
		})
	}
}

func TestCredentialsWebhooks_GardenUnavailable(t *testing.T) {
	everything := []client.Object{
		newSecretBinding("openstack", "garden-dev"), shootWithCredentials("garden-dev", "openstack", gardencorev1beta1.ShootSpec{SecretBindingName: new("bound")}), loginSecret(),
	}
	for sentence, test := range map[string]struct {
		webhook     string
		object, old client.Object
		broken      runtime.Object
		want        string
	}{
		"a Secret":        {"secretbinding", newSecretBinding("openstack", "garden-dev"), nil, &corev1.Secret{}, `reading *v1.Secret "one": get: nobody answers: try again`},
		"SecretBindings":  {"secret", loginSecret("tenantName", "x"), loginSecret(), &gardencorev1beta1.SecretBindingList{}, "listing SecretBindings: list: nobody answers: try again"},
		"all other lists": {"secret", loginSecret("tenantName", "x"), loginSecret(), &securityv1alpha1.CredentialsBindingList{}, "listing CredentialsBindings: list: nobody answers: try again"},
		"shoots":          {"secret", loginSecret("tenantName", "x"), loginSecret(), &gardencorev1beta1.ShootList{}, `listing Shoots: list: nobody answers: try again`},
	} {
		t.Run(sentence, func(t *testing.T) {
			var old []byte
			if test.old != nil {
				old = encodedCredentials(t, test.old)
			}
			garden := &credentialsGarden{objects: everything, failingTypes: []runtime.Object{test.broken}}
			response := callCredentialsWebhook(t, garden, test.webhook+".openstack", encodedCredentials(t, test.object), old)
			assert.False(t, response.Allowed)
			assert.EqualValues(t, http.StatusInternalServerError, response.Result.Code)
			assert.Equal(t, test.want, response.Result.Message)
		})
	}
}

func TestCredentialsWebhooks_Selectors(t *testing.T) {
	selectors := map[string]string{
		"secret.openstack": "provider.shoot.gardener.cloud/openstack", "internalsecret.openstack": "provider.shoot.gardener.cloud/openstack",
		"secretbinding.openstack": "provider.extensions.gardener.cloud/openstack", "credentialsbinding.openstack": "provider.extensions.gardener.cloud/openstack",
	}
	require.Len(t, credentialsWebhooks(admission.Garden{}), len(selectors))
	for name, label := range selectors {
		webhook := findCredentialsWebhook(t, nil, name)
		assert.Equal(t, map[string]string{label: "true"}, webhook.ObjectSelector.MatchLabels)
		assert.False(t, webhook.Mutates || webhook.Runtime)
		require.Len(t, webhook.Rules, 1)
		kind := credentialsWebhookKinds()[name]
		assert.Equal(t, []string{kind.Group}, webhook.Rules[0].APIGroups)
		assert.Equal(t, []string{kind.Version}, webhook.Rules[0].APIVersions)
		assert.Equal(t, []string{strings.ToLower(kind.Kind) + "s"}, webhook.Rules[0].Resources)
	}
}
