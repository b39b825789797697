package aws

import (
	"net/http"
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	securityv1alpha1 "github.com/gardener/gardener/pkg/apis/security/v1alpha1"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	keyID, secretKey = "AAAAAAAAAAAAAAAAAAA7", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb/+"
	idRemedy         = "give the ID of an access key: 20 upper-case letters and digits, without a line break"
	roleRemedy       = "give the ARN of a role, like arn:aws:iam::123456789012:role/name"
	role             = "arn:aws:iam::123456789012:role/gardener"
)

// newSecret has an access key, and further keys and values. A key with the value "-" is removed.
func newSecret(further ...string) *corev1.Secret {
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "one", Labels: map[string]string{"provider.shoot.gardener.cloud/aws": "true"}},
		Data:       map[string][]byte{"accessKeyID": []byte(keyID), "secretAccessKey": []byte(secretKey)},
	}
	for i := 0; i < len(further); i += 2 {
		if secret.Data[further[i]] = []byte(further[i+1]); further[i+1] == "-" {
			delete(secret.Data, further[i])
		}
	}
	return secret
}

func unlabelled(secret *corev1.Secret) *corev1.Secret {
	secret.Labels = nil
	return secret
}

func newIdentity(t testing.TB, providerType, config string) *securityv1alpha1.WorkloadIdentity {
	t.Helper()
	identity := &securityv1alpha1.WorkloadIdentity{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "one"}}
	identity.Spec.TargetSystem.Type = providerType
	if config != "" {
		identity.Spec.TargetSystem.ProviderConfig = document(t, "WorkloadIdentityConfig", config)
	}
	return identity
}

func newBinding(apiVersion, kind string) *securityv1alpha1.CredentialsBinding {
	return &securityv1alpha1.CredentialsBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: "garden-other", Name: "binding"}, Provider: securityv1alpha1.CredentialsBindingProvider{Type: Type},
		CredentialsRef: corev1.ObjectReference{APIVersion: apiVersion, Kind: kind, Namespace: "garden-dev", Name: "one"},
	}
}

func newSecretBinding(providerType string) *gardencorev1beta1.SecretBinding {
	return &gardencorev1beta1.SecretBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: "garden-other", Name: "binding"}, Provider: &gardencorev1beta1.SecretBindingProvider{Type: providerType},
		SecretRef: corev1.SecretReference{Namespace: "garden-dev", Name: "one"},
	}
}

func TestValidateSecret(t *testing.T) {
	for sentence, test := range map[string]struct {
		object, old *corev1.Secret
		want        []string
	}{
		"an access key":                     {object: newSecret("region", "eu-west-1")},
		"the names that AWS' own tools use": {object: newSecret("accessKeyID", "-", "secretAccessKey", "-", "AWS_ACCESS_KEY_ID", keyID, "AWS_SECRET_ACCESS_KEY", secretKey, "AWS_REGION", "eu-west-1")},
		"one name of each kind":             {object: newSecret("accessKeyID", "-", "AWS_ACCESS_KEY_ID", keyID)},
		"both names of a key": {
			object: newSecret("AWS_ACCESS_KEY_ID", keyID), want: []string{"data[AWS_ACCESS_KEY_ID]: Invalid value: means the same as accessKeyID: remove one of the two"},
		},
		"a line break behind the ID": {object: newSecret("accessKeyID", keyID+"\n"), want: []string{"data[accessKeyID]: Invalid value: " + idRemedy}},
		"a key that nobody reads": {
			object: newSecret("account", "1"), want: []string{"data[account]: Forbidden: is not a key of AWS credentials: remove it"},
		},
		"somebody else's Secret":                         {object: unlabelled(newSecret("accessKeyID", "-"))},
		"another access key, of whatever account":        {object: newSecret("accessKeyID", "A"+keyID[1:]), old: newSecret()},
		"a key is lost":                                  {object: newSecret("accessKeyID", "-"), old: newSecret(), want: []string{"data[accessKeyID]: Required value: " + idRemedy}},
		"a key is lost together with the label":          {object: unlabelled(newSecret("accessKeyID", "-")), old: newSecret(), want: []string{"data[accessKeyID]: Required value: " + idRemedy}},
		"an outdated Secret gets a label":                {object: newSecret("account", "1"), old: unlabelled(newSecret("account", "1"))},
		"an outdated Secret gets another secret":         {object: newSecret("account", "1", "secretAccessKey", "c"+secretKey[1:]), old: newSecret("account", "1")},
		"a value that was wrong is wrong in another way": {object: newSecret("accessKeyID", "a"), old: newSecret("accessKeyID", "b"), want: []string{"data[accessKeyID]: Invalid value: " + idRemedy}},
	} {
		t.Run(sentence, func(t *testing.T) {
			reader := &garden{}
			assert.Empty(t, cmp.Diff(test.want, causes(call(t, reader, "secret.aws", test.object, test.old))))
			internal := func(secret *corev1.Secret) *gardencorev1beta1.InternalSecret {
				if secret == nil {
					return nil
				}
				return &gardencorev1beta1.InternalSecret{ObjectMeta: secret.ObjectMeta, Data: secret.Data}
			}
			assert.Empty(t, cmp.Diff(test.want, causes(call(t, reader, "internalsecret.aws", internal(test.object), internal(test.old)))))
			assert.Empty(t, reader.requests)
		})
	}
}

