package admission

import (
	"maps"
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	securityv1alpha1 "github.com/gardener/gardener/pkg/apis/security/v1alpha1"
	"github.com/gardener/gardener/pkg/client/kubernetes"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/garden"
)

// credentialsCase is the content of a Secret. Keys with empty values are left out.
type credentialsCase struct {
	differs    map[string]string // from a good one with a user's password
	wantCauses []expectedCause
}

// with changes keys of a valid Secret.
func with(differs map[string]string) map[string]string {
	data := password("default")
	maps.Copy(data, differs)
	maps.DeleteFunc(data, func(_, value string) bool { return value == "" })
	return data
}

func applicationCredential(differs map[string]string) map[string]string {
	data := map[string]string{"username": "", "password": "", "applicationCredentialID": "id", "applicationCredentialSecret": "secret"}
	maps.Copy(data, differs)
	return data
}

func credentialsCases() map[string]credentialsCase {
	return map[string]credentialsCase{
		"a user's password":                     {nil, nil},
		"an application credential by ID":       {applicationCredential(nil), nil},
		"an application credential by its name": {applicationCredential(map[string]string{"applicationCredentialID": "", "applicationCredentialName": "n", "username": "robot"}), nil},
		"where to log in, and not to look":      {map[string]string{"authURL": "https://keystone.example.org/v3", "insecure": "true"}, nil},
		"no domain":                             {map[string]string{"domainName": ""}, []expectedCause{{"data[domainName]", "set domainName or domainID"}}},
		"no project":                            {map[string]string{"tenantName": ""}, []expectedCause{{"data[tenantName]", "set tenantName or tenantID"}}},
		"nobody":                                {map[string]string{"username": "", "password": ""}, []expectedCause{{"data", "set username and password, or applicationCredentialID"}}},
		"a user without a password":             {map[string]string{"password": ""}, []expectedCause{{"data[password]", "or use an application credential"}}},
		"a password without a user":             {map[string]string{"username": ""}, []expectedCause{{"data[username]", "add the user's name"}}},
		"an application credential without its secret": {
			applicationCredential(map[string]string{"applicationCredentialSecret": ""}), []expectedCause{{"data[applicationCredentialSecret]", "add the application credential's secret"}},
		},
		"a name of an application credential, and nobody's": {
			applicationCredential(map[string]string{"applicationCredentialID": "", "applicationCredentialName": "n"}), []expectedCause{{"data[username]", "add the user's name"}},
		},
		"a password and an application credential": {
			map[string]string{"applicationCredentialID": "id", "applicationCredentialSecret": "secret"}, []expectedCause{{"data[applicationCredentialSecret]", "remove it, or password"}},
		},
		"a domain in two lines":          {map[string]string{"domainName": "a\nb"}, []expectedCause{{"data[domainName]", "line"}}},
		"a password with a line break":   {map[string]string{"password": "secret\n"}, []expectedCause{{"data[password]", "line"}}},
		"a project with too long a name": {map[string]string{"tenantName": strings.Repeat("t", 65)}, []expectedCause{{"data[tenantName]", "64"}}},
		"a URL that is none":             {map[string]string{"authURL": "keystone"}, []expectedCause{{"data[authURL]", "https://"}}},
		"a CA that is none":              {map[string]string{"caCert": "trust me"}, []expectedCause{{"data[caCert]", "PEM"}}},
		"neither secure nor insecure":    {map[string]string{"insecure": "maybe"}, []expectedCause{{"data[insecure]", "true"}}},
	}
}

func testSecrets(t *testing.T, env *environment) {
	for sentence, tt := range credentialsCases() {
		t.Run(sentence, func(t *testing.T) {
			secret := newSecret("new", with(tt.differs))
			secret.Labels = labelled("openstack")
			assertResult(t, env.Client.Create(t.Context(), secret, client.DryRunAll), tt.wantCauses)
		})
	}
	t.Run("an internal Secret is one, too", func(t *testing.T) {
		secret := newInternalSecret("new", with(nil))
		assertResult(t, env.Client.Create(t.Context(), secret, client.DryRunAll), nil)
		secret = newInternalSecret("new", with(map[string]string{"insecure": "maybe"}))
		assertResult(t, env.Client.Create(t.Context(), secret, client.DryRunAll), []expectedCause{{"data[insecure]", "true"}})
	})
	t.Run("Secrets of others are not looked at", func(t *testing.T) {
		secret := newSecret("new", map[string]string{"whatever": "it is"})
		assert.NoError(t, env.Client.Create(t.Context(), secret, client.DryRunAll))
		secret = newSecret("new", map[string]string{"whatever": "it is"})
		secret.Labels = labelled("azure")
		assert.NoError(t, env.Client.Create(t.Context(), secret, client.DryRunAll))
	})
	t.Run("a key that nobody reads is worth a warning", func(t *testing.T) {
		warnings := &warnings{}
		secret := newSecret("new", with(map[string]string{"userName": "robot"}))
		secret.Labels = labelled("openstack")
		assert.NoError(t, warnings.clientOf(t, env.Config, kubernetes.GardenScheme).Create(t.Context(), secret, client.DryRunAll))
		warnings.assert(t, []string{"data[userName]", "rename it to username, or remove it"})
	})
	t.Run("what is refused does not tell what is secret", func(t *testing.T) {
		secret := newSecret("new", with(map[string]string{"password": "open-sesame\n", "userName": "open-sesame"}))
		secret.Labels = labelled("openstack")
		err := env.Client.Create(t.Context(), secret, client.DryRunAll)
		assert.True(t, deniedByUs(err), "%v", err)
		assert.NotContains(t, err.Error(), "sesame")
	})
	t.Run("gardener-controller-manager says what is used as credentials", func(t *testing.T) { testUsedSecret(t, env) })
}

