package controlplane_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/controlplane"
)

func TestReadImages_AllKubernetesVersions(t *testing.T) {
	images, err := controlplane.ReadImages(nil)
	require.NoError(t, err)
	for _, version := range []string{"1.32.0", "1.33.13", "1.34.4", "1.35.1", "1.36.3"} {
		find := controlplane.ImagesFor(images, version)
		for _, name := range []string{
			"csi-provisioner", "csi-attacher", "csi-snapshotter", "csi-snapshot-controller", "csi-resizer", "csi-node-driver-registrar",
			"csi-liveness-probe",
		} {
			image, err := find(name)
			assert.NoError(t, err)
			assert.Regexp(t, `^registry\.k8s\.io/sig-storage/[a-z-]+:v[0-9.]+$`, image)
		}
	}
}

func TestImagesFor(t *testing.T) {
	images, err := controlplane.ReadImages(nil)
	require.NoError(t, err)
	for version, want := range map[string]string{"1.33.9": ":v5.", "1.34.0": ":v6."} {
		image, err := controlplane.ImagesFor(images, version)("csi-provisioner")
		require.NoError(t, err)
		assert.Contains(t, image, want, version)
	}
}

func TestReadImages_DriverImages(t *testing.T) {
	images, err := controlplane.ReadImages([]byte("images: [{name: example, repository: example.org/example, tag: v7, targetVersion: 1.36.x}]"))
	require.NoError(t, err)
	image, err := controlplane.ImagesFor(images, "1.36.2")("example")
	require.NoError(t, err)
	assert.Equal(t, "example.org/example:v7", image)

	_, err = controlplane.ImagesFor(images, "1.35.0")("example")
	assert.ErrorContains(t, err, `finding image "example" for Kubernetes 1.35.0: `)
	_, err = controlplane.ImagesFor(images, "1.36.2")("csi-attacher")
	assert.NoError(t, err, "the contract's own are still there")

	_, err = controlplane.ReadImages([]byte("images: [{name: example}]"))
	assert.ErrorContains(t, err, "reading image vector: ")
}

func TestReadImages_Overwrite(t *testing.T) {
	overwrite := filepath.Join(t.TempDir(), "images.yaml")
	t.Setenv("IMAGEVECTOR_OVERWRITE", overwrite)
	write := func(content string) { require.NoError(t, os.WriteFile(overwrite, []byte(content), 0o600)) }

	write(`images:
- {name: csi-attacher, repository: mirror.example.org/csi-attacher}
- {name: csi-provisioner, targetVersion: ">= 1.34", repository: mirror.example.org/csi-provisioner, tag: v6.9.9}
`)
	images, err := controlplane.ReadImages(nil)
	require.NoError(t, err)
	for name, want := range map[string]string{
		"csi-attacher":    "mirror.example.org/csi-attacher:v4.12.0",
		"csi-provisioner": "mirror.example.org/csi-provisioner:v6.9.9",
		"csi-snapshotter": "registry.k8s.io/sig-storage/csi-snapshotter:v8.6.0",
	} {
		image, err := controlplane.ImagesFor(images, "1.36.0")(name)
		require.NoError(t, err)
		assert.Equal(t, want, image)
	}

	write("images: {")
	_, err = controlplane.ReadImages(nil)
	assert.ErrorContains(t, err, "overwriting image vector by $IMAGEVECTOR_OVERWRITE: ")
	require.NoError(t, os.Remove(overwrite))
	_, err = controlplane.ReadImages(nil)
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestReadImagesOf(t *testing.T) {
	types := []string{"one", "two"}
	vectors := map[string][]byte{
		"one": []byte("images: [{name: manager, repository: example.org/one, tag: v1}, {name: same, repository: example.org/same, tag: v1}]"),
		"two": []byte("images: [{name: manager, repository: example.org/two, tag: v2}, {name: same, repository: example.org/same, tag: v1}]"),
	}
	for sentence, test := range map[string]struct {
		overwrites string
		types      []string
		want       map[string]string
		err        string
	}{
		"each type has its own": {
			types: types, overwrites: "images: []", want: map[string]string{"one": "example.org/one:v1", "two": "example.org/two:v2"},
		},
		"an entry for one type": {
			types: types, overwrites: "images: [{name: two/manager, repository: mirror.example.org/two}]",
			want: map[string]string{"one": "example.org/one:v1", "two": "mirror.example.org/two:v2"},
		},
		"an entry for one, and one for the rest": {
			types: types, overwrites: "images: [{name: two/manager, repository: mirror.example.org/two}, {name: manager, repository: mirror.example.org/one}]",
			want: map[string]string{"one": "mirror.example.org/one:v1", "two": "mirror.example.org/two:v2"},
		},
		"an entry for the only type that is served": {
			types: types[1:], overwrites: "images: [{name: manager, repository: mirror.example.org/two}]",
			want: map[string]string{"two": "mirror.example.org/two:v2"},
		},
		"an entry for an image that both have": {
			types: types, overwrites: "images: [{name: same, repository: mirror.example.org/same}]",
			want: map[string]string{"one": "example.org/one:v1", "two": "example.org/two:v2"},
		},
		"an entry that would replace different images": {
			types: types, overwrites: "images: [{name: manager, repository: mirror.example.org/one}]",
			err: `the operator's entry for image "manager" is for the types "one" and "two", which have different ones: call it "one/manager" or "two/manager"`,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "images.yaml")
			require.NoError(t, os.WriteFile(file, []byte(test.overwrites), 0o600))
			t.Setenv("IMAGEVECTOR_OVERWRITE", file)
			images, err := controlplane.ReadImagesOf(test.types, vectors)
			if test.err != "" {
				require.EqualError(t, err, test.err)
				return
			}
			require.NoError(t, err)
			for providerType, want := range test.want {
				image, err := controlplane.ImagesFor(images[providerType], "1.36.0")("manager")
				require.NoError(t, err)
				assert.Equal(t, want, image)
			}
		})
	}
}
