package stack

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// The default paths. There is one cloud per machine, so they do not depend on the checkout.
const (
	DefaultDir   = "/var/lib/trellis-openstack"
	DefaultCache = "/var/cache/trellis-openstack"
)

// markerText is the content of the file that marks a state directory.
const markerText = "The state of an OpenStack for tests. It goes when the cloud is brought down.\n"

// maxSocketPath is the maximum length of the path of a Unix socket, without the terminating byte.
const maxSocketPath = 107

// layout has the paths below the state directory.
type layout struct{ dir string }

func (l layout) marker() string { return filepath.Join(l.dir, ".trellis-openstack") }
func (l layout) lock() string   { return filepath.Join(l.dir, ".lock") }
func (l layout) clouds() string { return filepath.Join(l.dir, "clouds.yaml") }
func (l layout) etc() string    { return filepath.Join(l.dir, "etc") }
func (l layout) python() string { return filepath.Join(l.dir, "python") }
func (l layout) data() string   { return filepath.Join(l.dir, "data") }
func (l layout) files() string  { return filepath.Join(l.data(), "mariadb-files") }
func (l layout) locks() string  { return filepath.Join(l.dir, "locks") }
func (l layout) logs() string   { return filepath.Join(l.dir, "log") }
func (l layout) run() string    { return filepath.Join(l.dir, "run") }
func (l layout) socket() string { return filepath.Join(l.run(), "mariadb.sock") }

func (l layout) log(name string) string    { return filepath.Join(l.logs(), name+".log") }
func (l layout) config(path string) string { return filepath.Join(l.etc(), path) }
func (l layout) done(what string) string   { return filepath.Join(l.run(), what+".done") }

// newLayout checks that dir can hold the state.
func newLayout(dir string) (layout, error) {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return layout{}, fmt.Errorf("finding the state directory %s: %w", dir, err)
	}
	l := layout{dir: absolute}
	if tooLong := len(l.socket()) - maxSocketPath; tooLong > 0 {
		return layout{}, fmt.Errorf("the path of the state directory %s is too long by %d bytes: a Unix socket in it could not be reached", absolute, tooLong)
	}
	return l, nil
}

// errNotStateDir is the error for a directory that this program did not create.
var errNotStateDir = errors.New("is no state directory of this program, and is left alone")

// verify fails unless create made the directory, or it is empty.
func (l layout) verify() (there bool, err error) {
	entries, err := os.ReadDir(l.dir)
	if errors.Is(err, os.ErrNotExist) || err == nil && len(entries) == 0 {
		return false, nil
	}
	content, err := os.ReadFile(l.marker())
	if errors.Is(err, os.ErrNotExist) || err == nil && string(content) != markerText {
		return true, fmt.Errorf("%s %w", l.dir, errNotStateDir)
	}
	if err != nil {
		return true, fmt.Errorf("looking whether %s is a state directory: %w", l.dir, err)
	}
	return true, nil
}

// create creates the state directory, unless it exists. Only its owner may read it: all daemons run as root, and trust everybody who can
// open a socket or a file in it.
func (l layout) create() error {
	there, err := l.verify()
	if err != nil {
		return err
	}
	if !there {
		if err := os.MkdirAll(l.dir, 0o700); err != nil {
			return fmt.Errorf("making the state directory: %w", err)
		}
		if err := os.WriteFile(l.marker(), []byte(markerText), 0o600); err != nil {
			return fmt.Errorf("marking the state directory: %w", err)
		}
	}
	// It may have other permissions: an empty directory, or one that an older version made.
	if err := os.Chmod(l.dir, 0o700); err != nil {
		return fmt.Errorf("closing the state directory to others: %w", err)
	}
	for _, dir := range []string{
		l.etc(), l.python(), l.locks(), l.logs(), l.run(), l.data(), l.files(),
		filepath.Join(l.data(), "nova"), filepath.Join(l.data(), "neutron"), filepath.Join(l.data(), "cinder", "conversion"),
		filepath.Join(l.data(), "glance", "images"), filepath.Join(l.data(), "glance", "staging"), filepath.Join(l.data(), "glance", "tasks"),
	} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("making the state directory: %w", err)
		}
	}
	return nil
}

// remove removes the state directory.
func (l layout) remove() error {
	paths, err := l.removal()
	if err != nil {
		return err
	}
	for _, path := range paths {
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("removing the state: %w", err)
		}
	}
	return nil
}

// removal lists what remove removes, in this order. The marker is last: without it the rest would not be recognized if this program is
// killed. The lock is removed just before, since it keeps other processes from creating the directory again.
func (l layout) removal() ([]string, error) {
	entries, err := os.ReadDir(l.dir)
	if err != nil {
		return nil, fmt.Errorf("removing the state: %w", err)
	}
	var paths []string
	for _, entry := range entries {
		if path := filepath.Join(l.dir, entry.Name()); path != l.marker() && path != l.lock() {
			paths = append(paths, path)
		}
	}
	return append(paths, l.lock(), l.marker(), l.dir), nil
}

// isDone reports whether a step is recorded as done.
func (l layout) isDone(what string) bool {
	_, err := os.Stat(l.done(what))
	return err == nil
}

func (l layout) recordDone(what string) error {
	if err := os.WriteFile(l.done(what), nil, 0o600); err != nil {
		return fmt.Errorf("noting that %s is done: %w", what, err)
	}
	return nil
}
