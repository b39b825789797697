package images

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// entry is one file, folder or link of a layer, with its content not yet read.
type entry struct {
	File
	path string
}

// collect turns files into the entries of a layer, sorted so that folders come before what is in them.
func collect(files []File) ([]entry, error) {
	entries := map[string]entry{}
	for _, f := range files {
		found, err := expand(f)
		if err != nil {
			return nil, fmt.Errorf("packing %s: %w", f.Path, err)
		}
		for _, e := range found {
			if err := add(entries, e); err != nil {
				return nil, fmt.Errorf("packing %s: %w", e.path, err)
			}
		}
	}
	for _, e := range entries {
		for parent := path.Dir(e.path); parent != "/"; parent = path.Dir(parent) {
			above, known := entries[parent]
			if known && !above.Mode.IsDir() {
				return nil, fmt.Errorf("packing %s: %s is not a folder", e.path, parent)
			}
		}
	}
	return slices.SortedFunc(maps.Values(withParents(entries)), func(a, b entry) int { return strings.Compare(a.path, b.path) }), nil
}

func add(entries map[string]entry, e entry) error {
	if strings.Contains(e.path, "/.wh.") {
		return errors.New(`names that begin with ".wh." delete files in images`)
	}
	// Two Sources may both bring the folder that they fill, as packages of a distribution do.
	if before, known := entries[e.path]; known && (!before.Mode.IsDir() || !e.Mode.IsDir()) {
		return errors.New("the path is given twice")
	}
	entries[e.path] = e
	return nil
}

func withParents(entries map[string]entry) map[string]entry {
	all := maps.Clone(entries)
	for _, e := range entries {
		for parent := path.Dir(e.path); parent != "/"; parent = path.Dir(parent) {
			if _, known := all[parent]; !known {
				all[parent] = entry{path: parent, File: File{Mode: fs.ModeDir | 0o755}}
			}
		}
	}
	return all
}

// expand returns the entries that one File makes: one, or those of its Source folder.
func expand(f File) ([]entry, error) {
	if !path.IsAbs(f.Path) || path.Clean(f.Path) != f.Path {
		return nil, errors.New("the path must be absolute and clean, such as /etc/passwd")
	}
	if f.Source != "" && (f.Link != "" || f.Content != nil) || f.Link != "" && f.Content != nil {
		return nil, errors.New("only one of Source, Content and Link can be given")
	}
	if f.Source == "" {
		if f.Path == "/" && !f.Mode.IsDir() {
			return nil, errors.New("the root of an image is a folder")
		}
		return []entry{newEntry(f)}, nil
	}
	source, err := os.Stat(f.Source)
	if err != nil {
		return nil, err
	}
	if source.IsDir() {
		return walk(f)
	}
	if !source.Mode().IsRegular() {
		return nil, unpackable(f.Source, source.Mode())
	}
	return []entry{newEntry(f)}, nil
}

// newEntry is an entry as its File asks for it.
func newEntry(f File) entry {
	switch {
	case f.Link != "":
		f.Mode = fs.ModeSymlink | 0o777
	case f.Mode.IsDir() && f.Mode.Perm() == 0:
		f.Mode |= 0o755
	case f.Mode.Perm() == 0:
		f.Mode |= 0o644
	}
	return entry{File: f, path: f.Path}
}

func walk(f File) ([]entry, error) {
	var entries []entry
	// The slash makes WalkDir enter a folder that is named by a link.
	err := filepath.WalkDir(f.Source+"/", func(found string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(f.Source, found)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		e := entry{path: path.Join(f.Path, filepath.ToSlash(relative)), File: File{Source: found, Mode: info.Mode(), UID: f.UID, GID: f.GID}}
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			if e.Link, err = os.Readlink(found); err != nil {
				return err
			}
		case !info.IsDir() && !info.Mode().IsRegular():
			return unpackable(found, info.Mode())
		}
		entries = append(entries, e)
		return nil
	})
	return entries, err
}

func unpackable(source string, mode fs.FileMode) error {
	kind := "no file"
	switch {
	case mode&fs.ModeDevice != 0:
		kind = "a device"
	case mode&fs.ModeNamedPipe != 0:
		kind = "a pipe"
	case mode&fs.ModeSocket != 0:
		kind = "a socket"
	}
	return fmt.Errorf("%s is %s; only files, folders and symbolic links can be packed", source, kind)
}

func (e entry) writeTo(archive *tar.Writer) error {
	header := &tar.Header{Name: strings.TrimPrefix(e.path, "/"), Mode: tarMode(e.Mode), Uid: e.UID, Gid: e.GID}
	switch {
	case e.Link != "":
		header.Typeflag, header.Linkname = tar.TypeSymlink, e.Link
		return archive.WriteHeader(header)
	case e.Mode.IsDir():
		header.Typeflag, header.Name = tar.TypeDir, header.Name+"/"
		if e.path == "/" {
			header.Name = "./"
		}
		return archive.WriteHeader(header)
	case e.Source == "":
		header.Typeflag, header.Size = tar.TypeReg, int64(len(e.Content))
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		_, err := archive.Write(e.Content)
		return err
	}
	header.Typeflag = tar.TypeReg
	return e.stream(archive, header)
}

func (e entry) stream(archive *tar.Writer, header *tar.Header) error {
	source, err := os.Open(e.Source)
	if err != nil {
		return err
	}
	defer source.Close() //nolint:errcheck // nothing was written
	info, err := source.Stat()
	if err != nil {
		return err
	}
	header.Size = info.Size()
	if err := archive.WriteHeader(header); err != nil {
		return err
	}
	copied, err := io.Copy(archive, source)
	if err == nil && copied != header.Size {
		err = fmt.Errorf("%s shrank while it was read", e.Source)
	}
	return err
}

func tarMode(mode fs.FileMode) int64 {
	bits := int64(mode.Perm())
	for flag, bit := range map[fs.FileMode]int64{fs.ModeSetuid: 0o4000, fs.ModeSetgid: 0o2000, fs.ModeSticky: 0o1000} {
		if mode&flag != 0 {
			bits |= bit
		}
	}
	return bits
}
