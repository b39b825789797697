package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/trellis-garden/trellis/images/internal/attestation"
	"github.com/trellis-garden/trellis/images/internal/verifier"
)

// write writes a file of the release, with its signature if that is wanted and there is a key.
func (r *release) write(name string, content []byte, signed bool) error {
	files := map[string][]byte{name: content}
	if signed && r.key != nil {
		if err := attestation.SignFile(*r.key, name, files); err != nil {
			return err
		}
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(r.images.Out, name), content, 0o644); err != nil { //nolint:gosec // it is for everyone
			return fmt.Errorf("writing %s: %w", name, err)
		}
	}
	return nil
}

// writeSums writes the sums of all files that there are, and signs them.
func (r *release) writeSums(context.Context) error {
	r.logf("writing %s", verifier.SumsFile)
	var lines strings.Builder
	err := forEachFile(r.images.Out, ".", func(path, name string) error {
		sum, err := verifier.SumOf(path)
		fmt.Fprintf(&lines, "%s  %s\n", sum, name)
		return err
	})
	if err != nil {
		return err
	}
	return r.write(verifier.SumsFile, []byte(lines.String()), true)
}

// packFolder packs a folder in root. The same files give the same bytes.
func packFolder(root, folder string, modified time.Time) ([]byte, error) {
	var packed bytes.Buffer
	zipper := gzip.NewWriter(&packed)
	archive := tar.NewWriter(zipper)
	err := forEachFile(root, folder, func(path, name string) error {
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := archive.WriteHeader(&tar.Header{
			Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(content)), ModTime: modified, Format: tar.FormatUSTAR,
		}); err != nil {
			return err
		}
		_, err = archive.Write(content)
		return err
	})
	if err := errors.Join(err, archive.Close(), zipper.Close()); err != nil {
		return nil, fmt.Errorf("packing %s: %w", folder, err)
	}
	return packed.Bytes(), nil
}

// forEachFile visits the files below a folder in root, in the order of their names, which are relative to root and have slashes.
func forEachFile(root, folder string, do func(path, name string) error) error {
	return filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		return do(path, filepath.ToSlash(name))
	})
}
