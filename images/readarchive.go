package images

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Archive is what an archive says of itself.
type Archive struct {
	// Digests are those of the images' indexes, "sha256:...", by name.
	Digests map[string]string
	// Documents are the Documents, by path.
	Documents map[string][]byte
}

const (
	// maxTable and maxDocument bound what is read into memory.
	maxTable    = 1 << 20
	maxDocument = 16 << 20
)

const blobsFolder = "blobs/sha256/"

// ReadArchive reads a file that WriteArchive has written. Programs find images in it in several ways: containerd and skopeo by index.json, `docker load`
// by manifest.json. It fails unless all of them lead to the same images, and to what the digests were given for: all blobs are what their names
// say, index.json and manifest.json are what WriteArchive writes for the images, and nothing is missing, there twice or beside them.
func ReadArchive(path string) (Archive, error) {
	file, err := os.Open(path)
	if err != nil {
		return Archive{}, err
	}
	defer file.Close() //nolint:errcheck // nothing was written
	read := archiveReader{
		members: map[string]bool{}, tables: map[string][]byte{}, blobs: map[string][]byte{}, used: map[string]bool{}, documents: map[string][]byte{},
	}
	for reader := tar.NewReader(file); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Archive{}, fmt.Errorf("reading %s: %w", path, err)
		}
		if err := read.member(header, reader); err != nil {
			return Archive{}, fmt.Errorf("reading %s: %s: %w", path, header.Name, err)
		}
	}
	digests, err := read.check()
	if err != nil {
		return Archive{}, fmt.Errorf("reading %s: %w", path, err)
	}
	return Archive{Digests: digests, Documents: read.documents}, nil
}

// archiveReader has what was read of an archive.
type archiveReader struct {
	members map[string]bool
	tables  map[string][]byte
	// blobs are by digest; nil when too large for a manifest. Those that belong to an image are used.
	blobs     map[string][]byte
	used      map[string]bool
	documents map[string][]byte
}

// member reads one file of the archive. What WriteArchive does not write is refused: whoever loads the archive may take it for something else.
func (a *archiveReader) member(header *tar.Header, content io.Reader) error {
	if header.Typeflag != tar.TypeReg || !fs.ValidPath(header.Name) {
		return errors.New("an archive of images has files with plain names only")
	}
	if a.members[header.Name] {
		return errors.New("the archive has it twice")
	}
	a.members[header.Name] = true
	var err error
	switch {
	case strings.HasPrefix(header.Name, documentsFolder):
		a.documents[strings.TrimPrefix(header.Name, documentsFolder)], err = readWhole(content, maxDocument)
	case strings.HasPrefix(header.Name, blobsFolder):
		err = a.blob(strings.TrimPrefix(header.Name, blobsFolder), header.Size, content)
	case header.Name == layoutTable || header.Name == indexTable || header.Name == dockerTable:
		a.tables[header.Name], err = readWhole(content, maxTable)
	default:
		err = errors.New("an archive of images has no such file")
	}
	return err
}

func (a *archiveReader) blob(name string, size int64, content io.Reader) error {
	sum := sha256.New()
	var raw []byte
	if size <= maxTable {
		var err error
		if raw, err = readWhole(content, maxTable); err != nil {
			return err
		}
		sum.Write(raw)
	} else if _, err := io.Copy(sum, content); err != nil {
		return err
	}
	if hex.EncodeToString(sum.Sum(nil)) != name {
		return errors.New("the content is not what the name says: the archive was changed")
	}
	a.blobs["sha256:"+name] = raw
	return nil
}

func readWhole(content io.Reader, limit int64) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(content, limit+1))
	if err == nil && int64(len(raw)) > limit {
		err = fmt.Errorf("it has more than %d bytes", limit)
	}
	return raw, err
}

// check follows index.json to all images, and returns the digests of their indexes by name.
func (a *archiveReader) check() (map[string]string, error) {
	for _, table := range []string{layoutTable, indexTable, dockerTable} {
		if _, there := a.tables[table]; !there {
			return nil, fmt.Errorf("there is no %s", table)
		}
	}
	var index v1.IndexManifest
	if err := json.Unmarshal(a.tables[indexTable], &index); err != nil {
		return nil, fmt.Errorf("%s: %w", indexTable, err)
	}
	var found contents
	digests := make(map[string]string, len(index.Manifests))
	for _, entry := range index.Manifests {
		ref := entry.Annotations[nameAnnotation]
		if _, twice := digests[ref]; twice {
			return nil, fmt.Errorf("%s: it has the name %s twice", indexTable, ref)
		}
		if err := a.follow(ref, entry.Digest, &found); err != nil {
			return nil, fmt.Errorf("image %s: %w", ref, err)
		}
		digests[ref] = entry.Digest.String()
	}
	expected, err := found.tables()
	if err != nil {
		return nil, err
	}
	for _, table := range expected {
		if !bytes.Equal(a.tables[table.path], table.content) {
			return nil, fmt.Errorf("%s is not what belongs to the images: the archive was changed", table.path)
		}
	}
	for digest := range a.blobs {
		if !a.used[digest] {
			return nil, fmt.Errorf("%s belongs to no image: the archive was changed", digest)
		}
	}
	return digests, nil
}

// follow adds what the tables say of the images under a name.
func (a *archiveReader) follow(ref string, digest v1.Hash, to *contents) error {
	tag, err := name.NewTag(ref, name.StrictValidation)
	if err != nil {
		return err
	}
	raw, err := a.use(digest)
	if err != nil {
		return err
	}
	var list v1.IndexManifest
	if err := json.Unmarshal(raw, &list); err != nil {
		return fmt.Errorf("%s: %w", digest, err)
	}
	to.index = append(to.index, indexEntry(ref, digest, len(raw)))
	for i, image := range list.Manifests {
		if image.Platform == nil || !image.MediaType.IsImage() {
			return fmt.Errorf("%s is no image for a platform", image.Digest)
		}
		entry, err := a.image(image.Digest)
		if err != nil {
			return err
		}
		entry.RepoTags = []string{dockerTag(tag, i, image.Platform.Architecture)}
		to.docker = append(to.docker, entry)
	}
	return nil
}

// image returns the entry of manifest.json, but for the name.
func (a *archiveReader) image(digest v1.Hash) (dockerEntry, error) {
	raw, err := a.use(digest)
	if err != nil {
		return dockerEntry{}, err
	}
	var manifest v1.Manifest
	if err := json.Unmarshal(raw, &manifest); err != nil {
		return dockerEntry{}, fmt.Errorf("%s: %w", digest, err)
	}
	if _, err := a.use(manifest.Config.Digest); err != nil {
		return dockerEntry{}, err
	}
	entry := dockerEntry{Config: blobPath(manifest.Config.Digest)}
	for _, layer := range manifest.Layers {
		if _, err := a.use(layer.Digest); err != nil {
			return dockerEntry{}, err
		}
		entry.Layers = append(entry.Layers, blobPath(layer.Digest))
	}
	return entry, nil
}

func (a *archiveReader) use(digest v1.Hash) ([]byte, error) {
	raw, there := a.blobs[digest.String()]
	if !there {
		return nil, fmt.Errorf("%s is missing", digest)
	}
	a.used[digest.String()] = true
	return raw, nil
}
