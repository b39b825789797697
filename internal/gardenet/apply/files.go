package apply

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// conflistPath is below the root of the node. Container runtimes use the file that comes first.
const conflistPath = "etc/cni/net.d/10-gardenet.conflist"

// applySysctls writes values that differ: most nodes have them already.
func (s *step) applySysctls() {
	for _, name := range slices.Sorted(maps.Keys(s.state.Sysctls)) {
		wanted, path := s.state.Sysctls[name], s.applier.hostPath("proc/sys", name)
		present, err := os.ReadFile(path)
		if s.failed("reading the sysctl "+name, err) || string(bytes.TrimSpace(present)) == wanted {
			continue
		}
		s.do(fmt.Sprintf("setting the sysctl %s to %s", name, wanted), func() error { return os.WriteFile(path, []byte(wanted), 0o600) })
	}
}

// applyConflist replaces the CNI configuration as a whole: a container runtime never reads a part of it.
func (s *step) applyConflist() {
	path := s.applier.hostPath(conflistPath)
	present, err := os.ReadFile(path)
	if err == nil && string(present) == s.state.Conflist {
		return
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.failed("reading the CNI configuration", err)
		return
	}
	s.do("writing the CNI configuration "+path, func() error { return writeFile(path, s.state.Conflist) })
}

// writeFile writes a file beside the old one, and puts it in its place.
func writeFile(path, content string) (err error) {
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // the folder is the container runtime's, which others read, too
		return err
	}
	file, err := os.CreateTemp(folder, ".gardenet-*") // with mode 0600; a container runtime reads *.conf, *.conflist and *.json only
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	_, err = file.WriteString(content)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
