package images

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const loom = "images: [{name: loom, repository: example.org/loom}, {name: mill, repository: example.org/mill, tag: v3}]"

func TestOwnImagesAreOfTheProgramsVersion(t *testing.T) {
	vector, err := Read([]byte(loom))
	require.NoError(t, err)
	for sentence, test := range map[string]struct{ name, version, want string }{
		"a release":          {"loom", "v0.1.0", "example.org/loom:v0.1.0"},
		"a build in between": {"loom", "v0.1.0-3-g1f2e3d4-dirty", "example.org/loom:v0.1.0-3-g1f2e3d4-dirty"},
		"what no tag may be": {"loom", "v0.1.0+dirty", "example.org/loom:v0.1.0_dirty"},
		"one with a tag":     {"mill", "v0.1.0", "example.org/mill:v3"},
	} {
		t.Run(sentence, func(t *testing.T) {
			image, err := Own(vector, test.version)(test.name)
			require.NoError(t, err)
			assert.Equal(t, test.want, image)
		})
	}
	_, err = Own(vector, "v1")("shuttle")
	assert.ErrorContains(t, err, `finding image "shuttle": `)
}

func TestTheOperatorHasTheLastWord(t *testing.T) {
	file := filepath.Join(t.TempDir(), "overwrite.yaml")
	digest := "example.com/loom@sha256:" + "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	require.NoError(t, os.WriteFile(file, []byte("images: [{name: loom, ref: '"+digest+"'}]"), 0o600))
	t.Setenv("IMAGEVECTOR_OVERWRITE", file)
	vector, err := Read([]byte(loom))
	require.NoError(t, err)
	image, err := Own(vector, "v1")("loom")
	require.NoError(t, err)
	assert.Equal(t, digest, image)
}