func TestValidateBindings(t *testing.T) {
	const toSecret, toIdentity = `Invalid value: "garden-dev/one": correct the Secret first: `, `Invalid value: "garden-dev/one": correct the WorkloadIdentity first: `
	const security = "security.gardener.cloud/v1alpha1"
	other := newBinding("v1", "Secret")
	other.Provider.Type = "azure"
	for sentence, test := range map[string]struct {
		webhook     string
		object, old client.Object
		credentials client.Object
		want        []string
		reads       []string
	}{
		"a SecretBinding to an access key": {webhook: "secretbinding", object: newSecretBinding(Type), credentials: newSecret(), reads: []string{"Secret garden-dev/one"}},
		"a SecretBinding to nothing that works": {
			webhook: "secretbinding", object: newSecretBinding("azure,aws"), credentials: newSecret("accessKeyID", "-"), reads: []string{"Secret garden-dev/one"},
			want: []string{"secretRef: " + toSecret + "data[accessKeyID]: Required value: " + idRemedy},
		},
		"a SecretBinding of another cloud": {webhook: "secretbinding", object: newSecretBinding("azure"), credentials: newSecret("accessKeyID", "-")},
		"a CredentialsBinding to a Secret": {webhook: "credentialsbinding", object: newBinding("v1", "Secret"), credentials: newSecret(), reads: []string{"Secret garden-dev/one"}},
		"a CredentialsBinding to a Secret that does not work": {
			webhook: "credentialsbinding", object: newBinding("v1", "Secret"), credentials: newSecret("account", "1"), reads: []string{"Secret garden-dev/one"},
			want: []string{"credentialsRef: " + toSecret + "data[account]: Forbidden: is not a key of AWS credentials: remove it"},
		},
		"a CredentialsBinding to an InternalSecret": {
			webhook: "credentialsbinding", object: newBinding("core.gardener.cloud/v1beta1", "InternalSecret"),
			credentials: &gardencorev1beta1.InternalSecret{ObjectMeta: newSecret().ObjectMeta, Data: newSecret().Data}, reads: []string{"InternalSecret garden-dev/one"},
		},
		"a CredentialsBinding to a WorkloadIdentity": {
			webhook: "credentialsbinding", object: newBinding(security, "WorkloadIdentity"), credentials: newIdentity(t, Type, "roleARN: "+role),
			reads: []string{"WorkloadIdentity garden-dev/one"},
		},
		"a CredentialsBinding to a WorkloadIdentity without a role": {
			webhook: "credentialsbinding", object: newBinding(security, "WorkloadIdentity"), credentials: newIdentity(t, Type, "roleARN: ''"),
			reads: []string{"WorkloadIdentity garden-dev/one"},
			want:  []string{"credentialsRef: " + toIdentity + "spec.targetSystem.providerConfig.roleARN: Required value: " + roleRemedy},
		},
		"a CredentialsBinding to a WorkloadIdentity of another cloud, which Gardener rejects": {
			webhook: "credentialsbinding", object: newBinding(security, "WorkloadIdentity"), credentials: newIdentity(t, "azure", ""),
			reads: []string{"WorkloadIdentity garden-dev/one"},
		},
		"a CredentialsBinding to nothing, which Gardener rejects": {
			webhook: "credentialsbinding", object: newBinding(security, "WorkloadIdentity"), credentials: newSecret(), reads: []string{"WorkloadIdentity garden-dev/one"},
		},
		"a CredentialsBinding of another cloud":     {webhook: "credentialsbinding", object: other, credentials: newSecret("account", "1")},
		"a CredentialsBinding that gets a label":    {webhook: "credentialsbinding", object: newBinding("v1", "Secret"), old: newBinding("v1", "Secret"), credentials: newSecret("account", "1")},
		"a CredentialsBinding to some other object": {webhook: "credentialsbinding", object: newBinding("v1", "ConfigMap"), credentials: newSecret("account", "1")},
	} {
		t.Run(sentence, func(t *testing.T) {
			reader := &garden{objects: []client.Object{test.credentials}}
			var old any
			if test.old != nil {
				old = test.old
			}
			assert.Empty(t, cmp.Diff(test.want, causes(call(t, reader, test.webhook+".aws", test.object, old))))
			assert.Equal(t, test.reads, reader.requests)
		})
	}
	for kind, binding := range map[string]*securityv1alpha1.CredentialsBinding{"Secret": newBinding("v1", "Secret"), "WorkloadIdentity": newBinding(security, "WorkloadIdentity")} {
		response := call(t, &garden{unavailable: kind}, "credentialsbinding.aws", binding, nil)
		assert.EqualValues(t, http.StatusInternalServerError, response.Result.Code)
		assert.Contains(t, response.Result.Message, kind+` "one": connection refused: try again`)
	}
}

