package images

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const exampleImages = "images: [{name: example, repository: example.org/example}, {name: mill, repository: example.org/mill, tag: v3}]"

func TestForTrellisVersion(t *testing.T) {
	vector, err := Read([]byte(exampleImages))
	require.NoError(t, err)
	for sentence, test := range map[string]struct{ name, version, want string }{
		"a release":          {"example", "v0.1.0", "example.org/example:v0.1.0"},
		"a build in between": {"example", "v0.1.0-3-g1f2e3d4-dirty", "example.org/example:v0.1.0-3-g1f2e3d4-dirty"},
		"what no tag may be": {"example", "v0.1.0+dirty", "example.org/example:v0.1.0_dirty"},
		"one with a tag":     {"mill", "v0.1.0", "example.org/mill:v3"},
	} {
		t.Run(sentence, func(t *testing.T) {
			image, err := ForTrellisVersion(vector, test.version)(test.name)
			require.NoError(t, err)
			assert.Equal(t, test.want, image)
		})
	}
	_, err = ForTrellisVersion(vector, "v1")("shuttle")
	assert.ErrorContains(t, err, `finding image "shuttle": `)
}

func TestForTrellisVersion_Overwrite(t *testing.T) {
	file := filepath.Join(t.TempDir(), "overwrite.yaml")
	digest := "example.com/example@sha256:" + "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	require.NoError(t, os.WriteFile(file, []byte("images: [{name: example, ref: '"+digest+"'}]"), 0o600))
	t.Setenv("IMAGEVECTOR_OVERWRITE", file)
	vector, err := Read([]byte(exampleImages))
	require.NoError(t, err)
	image, err := ForTrellisVersion(vector, "v1")("example")
	require.NoError(t, err)
	assert.Equal(t, digest, image)
}

func TestForKubernetesVersion_OverwriteWithOtherConstraints(t *testing.T) {
	const builtIn = `images:
- {name: driver, repository: registry.k8s.io/driver, tag: v1.35.0, targetVersion: 1.35.x}
- {name: driver, repository: registry.k8s.io/driver, tag: v1.36.0, targetVersion: 1.36.x}
- {name: sidecar, repository: registry.k8s.io/sidecar, tag: v5, targetVersion: "< 1.34"}
- {name: sidecar, repository: registry.k8s.io/sidecar, tag: v6, targetVersion: ">= 1.34"}
- {name: other, repository: registry.k8s.io/other, tag: v1}
`
	for sentence, test := range map[string]struct{ overwrites, name, version, want string }{
		"an open range is for a version that has an entry of its own": {
			`- {name: driver, repository: mirror.example.org/driver, tag: v1.36.9, targetVersion: ">= 1.36"}`, "driver", "1.36.2", "mirror.example.org/driver:v1.36.9",
		},
		"a version outside of it keeps the built-in one": {
			`- {name: driver, repository: mirror.example.org/driver, tag: v1.36.9, targetVersion: ">= 1.36"}`, "driver", "1.35.2", "registry.k8s.io/driver:v1.35.0",
		},
		"one without constraints is for all": {`- {name: sidecar, repository: mirror.example.org/sidecar, tag: v7}`, "sidecar", "1.33.0", "mirror.example.org/sidecar:v7"},
		"what is left out is the built-in one's": {
			`- {name: sidecar, repository: mirror.example.org/sidecar}`, "sidecar", "1.33.0", "mirror.example.org/sidecar:v5",
		},
		"another name is left alone":    {`- {name: sidecar, repository: mirror.example.org/sidecar}`, "other", "1.33.0", "registry.k8s.io/other:v1"},
		"what is nowhere else is added": {`- {name: new, repository: mirror.example.org/new, tag: v1}`, "new", "1.36.0", "mirror.example.org/new:v1"},
	} {
		t.Run(sentence, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "overwrite.yaml")
			require.NoError(t, os.WriteFile(file, []byte("images:\n"+test.overwrites), 0o600))
			t.Setenv("IMAGEVECTOR_OVERWRITE", file)
			vector, err := Read([]byte(builtIn))
			require.NoError(t, err)
			image, err := ForKubernetesVersion(vector, test.version)(test.name)
			require.NoError(t, err)
			assert.Equal(t, test.want, image)
		})
	}
}

func TestVector_WithTrellisVersion(t *testing.T) {
	overwrite := filepath.Join(t.TempDir(), "overwrite.yaml")
	require.NoError(t, os.WriteFile(overwrite, []byte("images: [{name: mirrored, repository: mirror.example.org/mirrored}]"), 0o600))
	t.Setenv("IMAGEVECTOR_OVERWRITE", overwrite)
	vector, err := Read([]byte(`images:
- {name: ours, sourceRepository: a, repository: registry.example.org/ours}
- {name: mirrored, sourceRepository: a, repository: registry.example.org/mirrored}
- {name: other, sourceRepository: b, repository: registry.example.org/other, tag: v2}
`))
	require.NoError(t, err)
	find := ForKubernetesVersion(vector.WithTrellisVersion("v0.1.0+dirty"), "1.36.2")
	for name, want := range map[string]string{
		"ours": "registry.example.org/ours:v0.1.0_dirty", "mirrored": "mirror.example.org/mirrored:v0.1.0_dirty", "other": "registry.example.org/other:v2",
	} {
		image, err := find(name)
		require.NoError(t, err)
		assert.Equal(t, want, image)
	}
}
