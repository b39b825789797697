package shootclient_test

import (
	"errors"
	"testing"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/trellis-garden/trellis/internal/contract/shootclient"
)

const namespace = "shoot--dev--cat"

// secretWithInvalidKubeconfig is a Secret with an invalid kubeconfig, so that an error shows that it was read.
func secretWithInvalidKubeconfig(name string) client.Object {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: map[string][]byte{"kubeconfig": []byte("cat")},
	}
}

func TestNew_InternalAddressFirst(t *testing.T) {
	const internal, external = v1beta1constants.SecretNameGardenerInternal, v1beta1constants.SecretNameGardener
	for sentence, c := range map[string]struct {
		objects []client.Object
		want    string
	}{
		"both":                      {[]client.Object{secretWithInvalidKubeconfig(internal), secretWithInvalidKubeconfig(external)}, "reading the kubeconfig in Secret gardener-internal: "},
		"that outside of the seed":  {[]client.Object{secretWithInvalidKubeconfig(external)}, "reading the kubeconfig in Secret gardener: "},
		"none, which names the two": {nil, "reading the kubeconfig of the shoot from Secret gardener-internal, or gardener outside of a seed: "},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := shootclient.New(t.Context(), fake.NewClientBuilder().WithObjects(c.objects...).Build(), namespace)
			require.Error(t, err)
			assert.Contains(t, err.Error(), c.want)
			assert.Equal(t, c.objects == nil, apierrors.IsNotFound(errors.Unwrap(err)))
		})
	}
}
