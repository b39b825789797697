package images

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

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

// ReadArchive reads a file that WriteArchive has written. It fails unless all blobs are what their names say, and all that the index lists are there:
// what a digest was given for is what the archive holds.
func ReadArchive(path string) (Archive, error) {
	file, err := os.Open(path)
	if err != nil {
		return Archive{}, err
	}
	defer file.Close() //nolint:errcheck // nothing was written
	found := Archive{Digests: map[string]string{}, Documents: map[string][]byte{}}
	blobs := map[string][]byte{} // those that may be manifests; nil when too large for one
	var index v1.IndexManifest
	reader := tar.NewReader(file)
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Archive{}, fmt.Errorf("reading %s: %w", path, err)
		}
		if err := found.read(header, reader, blobs, &index); err != nil {
			return Archive{}, fmt.Errorf("reading %s: %s: %w", path, header.Name, err)
		}
	}
	for _, entry := range index.Manifests {
		if err := complete(entry, blobs); err != nil {
			return Archive{}, fmt.Errorf("reading %s: %w", path, err)
		}
		found.Digests[entry.Annotations["io.containerd.image.name"]] = entry.Digest.String()
	}
	return found, nil
}

func (a *Archive) read(header *tar.Header, content io.Reader, blobs map[string][]byte, index *v1.IndexManifest) error {
	switch {
	case strings.HasPrefix(header.Name, "blobs/sha256/"):
		return readBlob(strings.TrimPrefix(header.Name, "blobs/sha256/"), header.Size, content, blobs)
	case header.Name == "index.json":
		raw, err := readWhole(content, maxTable)
		if err != nil {
			return err
		}
		return json.Unmarshal(raw, index)
	case strings.HasPrefix(header.Name, documentsFolder):
		raw, err := readWhole(content, maxDocument)
		a.Documents[strings.TrimPrefix(header.Name, documentsFolder)] = raw
		return err
	}
	return nil
}

func readBlob(name string, size int64, content io.Reader, blobs map[string][]byte) error {
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
	blobs["sha256:"+name] = raw
	return nil
}

func readWhole(content io.Reader, limit int64) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(content, limit+1))
	if err == nil && int64(len(raw)) > limit {
		err = fmt.Errorf("it has more than %d bytes", limit)
	}
	return raw, err
}

// complete checks that all that a descriptor leads to is there: an index' manifests, a manifest's configuration and layers.
func complete(of v1.Descriptor, blobs map[string][]byte) error {
	raw, known := blobs[of.Digest.String()]
	if !known {
		return fmt.Errorf("%s is missing", of.Digest)
	}
	if !of.MediaType.IsIndex() && !of.MediaType.IsImage() {
		return nil
	}
	var lists struct {
		Manifests []v1.Descriptor `json:"manifests"`
		Config    *v1.Descriptor  `json:"config"`
		Layers    []v1.Descriptor `json:"layers"`
	}
	if err := json.Unmarshal(raw, &lists); err != nil {
		return fmt.Errorf("%s: %w", of.Digest, err)
	}
	below := slices.Concat(lists.Manifests, lists.Layers)
	if lists.Config != nil {
		below = append(below, *lists.Config)
	}
	for _, descriptor := range below {
		if err := complete(descriptor, blobs); err != nil {
			return err
		}
	}
	return nil
}
