package images

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// WriteArchive writes images to a tar file at path, by name: a repository with its registry, and a tag, e.g. "ghcr.io/you/app:v1". Each name holds
// one image per platform. What stands at path is replaced when all is written.
//
// The file is an OCI layout, whose index lists every platform, and at the same time a docker archive. So `ctr images import`, `kind load
// image-archive`, skopeo (oci-archive:) and podman take the images that fit their machine. `docker load` of versions without containerd's image
// store knows one platform per name: it gives the name itself to the first, and the name with the architecture, e.g. "ghcr.io/you/app:v1-arm64", to
// the others.
//
// It returns each name's digest, "sha256:...": that of its index, which Push and Digest give it too.
func WriteArchive(path string, images map[string][]Image, documents ...Document) (digests map[string]string, err error) {
	if len(images) == 0 {
		return nil, fmt.Errorf("writing %s: no images are given", path)
	}
	content := contents{blobs: map[v1.Hash]blob{}, documents: documents}
	digests = make(map[string]string, len(images))
	for _, name := range slices.Sorted(maps.Keys(images)) {
		if digests[name], err = content.add(name, images[name]); err != nil {
			return nil, fmt.Errorf("image %s: %w", name, err)
		}
	}
	if err := replace(path, content.writeTo); err != nil {
		return nil, fmt.Errorf("writing %s: %w", path, err)
	}
	return digests, nil
}

// Digest returns the digest that WriteArchive and Push give to images under a name.
func Digest(images []Image) (string, error) {
	made, err := assemble(images)
	if err != nil {
		return "", err
	}
	digest, err := made.index.Digest()
	return digest.String(), err
}

// CheckName returns an error unless WriteArchive and Push take ref as the name of an image.
func CheckName(ref string) error {
	_, err := name.NewTag(ref, name.StrictValidation)
	return err
}

// documentsFolder is where an archive keeps Documents.
const documentsFolder = "documents/"

// contents is what an archive holds.
type contents struct {
	blobs map[v1.Hash]blob
	// index is the OCI layout's, docker the docker archive's table of contents.
	index  []v1.Descriptor
	docker []dockerEntry
	// documents stand beside both.
	documents []Document
}

type blob struct {
	size int64
	open func() (io.ReadCloser, error)
}

// dockerEntry is an image in manifest.json: Config and Layers are paths in the archive.
type dockerEntry struct {
	Config   string
	RepoTags []string
	Layers   []string
}

func (c *contents) add(ref string, images []Image) (string, error) {
	tag, err := name.NewTag(ref, name.StrictValidation)
	if err != nil {
		return "", err
	}
	made, err := assemble(images)
	if err != nil {
		return "", err
	}
	for i, m := range made.images {
		if err := c.addImage(dockerTag(tag, i, images[i].Platform.Architecture), m); err != nil {
			return "", err
		}
	}
	raw, err := made.index.RawManifest()
	if err != nil {
		return "", err
	}
	digest := c.addBytes(raw)
	c.index = append(c.index, indexEntry(ref, digest, len(raw)))
	return digest.String(), nil
}

// nameAnnotation is where containerd finds the name of an image in index.json. Skopeo and podman have another one.
const nameAnnotation = "io.containerd.image.name"

// indexEntry is a name in index.json, with its index.
func indexEntry(ref string, digest v1.Hash, size int) v1.Descriptor {
	return v1.Descriptor{
		MediaType: types.OCIImageIndex, Digest: digest, Size: int64(size),
		Annotations: map[string]string{nameAnnotation: ref, "org.opencontainers.image.ref.name": ref},
	}
}

// dockerTag is the name that manifest.json gives to the image at a position among those under a name.
func dockerTag(tag name.Tag, position int, architecture string) string {
	if position == 0 {
		return tag.String()
	}
	return tag.Context().String() + ":" + tag.TagStr() + "-" + architecture
}

func (c *contents) addImage(tag string, image v1.Image) error {
	manifest, err := image.RawManifest()
	if err != nil {
		return err
	}
	c.addBytes(manifest)
	config, err := image.RawConfigFile()
	if err != nil {
		return err
	}
	entry := dockerEntry{Config: blobPath(c.addBytes(config)), RepoTags: []string{tag}}
	layers, err := image.Layers()
	if err != nil {
		return err
	}
	for _, layer := range layers {
		digest, err := layer.Digest()
		if err != nil {
			return err
		}
		size, err := layer.Size()
		if err != nil {
			return err
		}
		c.blobs[digest] = blob{size: size, open: layer.Compressed}
		entry.Layers = append(entry.Layers, blobPath(digest))
	}
	c.docker = append(c.docker, entry)
	return nil
}

func (c *contents) addBytes(content []byte) v1.Hash {
	digest, size, _ := v1.SHA256(bytes.NewReader(content)) // memory can be read
	c.blobs[digest] = blob{size: size, open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }}
	return digest
}

func blobPath(digest v1.Hash) string { return "blobs/" + digest.Algorithm + "/" + digest.Hex }

func (c *contents) writeTo(to io.Writer) error {
	archive := tar.NewWriter(to)
	tables, err := c.tables()
	if err != nil {
		return err
	}
	for _, table := range tables {
		if err := writeFile(archive, table.path, int64(len(table.content)), bytes.NewReader(table.content)); err != nil {
			return err
		}
	}
	for _, digest := range slices.SortedFunc(maps.Keys(c.blobs), func(a, b v1.Hash) int { return strings.Compare(a.Hex, b.Hex) }) {
		b := c.blobs[digest]
		content, err := b.open()
		if err != nil {
			return err
		}
		if err := errors.Join(writeFile(archive, blobPath(digest), b.size, content), content.Close()); err != nil {
			return err
		}
	}
	for _, d := range c.documents {
		if err := writeFile(archive, documentsFolder+d.Path, int64(len(d.Content)), bytes.NewReader(d.Content)); err != nil {
			return err
		}
	}
	return archive.Close()
}

// The files in which programs that load images look for them.
const (
	layoutTable = "oci-layout"
	indexTable  = "index.json"
	dockerTable = "manifest.json"
)

type table struct {
	path    string
	content []byte
}

// tables are made of index and docker alone, in the order in which they are written.
func (c *contents) tables() ([]table, error) {
	var tables []table
	for _, t := range []struct {
		path    string
		content any
	}{
		{layoutTable, map[string]string{"imageLayoutVersion": "1.0.0"}},
		{indexTable, v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex, Manifests: c.index}},
		{dockerTable, c.docker},
	} {
		raw, err := json.Marshal(t.content)
		if err != nil {
			return nil, fmt.Errorf("writing %s: %w", t.path, err)
		}
		tables = append(tables, table{path: t.path, content: raw})
	}
	return tables, nil
}

func writeFile(archive *tar.Writer, path string, size int64, content io.Reader) error {
	if err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: path, Mode: 0o644, Size: size}); err != nil {
		return err
	}
	_, err := io.Copy(archive, content)
	return err
}

// replace writes path as a whole or not at all.
func replace(path string, write func(io.Writer) error) error {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) //nolint:errcheck // it is gone once it was renamed
	if err := errors.Join(file.Chmod(0o644), write(file), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
