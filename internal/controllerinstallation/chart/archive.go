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
	// maxUnpacked bounds what unpacking an archive reads and keeps, both counted. Helm bounds what is kept of one archive (100 MiB, 5 MiB a file),
	// but counts anew for each archive in it, and headers not at all.
	maxUnpacked = 64 << 20
	// maxNesting bounds how deep archives may lie in archives (charts/*.tgz).
	maxNesting = 5
	// maxElements bounds the YAML that is decoded when a chart is loaded: large charts have some thousands of lines of it.
	maxElements = 200_000
)

var (
	errTooLarge        = fmt.Errorf("it unpacks to more than %d MiB", maxUnpacked>>21)
	errTooManyElements = fmt.Errorf("its values.yaml, Chart.yaml and the like have more than %d lines and elements", maxElements)
	errTooDeep         = fmt.Errorf("archives lie more than %d deep in each other", maxNesting)
)

// unpack returns the files of an archive. What it costs does not grow with what an archive claims to hold.
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

// meter says how much may still be unpacked.
type meter struct {
	left int64
	// elements are those that the YAML which is read when a chart is loaded may still have.
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

// count reads YAML and spends what may begin an element of it: an element takes a hundred bytes of memory and more, whatever it is.
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

// measure reads an archive to its end, and those in it that Helm would load, and keeps nothing. Whether an archive in it is one is Helm's to judge.
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
		// What a sparse file holds is not in the stream.
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

// readToEnd reads what follows the last file, so that the checksum is looked at. What follows the end of the gzip stream does not matter.
func readToEnd(rest io.Reader) error {
	_, err := io.Copy(io.Discard, rest)
	if errors.Is(err, gzip.ErrHeader) {
		return nil
	}
	return err
}

// isArchive follows Helm, which cleans names before it looks at them.
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

// explainArchiveError says what is wrong with an archive to somebody who doesn't know how one is read.
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