func TestValidateWorkloadIdentity(t *testing.T) {
	const path = "spec.targetSystem.providerConfig"
	for sentence, test := range map[string]struct {
		object, old *securityv1alpha1.WorkloadIdentity
		want        []string
	}{
		"a role":        {object: newIdentity(t, Type, "roleARN: "+role)},
		"another cloud": {object: newIdentity(t, "azure", "")},
		"no configuration": {
			object: newIdentity(t, Type, ""),
			want:   []string{path + ": Required value: give one with apiVersion aws.provider.extensions.gardener.cloud/v1alpha1 and kind WorkloadIdentityConfig"},
		},
		"a user": {
			object: newIdentity(t, Type, "roleARN: arn:aws:iam::123456789012:user/gardener"),
			want:   []string{path + `.roleARN: Invalid value: "arn:aws:iam::123456789012:user/gardener": ` + roleRemedy},
		},
		"a misspelt field": {
			object: newIdentity(t, Type, "roleARN: "+role+"\nsession: x"),
			want:   []string{path + `: Invalid value: decoding WorkloadIdentityConfig: unknown field "session": correct the name or remove the field`},
		},
		"a document that is too large": {
			object: newIdentity(t, Type, "roleARN: "+role+strings.Repeat("x", 1<<16)),
			want:   []string{path + ": Too long: has 65684 bytes and may have 65536: shorten its lists and texts"},
		},
		"an outdated one stays":                     {object: newIdentity(t, Type, "roleARN: x"), old: newIdentity(t, Type, "roleARN: x")},
		"an outdated one changes in something else": {object: newIdentity(t, Type, "roleARN: "+role+"\nsession: x"), old: newIdentity(t, Type, "roleARN: x\nsession: x")},
		"an outdated one changes to another error": {
			object: newIdentity(t, Type, "roleARN: z"), old: newIdentity(t, Type, "roleARN: x"), want: []string{path + `.roleARN: Invalid value: "z": ` + roleRemedy},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			assert.Empty(t, cmp.Diff(test.want, causes(call(t, &garden{}, "workloadidentity.aws", test.object, test.old))))
		})
	}
}
