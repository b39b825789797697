package architecture

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	root     = "../.."
	ourPath  = "github.com/trellis-garden/trellis"
	gardener = "github.com/gardener/gardener"
)

// pkg is what go list says about a package.
type pkg struct {
	ImportPath string    `json:"ImportPath"`
	Imports    []string  `json:"Imports"` // of the files that are shipped, not of tests
	Deps       []string  `json:"Deps"`    // everything that is linked with it
	Standard   bool      `json:"Standard"`
	Module     *moduleOf `json:"Module"`
}

type moduleOf struct {
	Path string `json:"Path"`
}

func (p pkg) module() string {
	if p.Module == nil {
		return ""
	}
	return p.Module.Path
}

// graph is a module with everything that it links.
type graph map[string]pkg

// loadGraph lists packages of the module in a folder, as it is shipped: without go.work.
func loadGraph(t *testing.T, folder string, patterns ...string) graph {
	t.Helper()
	args := append([]string{"list", "-deps", "-json=ImportPath,Imports,Deps,Standard,Module"}, patterns...)
	out := goTool(t, folder, args...)
	packages := graph{}
	decoder := json.NewDecoder(bytes.NewReader(out))
	for {
		var p pkg
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages
		}
		require.NoError(t, err)
		packages[p.ImportPath] = p
	}
}

func goTool(t *testing.T, folder string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = filepath.Join(root, folder)
	cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "go %s: %s", strings.Join(args, " "), stderr.String())
	return out
}

// ours lists the packages of Trellis, sorted.
func (g graph) ours() []string {
	var paths []string
	for path := range g {
		if matches(ourPath+"/...", path) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// linkedModules lists the modules that a package is linked from, itself included, sorted.
func (g graph) linkedModules(path string) []string {
	var modules []string
	for _, dep := range append(g[path].Deps, path) {
		if module := g[dep].module(); module != "" {
			modules = append(modules, module)
		}
	}
	slices.Sort(modules)
	return slices.Compact(modules)
}

// matches reports whether path is the pattern or, when the pattern ends in "/...", lies below it.
func matches(pattern, path string) bool {
	folder, below := strings.CutSuffix(pattern, "/...")
	return path == folder || below && strings.HasPrefix(path, folder+"/")
}

func matchesAny(patterns []string, path string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return matches(pattern, path) })
}
