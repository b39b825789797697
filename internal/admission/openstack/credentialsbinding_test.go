package openstack

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestValidateBindings(t *testing.T) {
	const noPassword = `Invalid value: "garden-dev/one": correct the Secret first: data[password]: Required value: add the user's, or use an application credential`
	withoutProvider := newSecretBinding("", "garden-dev")
	withoutProvider.Provider = nil
	withoutNamespace := newSecretBinding("openstack", "garden-dev")
	withoutNamespace.SecretRef.Namespace = ""
	other := newCredentialsBinding("v1", "Secret")
	other.Provider.Type = "aws"
	labelled := newCredentialsBinding("v1", "Secret")
	labelled.Labels = map[string]string{"a": "b"}
	for sentence, test := range map[string]struct {
		webhook     string
		object, old client.Object
		secret      client.Object
		want        []string
		looks       int
	}{
		"a SecretBinding to good credentials":             {"secretbinding", newSecretBinding("openstack", "garden-dev"), nil, loginSecret(), nil, 1},
		"a SecretBinding to bad ones":                     {"secretbinding", newSecretBinding("openstack", "garden-x"), nil, loginSecret("password", "-"), []string{"secretRef: " + noPassword}, 1},
		"a SecretBinding for several types":               {"secretbinding", newSecretBinding("aws,openstack", "garden-dev"), nil, loginSecret("password", "-"), []string{"secretRef: " + noPassword}, 1},
		"a SecretBinding to a Secret next to it":          {"secretbinding", withoutNamespace, nil, loginSecret("password", "-"), []string{"secretRef: " + noPassword}, 1},
		"a SecretBinding for another type":                {"secretbinding", newSecretBinding("openstack-x", "garden-dev"), nil, loginSecret("password", "-"), nil, 0},
		"a SecretBinding for nobody knows what":           {"secretbinding", withoutProvider, nil, loginSecret("password", "-"), nil, 0},
		"a SecretBinding that comes to its type":          {"secretbinding", newSecretBinding("openstack", "garden-dev"), withoutProvider, loginSecret("password", "-"), []string{"secretRef: " + noPassword}, 1},
		"a SecretBinding that stays as it is":             {"secretbinding", newSecretBinding("openstack", "garden-dev"), newSecretBinding("openstack", "garden-dev"), loginSecret("password", "-"), nil, 0},
		"a SecretBinding to nothing, which is Gardener's": {"secretbinding", newSecretBinding("openstack", "garden-dev"), nil, loginInternalSecret(), nil, 1},
		"a CredentialsBinding to a good Secret":           {"credentialsbinding", newCredentialsBinding("v1", "Secret"), nil, loginSecret(), nil, 1},
		"a CredentialsBinding to a bad Secret":            {"credentialsbinding", newCredentialsBinding("v1", "Secret"), nil, loginSecret("password", "-"), []string{"credentialsRef: " + noPassword}, 1},
		"a CredentialsBinding to a bad InternalSecret": {
			"credentialsbinding", newCredentialsBinding("core.gardener.cloud/v1beta1", "InternalSecret"), nil, loginInternalSecret("password", "-", "username", "-"),
			[]string{
				`credentialsRef: Invalid value: "garden-dev/one": correct the InternalSecret first: data: Required value: they let nobody log in: ` +
					"set username and password, or applicationCredentialID and applicationCredentialSecret",
			},
			1,
		},
		"a CredentialsBinding to a WorkloadIdentity": {
			"credentialsbinding", newCredentialsBinding("security.gardener.cloud/v1alpha1", "WorkloadIdentity"), nil, loginSecret(), []string{
				`credentialsRef.kind: Invalid value: "WorkloadIdentity": OpenStack knows no workload identities: ` +
					"refer to a Secret with a user's name and password, or with an application credential",
			}, 0,
		},
		"a CredentialsBinding to nobody knows what":          {"credentialsbinding", newCredentialsBinding("v1", "ConfigMap"), nil, loginSecret("password", "-"), nil, 0},
		"a CredentialsBinding for another type":              {"credentialsbinding", other, nil, loginSecret("password", "-"), nil, 0},
		"a CredentialsBinding that gets a label, and no new": {"credentialsbinding", labelled, newCredentialsBinding("v1", "Secret"), loginSecret("password", "-"), nil, 0},
	} {
		t.Run(sentence, func(t *testing.T) {
			var old []byte
			if test.old != nil {
				old = encodedCredentials(t, test.old)
			}
			garden := &credentialsGarden{objects: []client.Object{test.secret}}
			response := callCredentialsWebhook(t, garden, test.webhook+".openstack", encodedCredentials(t, test.object), old)
			assert.Equal(t, test.want, credentialsCauses(response))
			assert.Equal(t, len(test.want) == 0, response.Allowed)
			assert.Len(t, garden.requests, test.looks)
		})
	}
}
