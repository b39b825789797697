package openstack

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	securityv1alpha1 "github.com/gardener/gardener/pkg/apis/security/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/trellis-garden/trellis/apis/openstack/validation"
)

// TestExamples holds the manifests that an admin of a new landscape begins with against what admission refuses, and warns of.
func TestExamples(t *testing.T) {
	profile, shoot := &gardencorev1beta1.CloudProfile{}, &gardencorev1beta1.Shoot{}
	secret, binding := &corev1.Secret{}, &securityv1alpha1.CredentialsBinding{}
	readExample(t, "cloudprofile.yaml", profile)
	readExample(t, "credentials.yaml", secret, binding)
	readExample(t, "shoot.yaml", shoot)
	secret.Data = map[string][]byte{}
	for key, value := range secret.StringData {
		secret.Data[key] = []byte(value)
	}

	encoded, err := json.Marshal(profile)
	require.NoError(t, err)
	offered := callProfileWebhook(t, &profileGarden{}, "cloudprofile.openstack", "CloudProfile", string(encoded), "")
	assert.True(t, offered.Allowed, "%v", offered.Result)
	assert.Empty(t, offered.Warnings)
	assert.Empty(t, validation.ValidateCredentials(secret.Data, field.NewPath("data")))
	assert.Empty(t, validation.CredentialsWarnings(secret.Data, field.NewPath("data")))

	garden := &shootGarden{objects: []client.Object{profile, secret, binding}}
	response := callShootWebhook(t, garden, shoot, nil)
	require.True(t, response.Allowed, "%+v", response.Result)
	assert.Empty(t, response.Warnings)
	assert.Contains(t, garden.requests, "openstack-example", "the shoot's CloudProfile is the example")
	shoot.Spec.Region = "another"
	assert.False(t, callShootWebhook(t, garden, shoot, nil).Allowed)
}

func readExample(t *testing.T, name string, into ...any) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "examples", "openstack", name))
	require.NoError(t, err)
	documents := strings.Split(string(content), "\n---\n")
	require.Len(t, documents, len(into))
	for i, document := range documents {
		require.NoError(t, yaml.UnmarshalStrict([]byte(document), into[i]))
	}
}
