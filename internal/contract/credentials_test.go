package contract_test

import (
	"testing"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/contract"
)

func TestReadCredentials(t *testing.T) {
	secretIn := func(namespace string) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "cloudprovider"}, Data: map[string][]byte{"of": []byte(namespace)}}
	}
	reader := fake.NewClientBuilder().WithObjects(secretIn("shoot--dev--one"), secretIn("shoot--dev--two"), secretIn("kube-system")).Build()
	for sentence, test := range map[string]struct {
		object, reference, name string
		refused                 bool
		want                    string // whose data are expected; empty for none
	}{
		"in the object's namespace":            {object: "shoot--dev--one", reference: "shoot--dev--one", name: "cloudprovider", want: "shoot--dev--one"},
		"of a self-hosted shoot":               {object: "kube-system", reference: "kube-system", name: "cloudprovider", want: "kube-system"},
		"missing in the object's namespace":    {object: "shoot--dev--one", reference: "shoot--dev--one", name: "other"},
		"in another shoot's namespace":         {object: "shoot--dev--one", reference: "shoot--dev--two", name: "cloudprovider", refused: true},
		"in the seed's own namespace":          {object: "shoot--dev--one", reference: "kube-system", name: "cloudprovider", refused: true},
		"without a namespace":                  {object: "shoot--dev--one", name: "cloudprovider", refused: true},
		"missing in another shoot's namespace": {object: "shoot--dev--one", reference: "shoot--dev--two", name: "other", refused: true},
	} {
		t.Run(sentence, func(t *testing.T) {
			object := &extensionsv1alpha1.Infrastructure{ObjectMeta: metav1.ObjectMeta{Namespace: test.object, Name: "one"}}
			secret, err := contract.ReadCredentials(t.Context(), reader, object, corev1.SecretReference{Namespace: test.reference, Name: test.name})
			if test.refused {
				require.ErrorContains(t, err, "spec.secretRef.namespace: is")
				assert.Equal(t, cloud.Configuration, cloud.KindOf(err))
				assert.Nil(t, secret)
				return
			}
			require.NoError(t, err)
			if test.want == "" {
				assert.Nil(t, secret)
				return
			}
			assert.Equal(t, test.want, string(secret.Data["of"]))
		})
	}
}
