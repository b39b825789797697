package images

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/klauspost/compress/gzip"
)

// Layer is a packed list of files. Its bytes wait in a temporary file (see os.TempDir) that goes away with the Layer or the process.
type Layer struct {
	packed *os.File
	size   int64
	// digest is of the packed bytes, diffID of what they are when unpacked.
	digest, diffID v1.Hash
}

// NewLayer packs files: sorted by path, with no time but 1970-01-01, compressed by gzip. Content is streamed, never held in memory as a whole.
// An error names the file: a path that is not absolute or occurs twice, a Source that cannot be read or holds what cannot be packed.
func NewLayer(files ...File) (*Layer, error) {
	entries, err := collect(files)
	if err != nil {
		return nil, err
	}
	packed, err := anonymousFile()
	if err != nil {
		return nil, fmt.Errorf("making room for a layer: %w", err)
	}
	layer, err := pack(packed, entries)
	if err != nil {
		packed.Close() //nolint:errcheck,gosec // the error that led here is the one to know
		return nil, err
	}
	return layer, nil
}

// anonymousFile returns a file without a name: nothing is left of it, however the process ends.
func anonymousFile() (*os.File, error) {
	file, err := os.CreateTemp("", "layer-*")
	if err != nil {
		return nil, err
	}
	return file, os.Remove(file.Name())
}

func pack(packed *os.File, entries []entry) (*Layer, error) {
	digest, diffID := sha256.New(), sha256.New()
	counted := &counter{to: io.MultiWriter(packed, digest)}
	// Not compress/gzip: its output changes with Go's version, this one's with go.mod alone.
	zipped := gzip.NewWriter(counted)
	archive := tar.NewWriter(io.MultiWriter(zipped, diffID))
	for _, e := range entries {
		if err := e.writeTo(archive); err != nil {
			return nil, fmt.Errorf("packing %s: %w", e.path, err)
		}
	}
	if err := archive.Close(); err != nil {
		return nil, fmt.Errorf("packing a layer: %w", err)
	}
	if err := zipped.Close(); err != nil {
		return nil, fmt.Errorf("packing a layer: %w", err)
	}
	return &Layer{packed: packed, size: counted.written, digest: sum(digest), diffID: sum(diffID)}, nil
}

func sum(of hash.Hash) v1.Hash {
	return v1.Hash{Algorithm: "sha256", Hex: hex.EncodeToString(of.Sum(nil))}
}

type counter struct {
	to      io.Writer
	written int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.to.Write(p)
	c.written += int64(n)
	return n, err
}

// Size is the number of bytes that the layer takes in an archive or a registry.
func (l *Layer) Size() int64 { return l.size }

// stored shows a layer to go-containerregistry.
type stored struct{ *Layer }

var _ v1.Layer = stored{}

func (s stored) Digest() (v1.Hash, error)            { return s.digest, nil }
func (s stored) DiffID() (v1.Hash, error)            { return s.diffID, nil }
func (s stored) Size() (int64, error)                { return s.size, nil }
func (s stored) MediaType() (types.MediaType, error) { return types.OCILayer, nil }

func (s stored) Compressed() (io.ReadCloser, error) {
	return io.NopCloser(io.NewSectionReader(s.packed, 0, s.size)), nil
}

func (s stored) Uncompressed() (io.ReadCloser, error) {
	return gzip.NewReader(io.NewSectionReader(s.packed, 0, s.size))
}
