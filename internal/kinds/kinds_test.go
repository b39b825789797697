package kinds_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/internal/kinds"
)

func TestIn(t *testing.T) {
	scheme := runtime.NewScheme()
	require.NoError(t, kinds.In(corev1.SchemeGroupVersion, &corev1.Secret{})(scheme))
	require.NoError(t, kinds.In(corev1.SchemeGroupVersion, &corev1.Secret{}, &corev1.SecretList{})(scheme), "a kind may be registered twice")

	assert.True(t, scheme.Recognizes(corev1.SchemeGroupVersion.WithKind("Secret")))
	assert.True(t, scheme.Recognizes(corev1.SchemeGroupVersion.WithKind("SecretList")))
	assert.False(t, scheme.Recognizes(corev1.SchemeGroupVersion.WithKind("ConfigMap")), "nothing else of the group")

	parameters, err := runtime.NewParameterCodec(scheme).EncodeParameters(&metav1.ListOptions{LabelSelector: "a=b"}, corev1.SchemeGroupVersion)
	require.NoError(t, err, "clients can make requests for the version")
	assert.Equal(t, "a=b", parameters.Get("labelSelector"))
}
