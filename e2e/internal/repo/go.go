package repo

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// CompilerGOGC is the setting of the garbage collector for compilers, as a variable of the environment. Builds of Kubernetes and Gardener take a third less processor time than with Go's default of 100, and a
// compiler needs up to 1.5 GB of memory.
const CompilerGOGC = "GOGC=400"

// Go runs the go command in a folder, with the module of that folder alone and without cgo, and returns what it prints. Variables of env replace
// those of the process. A failure contains the output for errors.
func Go(ctx context.Context, dir string, env []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = slices.Concat(os.Environ(), []string{"GOWORK=off", "CGO_ENABLED=0", CompilerGOGC}, env)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return strings.TrimSpace(stdout.String()), nil
}

// ModuleDir returns the folder of a module that the module e2e depends on.
func ModuleDir(ctx context.Context, module string) (string, error) {
	e2e, err := Path("e2e")
	if err != nil {
		return "", err
	}
	return Go(ctx, e2e, nil, "list", "-m", "-f", "{{.Dir}}", module)
}

// ImagePrefix is the prefix of the names of our images.
const ImagePrefix = "ghcr.io/trellis-garden/trellis/"

// ReleaseImage builds the image of one of our binaries as a release does, with all that is in it besides the binary, and writes it to an archive in a folder. Its name
// is ImagePrefix, the binary's, a colon, and the version.
func ReleaseImage(ctx context.Context, dir, binary, version string) (archive string, err error) {
	module, err := Path("images")
	if err != nil {
		return "", err
	}
	if _, err := Go(ctx, module, nil, "run", "./cmd/images", "build", "--version="+version, "--binary="+binary, "--platform=linux/"+runtime.GOARCH, "--source=..", "--out="+dir); err != nil {
		return "", fmt.Errorf("building the image of %s: %w", binary, err)
	}
	return filepath.Join(dir, binary+".tar"), nil
}
