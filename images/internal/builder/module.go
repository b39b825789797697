package builder

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

// toolPrefix begins the names of commands for admins. They run outside of clusters, so there is no image of them.
const toolPrefix = "trellis-"

// Module is the Go module whose commands are built.
type Module struct {
	// Path is its name.
	Path string
	// root is its folder.
	root string
	// cache and goroot are where Go keeps other modules and itself.
	cache, goroot string
	// commands are the folders in cmd/, without the tools for admins, and tools are these.
	commands, tools []string
}

// ReadModule reads the module in a folder.
func ReadModule(ctx context.Context, root string) (Module, error) {
	m := Module{root: root}
	folders, err := os.ReadDir(filepath.Join(root, "cmd"))
	if errors.Is(err, fs.ErrNotExist) {
		return Module{}, fmt.Errorf("there is no folder cmd in %s; name the root of the module with --source", root)
	}
	if err != nil {
		return Module{}, err
	}
	for _, f := range folders {
		switch {
		case !f.IsDir():
		case strings.HasPrefix(f.Name(), toolPrefix):
			m.tools = append(m.tools, f.Name())
		default:
			m.commands = append(m.commands, f.Name())
		}
	}
	for _, query := range []struct {
		answer *string
		args   []string
	}{
		{&m.Path, []string{"list", "-m"}},
		{&m.cache, []string{"env", "GOMODCACHE"}},
		{&m.goroot, []string{"env", "GOROOT"}},
	} {
		output, err := m.Go(ctx, nil, query.args...)
		if err != nil {
			return Module{}, err
		}
		*query.answer = strings.TrimSpace(output)
	}
	return m, nil
}

// choose returns the commands named, or all.
func (m Module) choose(named []string) ([]string, error) {
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

// compile writes a command's binary to a folder, with the flags of "make build", so that it is the same byte for byte. A command may have a module of its own.
func (m Module) compile(ctx context.Context, o Options, command string, platform images.Platform, to string) (string, error) {
	info := m.Path + "/internal/buildinfo"
	linker := fmt.Sprintf("-s -w -X %[1]s.version=%[2]s -X %[1]s.commit=%[3]s -X %[1]s.date=%[4]s", info, o.Version, o.Commit, o.Date)
	binary, err := filepath.Abs(filepath.Join(to, command))
	if err != nil {
		return "", err
	}
	environment := []string{"CGO_ENABLED=0", "GOOS=" + platform.OS, "GOARCH=" + platform.Architecture}
	folder := Module{root: filepath.Join(m.root, "cmd", command)}
	_, err = folder.Go(ctx, environment, "build", "-trimpath", "-buildvcs=false", "-ldflags", linker, "-o", binary, ".")
	return binary, err
}

// Go runs the go command in the module, with further variables in its environment, and returns what it prints.
func (m Module) Go(ctx context.Context, environment []string, args ...string) (string, error) {
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
