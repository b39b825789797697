package debian

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/blakesmith/ar"
	"github.com/ulikunitz/xz"
)

// Files are the files of packages, by their absolute paths.
type Files map[string]file

type file struct {
	content []byte
	// target is where a symbolic link leads, or empty.
	target string
}

// Add adds the files of a package: a .deb with data.tar.xz.
func (f Files) Add(deb []byte) error {
	archive := ar.NewReader(bytes.NewReader(deb))
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return errors.New("it has no data.tar.xz")
		}
		if err != nil {
			return fmt.Errorf("reading the archive: %w", err)
		}
		if strings.TrimSuffix(header.Name, "/") != "data.tar.xz" {
			continue
		}
		unpacked, err := xz.NewReader(archive)
		if err != nil {
			return fmt.Errorf("unpacking data.tar.xz: %w", err)
		}
		return f.addTar(tar.NewReader(unpacked))
	}
}

func (f Files) addTar(archive *tar.Reader) error {
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading data.tar: %w", err)
		}
		name := path.Join("/", header.Name) //nolint:gosec // nothing is written to files of this name
		switch header.Typeflag {
		case tar.TypeReg:
			content, err := io.ReadAll(archive)
			if err != nil {
				return fmt.Errorf("reading %s: %w", name, err)
			}
			f[name] = file{content: content}
		case tar.TypeSymlink:
			f[name] = file{target: header.Linkname}
		}
	}
}

// read returns the content of a file, through symbolic links. Debian's folders /bin, /sbin, /lib and /lib64 are those in /usr.
func (f Files) read(name string) ([]byte, bool) {
	for range 8 { // links
		found, ok := f[name]
		if !ok {
			found, ok = f[otherUsr(name)]
		}
		switch {
		case !ok:
			return nil, false
		case found.target == "":
			return found.content, true
		case path.IsAbs(found.target):
			name = found.target
		default:
			name = path.Join(path.Dir(name), found.target)
		}
	}
	return nil, false
}

// otherUsr is the same file with or without /usr.
func otherUsr(name string) string {
	if rest, found := strings.CutPrefix(name, "/usr"); found {
		return rest
	}
	return "/usr" + name
}
