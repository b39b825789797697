// Package plugins copies CNI plugins from an image to a node, whose container runtime runs them. It must not know what they are for.
package plugins

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/go-logr/logr"
)

// mode is that of installed plugins: everybody on the node may run them.
const mode fs.FileMode = 0o755

// temporary begins the names of files that are not complete. Container runtimes look for plugins by their names, so they never run one.
const temporary = ".gardenet-"

// Names are the CNI plugins that gardenet's configurations use.
func Names() []string { return []string{"bandwidth", "host-local", "loopback", "portmap", "ptp"} }

// Install copies plugins between folders, if they differ. A plugin is replaced at once: it may be running, and the process may end at any time. Leftovers of
// a process that was ended are removed.
func Install(ctx context.Context, from, to string, names []string, log logr.Logger) error {
	if err := os.MkdirAll(to, mode); err != nil {
		return fmt.Errorf("creating the folder for plugins: %w", err)
	}
	if err := removeLeftovers(to); err != nil {
		return err
	}
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		source, target := filepath.Join(from, name), filepath.Join(to, name)
		equal, err := areEqual(source, target)
		if err != nil {
			return fmt.Errorf("comparing plugin %s: %w", name, err)
		}
		if equal {
			log.V(1).Info("Plugin is installed already", "plugin", name)
			continue
		}
		if err := replace(source, target); err != nil {
			return fmt.Errorf("installing plugin %s: %w", name, err)
		}
		log.Info("Installed plugin", "plugin", name, "folder", to)
	}
	return nil
}

func removeLeftovers(folder string) error {
	leftovers, err := filepath.Glob(filepath.Join(folder, temporary+"*"))
	if err != nil {
		return fmt.Errorf("looking for incomplete plugins: %w", err)
	}
	for _, path := range leftovers {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("removing an incomplete plugin: %w", err)
		}
	}
	return nil
}

// areEqual returns whether the target is a file with the source's content and the mode of plugins.
func areEqual(source, target string) (bool, error) {
	want, err := os.Stat(source)
	if err != nil {
		return false, err
	}
	have, err := os.Lstat(target)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if have.Mode() != mode || have.Size() != want.Size() {
		return false, nil
	}
	first, err := sum(source)
	if err != nil {
		return false, err
	}
	second, err := sum(target)
	return bytes.Equal(first, second), err
}

func sum(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return nil, err
	}
	return hash.Sum(nil), nil
}

// replace writes the source into a new file, which becomes the target when all of it is on disk.
func replace(source, target string) (err error) {
	in, err := os.Open(source)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // it was only read
	out, err := os.CreateTemp(filepath.Dir(target), temporary+"*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(out.Name()))
		}
	}()
	_, err = io.Copy(out, in)
	if err == nil {
		err = out.Chmod(mode)
	}
	if err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	return os.Rename(out.Name(), target)
}
