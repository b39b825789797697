package chart

import (
	"archive/tar"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"helm.sh/helm/v4/pkg/chart/loader/archive"
)

const (
	// maxUnpacked bounds what unpacking an archive reads and keeps, both counted. Helm bounds what is kept of one archive (100 MiB, 5 MiB a file),
	// but counts anew for each archive in it, and headers not at all.
	maxUnpacked = 64 << 20
	// maxNesting bounds how deep archives may lie in archives (charts/*.tgz).
	maxNesting = 5
)

var (
	errTooLarge = fmt.Errorf("it unpacks to more than %d MiB", maxUnpacked>>21)
	errTooDeep  = fmt.Errorf("archives lie more than %d deep in each other", maxNesting)
)

// unpack returns the files of an archive. What it costs does not grow with what an archive claims to hold.
func unpack(content []byte) ([]*archive.BufferedFile, error) {
	if len(content) == 0 {
		return nil, errors.New("it is empty")
	}
	if err := (&meter{left: maxUnpacked}).weigh(content, maxNesting); err != nil {
		return nil, inWords(err)
	}
	files, err := archive.LoadArchiveFiles(bytes.NewReader(content))
	return files, inWords(err)
}

// meter says how much may still be unpacked.
type meter struct{ left int64 }

func (m *meter) spend(n int64) error {
	if m.left -= n; m.left < 0 {
		return errTooLarge
	}
	return nil
}

// weigh reads an archive to its end, and those in it that Helm would load, and keeps nothing. Whether an archive in it is one is Helm's to judge.
func (m *meter) weigh(content []byte, nesting int) error {
	unzipped, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return err
	}
	metered := &meteredReader{Reader: unzipped, meter: m}
	files := tar.NewReader(metered)
	for {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return wholeToTheEnd(metered)
		}
		if err != nil {
			return err
		}
		// What a sparse file holds is not in the stream.
		if err := m.spend(header.Size); err != nil {
			return err
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
		if err := m.weigh(nested, nesting-1); errors.Is(err, errTooLarge) || errors.Is(err, errTooDeep) {
			return err
		}
	}
}

// wholeToTheEnd reads what follows the last file, so that the checksum is looked at. What follows the end of the gzip stream does not matter.
func wholeToTheEnd(rest io.Reader) error {
	_, err := io.Copy(io.Discard, rest)
	if errors.Is(err, gzip.ErrHeader) {
		return nil
	}
	return err
}

// isArchive follows Helm, which cleans names before it looks at them.
func isArchive(name string) bool {
	return path.Ext(path.Clean(strings.ReplaceAll(name, `\`, "/"))) == ".tgz"
}

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

// inWords says what is wrong with an archive to somebody who doesn't know how one is read.
func inWords(err error) error {
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
