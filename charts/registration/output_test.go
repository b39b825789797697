package registration_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/charts/registration"
)

func TestWrite_RemovesStaleFiles(t *testing.T) {
	folder := t.TempDir()
	files := []registration.File{
		{Path: "a/rawchart.yaml", Content: generate(t, options())["network/rawchart.yaml"]},
		{Path: "b/rawchart.yaml", Content: generate(t, options())["network/rawchart.yaml"]},
		{Path: "b/oci.yaml", Content: generate(t, options())["network/oci.yaml"]},
	}
	require.NoError(t, registration.Write(folder, files))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "b", "kustomization.yaml"), []byte("resources: [oci.yaml]\n"), 0o600))
	require.NoError(t, registration.Write(folder, files[:1]))

	assert.FileExists(t, filepath.Join(folder, "a", "rawchart.yaml"))
	assert.NoFileExists(t, filepath.Join(folder, "b", "rawchart.yaml"))
	assert.NoFileExists(t, filepath.Join(folder, "b", "oci.yaml"))
	assert.FileExists(t, filepath.Join(folder, "b", "kustomization.yaml"), "not ours to remove")

	require.NoError(t, os.Remove(filepath.Join(folder, "b", "kustomization.yaml")))
	require.NoError(t, registration.Write(folder, files))
	require.NoError(t, registration.Write(folder, files[:1]))
	assert.NoDirExists(t, filepath.Join(folder, "b"))
}
