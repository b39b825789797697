package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/images"
)

// module is the Go module whose commands are built.
type module struct {
	// root is its folder, path its name.
	root, path string
	// cache and goroot are where Go keeps other modules and itself.
	cache, goroot string
	// commands are the folders in cmd/.
	commands []string
}

func readModule(ctx context.Context, root string) (module, error) {
	m := module{root: root}
	folders, err := os.ReadDir(filepath.Join(root, "cmd"))
	if errors.Is(err, fs.ErrNotExist) {
		return module{}, fmt.Errorf("there is no folder cmd in %s; name the root of the module with --source", root)
	}
	if err != nil {
		return module{}, err
	}
	for _, f := range folders {
		if f.IsDir() {
			m.commands = append(m.commands, f.Name())
		}
	}
	for _, query := range []struct {
		answer *string
		args   []string
	}{
		{&m.path, []string{"list", "-m"}},
		{&m.cache, []string{"env", "GOMODCACHE"}},
		{&m.goroot, []string{"env", "GOROOT"}},
	} {
		output, err := m.run(ctx, nil, query.args...)
		if err != nil {
			return module{}, err
		}
		*query.answer = strings.TrimSpace(output)
	}
	return m, nil
}

// choose returns the commands named, or all.
func (m module) choose(named []string) ([]string, error) {
	for _, n := range named {
		if !slices.Contains(m.commands, n) {
			return nil, fmt.Errorf("there is no command %q; there are %s", n, strings.Join(m.commands, ", "))
		}
	}
	if named == nil {
		return m.commands, nil
	}
	return named, nil
}

// compile writes a command's binary to a folder, with the flags of "make build", so that it is the same byte for byte.
func (m module) compile(ctx context.Context, o buildOptions, command string, platform images.Platform, to string) (string, error) {
	info := m.path + "/internal/buildinfo"
	linker := fmt.Sprintf("-s -w -X %[1]s.version=%[2]s -X %[1]s.commit=%[3]s -X %[1]s.date=%[4]s", info, o.version, o.commit, o.date)
	binary, err := filepath.Abs(filepath.Join(to, command))
	if err != nil {
		return "", err
	}
	environment := []string{"CGO_ENABLED=0", "GOOS=" + platform.OS, "GOARCH=" + platform.Architecture}
	_, err = m.run(ctx, environment, "build", "-trimpath", "-buildvcs=false", "-ldflags", linker, "-o", binary, "./cmd/"+command)
	return binary, err
}

func (m module) run(ctx context.Context, environment []string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, "go", args...) //nolint:gosec // the arguments are the developer's own
	command.Dir = m.root
	// go.work is for editors. Everything is built as it is shipped.
	command.Env = append(append(os.Environ(), "GOWORK=off"), environment...)
	var output, problems bytes.Buffer
	command.Stdout, command.Stderr = &output, &problems
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", args[0], err, problems.String())
	}
	return output.String(), nil
}