// testUsedSecret changes a Secret that was labeled because of its binding.
func testUsedSecret(t *testing.T, env *environment) {
	secret, last := &corev1.Secret{}, error(nil)
	eventually(t, "the Secret of a binding is labelled", func() bool {
		last = env.Client.Get(t.Context(), client.ObjectKey{Namespace: garden.Namespace, Name: "robot"}, secret)
		return last == nil && secret.Labels[v1beta1constants.LabelShootProviderPrefix+"openstack"] == "true"
	}, &last)
	for sentence, tt := range map[string]credentialsCase{
		"another password":          {map[string]string{"password": "changed"}, nil},
		"another project":           {map[string]string{"tenantName": "other"}, []expectedCause{{"data[tenantName]", "set it back, or make a new Secret"}}},
		"another domain":            {map[string]string{"domainName": "other"}, []expectedCause{{"data[domainName]", "set it back, or make a new Secret"}}},
		"an application credential": {applicationCredential(nil), nil},
		"no user any more":          {map[string]string{"username": ""}, []expectedCause{{"data[username]", "add the user's name"}}},
	} {
		t.Run(sentence, func(t *testing.T) {
			changed := secret.DeepCopy()
			changed.Data, changed.StringData = nil, with(tt.differs)
			assertResult(t, env.update(t, changed, client.DryRunAll), tt.wantCauses)
		})
	}
}

func newInternalSecret(name string, data map[string]string) *gardencorev1beta1.InternalSecret {
	return &gardencorev1beta1.InternalSecret{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: garden.Namespace, Labels: labelled("openstack")}, StringData: data,
	}
}

// testBindings binds Secrets without labels, which were not validated before.
func testBindings(t *testing.T, env *environment) {
	bad := newInternalSecret("bad-internal", map[string]string{"username": "robot"})
	bad.Labels = nil
	good := newInternalSecret("good-internal", with(nil))
	identity := &securityv1alpha1.WorkloadIdentity{
		ObjectMeta: metav1.ObjectMeta{Name: "identity", Namespace: garden.Namespace},
		Spec:       securityv1alpha1.WorkloadIdentitySpec{Audiences: []string{"a"}, TargetSystem: securityv1alpha1.TargetSystem{Type: "openstack"}},
	}
	for _, object := range []client.Object{
		newSecret("bad", map[string]string{"username": "robot"}), newSecret("unbound", with(nil)), bad, good, identity,
	} {
		env.store(t, object)
	}
	azure := newCredentialsBinding("new", "v1", "Secret", "bad")
	azure.Provider.Type = "azure"
	for sentence, tt := range map[string]struct {
		binding    client.Object
		wantErrors []string
	}{
		"a Secret":                        {newCredentialsBinding("new", "v1", "Secret", "unbound"), nil},
		"a Secret that is none":           {newCredentialsBinding("new", "v1", "Secret", "bad"), []string{"data[password]"}},
		"an internal Secret":              {newCredentialsBinding("new", "core.gardener.cloud/v1beta1", "InternalSecret", "good-internal"), nil},
		"an internal Secret that is none": {newCredentialsBinding("new", "core.gardener.cloud/v1beta1", "InternalSecret", "bad-internal"), []string{"data[password]"}},
		"a WorkloadIdentity":              {newCredentialsBinding("new", "security.gardener.cloud/v1alpha1", "WorkloadIdentity", "identity"), []string{"WorkloadIdentity"}},
		"another provider's":              {azure, nil},
		"the older kind":                  {newSecretBinding("new", "unbound"), nil},
		"the older kind, and no Secret":   {newSecretBinding("new", "bad"), []string{"data[password]"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			err := env.Client.Create(t.Context(), tt.binding, client.DryRunAll)
			if len(tt.wantErrors) == 0 {
				assert.NoError(t, err)
				return
			}
			require.True(t, deniedByUs(err), "%v", err)
			for _, piece := range tt.wantErrors {
				assert.ErrorContains(t, err, piece)
			}
			path := "credentialsRef"
			if _, older := tt.binding.(*gardencorev1beta1.SecretBinding); older {
				path = "secretRef"
			}
			for _, cause := range statusOf(err).Details.Causes {
				assert.True(t, strings.HasPrefix(cause.Field, path), cause.Field)
			}
		})
	}
}
