package landscape_test

import (
	"os"
	"path/filepath"
	"testing"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/charts/registration/landscape"
)

// kubectlList is what kubectl get --output=yaml prints.
const kubectlList = `
apiVersion: v1
kind: List
items:
- apiVersion: core.gardener.cloud/v1beta1
  kind: Seed
  metadata: {name: eu1}
  spec:
    provider: {type: openstack}
    dns:
      internal: {type: designate, domain: internal.example.org}
      defaults: [{type: route53, domain: example.org}]
- apiVersion: core.gardener.cloud/v1beta1
  kind: BackupBucket
  metadata: {name: b}
  spec: {seedName: eu1, provider: {type: swift}}
- apiVersion: core.gardener.cloud/v1beta1
  kind: BackupEntry
  metadata: {name: e, namespace: garden-dev}
  spec: {seedName: eu1, bucketName: b}
`

const severalDocuments = `
# a comment alone
---
apiVersion: operator.gardener.cloud/v1alpha1
kind: Extension
metadata: {name: provider-swift}
spec:
  resources: [{kind: BackupBucket, type: swift}, {kind: BackupEntry, type: swift}]
  deployment: {extension: {helm: {ociRepository: {ref: registry.example.org/swift:v1}}, policy: Always}}
---
apiVersion: operator.gardener.cloud/v1alpha1
kind: Extension
metadata: {name: admission-only}
spec:
  resources: [{kind: Worker, type: openstack}]
  deployment: {admission: {}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: something-else}
---
replicas: 3
`

// again has an object that another file has, under the same name.
const again = `{"apiVersion": "core.gardener.cloud/v1beta1", "kind": "ControllerRegistration", "metadata": {"name": "provider-swift"},
"spec": {"resources": [{"kind": "Worker", "type": "openstack"}]}}`

func TestReadManifests(t *testing.T) {
	folder := t.TempDir()
	below := filepath.Join(folder, "below")
	require.NoError(t, os.Mkdir(below, 0o700))
	for name, content := range map[string]string{
		"1.yaml": kubectlList, "2.yml": severalDocuments, "3.yaml": again, "below/4.yaml": kubectlList, "notes.md": "kind: {",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600))
	}
	g, err := landscape.ReadManifests(folder)
	require.NoError(t, err)

	require.Len(t, g.Registrations, 1)
	assert.Equal(t, "provider-swift", g.Registrations[0].Name)
	assert.Len(t, g.Registrations[0].Spec.Resources, 2)
	assert.EqualValues(t, "Always", *g.Registrations[0].Spec.Deployment.Policy)
	assert.Len(t, g.Seeds, 1)
	assert.Len(t, g.BackupBuckets, 1)
	assert.Len(t, g.BackupEntries, 1)
	assert.Equal(t, landscape.Domains{
		Internal: &landscape.Domain{Name: "internal.example.org", Provider: "designate"},
		Defaults: []landscape.Domain{{Name: "example.org", Provider: "route53"}},
	}, g.Domains["eu1"])

	report, err := landscape.Inspect(g)
	require.NoError(t, err)
	assert.True(t, report.Planned)
}

// Both types of ControllerDeployments may be in one repository, in either version.
func TestReadManifests_BothTypes(t *testing.T) {
	folder := t.TempDir()
	const deployments = `
apiVersion: core.gardener.cloud/v1beta1
kind: ControllerDeployment
metadata: {name: ours, annotations: {note: kept}}
type: trellis
providerConfig: {apiVersion: installation.trellis.garden/v1alpha1, kind: ControllerDeploymentConfig, chart: H4s=}
---
apiVersion: core.gardener.cloud/v1beta1
kind: ControllerDeployment
metadata: {name: older}
type: helm
providerConfig: {chart: H4s=}
---
apiVersion: core.gardener.cloud/v1
kind: ControllerDeployment
metadata: {name: newer}
helm: {rawChart: H4s=}
`
	require.NoError(t, os.WriteFile(filepath.Join(folder, "deployments.yaml"), []byte(deployments), 0o600))
	g, err := landscape.ReadManifests(folder)
	require.NoError(t, err)
	require.Len(t, g.Deployments, 3)
	annotations := g.Deployments[0].Annotations
	assert.Equal(t, "kept", annotations["note"])
	assert.Equal(t, "trellis", annotations[gardencorev1.MigrationControllerDeploymentType])
	assert.JSONEq(t, `{"apiVersion": "installation.trellis.garden/v1alpha1", "kind": "ControllerDeploymentConfig", "chart": "H4s="}`,
		annotations[gardencorev1.MigrationControllerDeploymentProviderConfig])
	assert.Empty(t, g.Deployments[1].Annotations)
	assert.NotNil(t, g.Deployments[2].Helm)
}

func TestReadManifests_Invalid(t *testing.T) {
	folder := t.TempDir()
	wrong := filepath.Join(folder, "seed.yaml")
	require.NoError(t, os.WriteFile(wrong, []byte("apiVersion: core.gardener.cloud/v1beta1\nkind: Seed\nspec: {provider: openstack}\n"), 0o600))
	_, err := landscape.ReadManifests(folder)
	assert.ErrorContains(t, err, "reading manifests: "+wrong+": ")

	_, err = landscape.ReadManifests(filepath.Join(folder, "missing"))
	assert.ErrorContains(t, err, "reading manifests: ")
}
