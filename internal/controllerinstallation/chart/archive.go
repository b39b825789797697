package chart

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/loader/archive"
)

const (
	// maxUnpacked bounds the sum of the bytes that unpacking an archive reads and keeps. Helm bounds what is kept of one archive (100 MiB, 5 MiB a
	// file), but counts each nested archive separately, and does not count headers.
	maxUnpacked = 64 << 20
	// maxNesting bounds the depth of nested archives (charts/*.tgz).
	maxNesting = 5
	// maxElements bounds the YAML that is decoded when a chart is loaded: large charts have some thousands of lines.
	maxElements = 200_000
)

var (
	errTooLarge        = fmt.Errorf("it unpacks to more than %d MiB", maxUnpacked>>21)
	errTooManyElements = fmt.Errorf("its values.yaml, Chart.yaml and the like have more than %d lines and elements", maxElements)
	errTooDeep         = fmt.Errorf("archives lie more than %d deep in each other", maxNesting)
)

// unpack returns the files of an archive. Its cost is bounded, whatever the archive contains.
func unpack(content []byte) ([]*archive.BufferedFile, error) {
	if len(content) == 0 {
		return nil, errors.New("it is empty")
	}
	if err := (&meter{left: maxUnpacked, elements: maxElements}).measure(content, maxNesting); err != nil {
		return nil, explainArchiveError(err)
	}
	files, err := archive.LoadArchiveFiles(bytes.NewReader(content))
	return files, explainArchiveError(err)
}

// meter has what remains of the limits.
type meter struct {
	left int64
	// elements is how many elements may follow in the YAML that is decoded when a chart is loaded.
	elements int
}

func (m *meter) spend(n int64) error {
	if m.left -= n; m.left < 0 {
		return errTooLarge
	}
	return nil
}

// isDecodedOnLoad reports whether a file is decoded when a chart is loaded.
func isDecodedOnLoad(name string) bool {
	return slices.Contains([]string{"values.yaml", "Chart.yaml", "Chart.lock", "requirements.yaml", "requirements.lock"}, path.Base(cleanPath(name)))
}

// count reads YAML and counts the characters that may begin an element. Each element takes a hundred bytes of memory or more.
func (m *meter) count(text io.Reader) error {
	reader := bufio.NewReader(text)
	for {
		char, err := reader.ReadByte()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if strings.IndexByte("\n,[{-?", char) < 0 {
			continue
		}
		if m.elements--; m.elements < 0 {
			return errTooManyElements
		}
	}
}

// measure reads an archive to its end, with the nested archives that Helm would load, and keeps nothing. Helm decides whether a nested archive is valid.
func (m *meter) measure(content []byte, nesting int) error {
	unzipped, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return err
	}
	metered := &meteredReader{Reader: unzipped, meter: m}
	files := tar.NewReader(metered)
	for {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return readToEnd(metered)
		}
		if err != nil {
			return err
		}
		// The content of a sparse file is not in the stream.
		if err := m.spend(header.Size); err != nil {
			return err
		}
		if isDecodedOnLoad(header.Name) {
			if err := m.count(files); err != nil {
				return err
			}
			continue
		}
		if !isArchive(header.Name) || header.Size > archive.MaxDecompressedFileSize {
			continue
		}
		if nesting == 0 {
			return errTooDeep
		}
		nested, err := io.ReadAll(files)
		if err != nil {
			return err
		}
		if err := m.measure(nested, nesting-1); errors.Is(err, errTooLarge) || errors.Is(err, errTooDeep) || errors.Is(err, errTooManyElements) {
			return err
		}
	}
}

// readToEnd reads the rest after the last file, so that the checksum is verified. Data after the end of the gzip stream is ignored.
func readToEnd(rest io.Reader) error {
	_, err := io.Copy(io.Discard, rest)
	if errors.Is(err, gzip.ErrHeader) {
		return nil
	}
	return err
}

// isArchive follows Helm, which cleans names before it checks them.
func isArchive(name string) bool {
	return path.Ext(cleanPath(name)) == ".tgz"
}

func cleanPath(name string) string { return path.Clean(strings.ReplaceAll(name, `\`, "/")) }

type meteredReader struct {
	io.Reader
	meter *meter
}

func (r *meteredReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if spent := r.meter.spend(int64(n)); spent != nil {
		return n, spent
	}
	return n, err
}

// explainArchiveError translates errors of the readers of archives.
func explainArchiveError(err error) error {
	var corrupt flate.CorruptInputError
	switch {
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, io.EOF):
		return errors.New("it is not gzipped")
	case errors.Is(err, tar.ErrHeader):
		return errors.New("it is gzipped, but no tar archive")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("its end is missing")
	case errors.Is(err, gzip.ErrChecksum), errors.As(err, &corrupt):
		return errors.New("it is damaged")
	}
	return err
}
