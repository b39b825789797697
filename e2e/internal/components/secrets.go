package components

import (
	"context"

	gardenersecrets "github.com/gardener/gardener/pkg/utils/secrets"
	secretsmanager "github.com/gardener/gardener/pkg/utils/secrets/manager"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// secrets is a secrets manager that has each secret under the name that is requested.
type secrets struct{ namespace string }

var _ secretsmanager.Interface = secrets{}

func (s secrets) Generate(_ context.Context, config gardenersecrets.ConfigInterface, _ ...secretsmanager.GenerateOption) (*corev1.Secret, error) {
	return s.secret(config.GetName()), nil
}

// Get implements secretsmanager.Reader. No secret has an old version.
func (s secrets) Get(name string, options ...secretsmanager.GetOption) (*corev1.Secret, bool) {
	wanted := &secretsmanager.GetOptions{}
	wanted.ApplyOptions(options)
	if wanted.Class == nil {
		return s.secret(name), true
	}
	if class := string(*wanted.Class); class != "old" {
		return s.secret(name + "-" + class), true
	}
	return nil, false
}

func (secrets) Cleanup(context.Context) error { return nil }

// secret has the keys that components read.
func (s secrets) secret(name string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name},
		Data: map[string][]byte{
			gardenersecrets.DataKeyCertificateBundle: []byte("certificates of " + name),
			gardenersecrets.DataKeyStaticTokenCSV:    []byte("token,health-check,health-check,"),
			gardenersecrets.DataKeyEncryptionKeyName: []byte("key"),
			gardenersecrets.DataKeyEncryptionSecret:  []byte("secret"),
		},
	}
}
