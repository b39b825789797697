// Package nodeimage provides the node image of kind clusters: the official one if it can be pulled, and otherwise one of our own, built on this
// machine without a container registry, from Debian's packages, kind's files, and the Go modules that e2e/nodeimage pins. It must not depend on
// the purpose of clusters.
//
// Our image runs the same programs as the official one, with these differences: the pods' network is gardenet, built from this checkout and deployed
// by the manifest that its Network driver renders, volumes are folders of one node that Kubernetes' own provisioner provides, and only one control
// plane node is supported.
package nodeimage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/trellis-garden/trellis/e2e/internal/repo"
)

const (
	// Variable names the environment variable for another image, e.g. one of a registry's mirror.
	Variable = "TRELLIS_KIND_NODE_IMAGE"

	repository = "localhost/trellis/kind-node"
	// checkoutLabel is the image label with the path of the checkout that built it.
	checkoutLabel = "trellis.checkout"
	official      = "kindest/node"
	registry      = "https://registry-1.docker.io/v2/"
	// registryTimeout bounds the registry's response.
	registryTimeout = 5 * time.Second
)

// Ensure returns the name of a node image that Docker has: the one in the environment variable, our own if it has been built from the checkout's
// present sources, the official one of the same version of Kubernetes if it exists or can be pulled, and otherwise our own, which it builds: minutes
// the first time. Progress gets a line per stage. Concurrent calls of one checkout wait for each other.
func Ensure(ctx context.Context, progress io.Writer) (string, error) {
	if named := os.Getenv(Variable); named != "" {
		return named, nil
	}
	b, unlock, err := newBuild(ctx, progress)
	if err != nil {
		return "", err
	}
	defer unlock()
	if hasImage(ctx, b.image) {
		return b.image, nil
	}
	if image := official + ":" + b.version; hasImage(ctx, image) || pull(ctx, progress, image) {
		return image, nil
	}
	return b.image, b.run(ctx)
}

// Present returns the name of the image that Ensure would return without pulling or building, or nothing.
func Present(ctx context.Context) string {
	if named := os.Getenv(Variable); named != "" {
		return named
	}
	b, unlock, err := newBuild(ctx, io.Discard)
	if err != nil {
		return ""
	}
	defer unlock()
	for _, image := range []string{b.image, official + ":" + b.version} {
		if hasImage(ctx, image) {
			return image
		}
	}
	return ""
}

// Build is Ensure for our own image: it is built unless it exists.
func Build(ctx context.Context, progress io.Writer) (string, error) {
	b, unlock, err := newBuild(ctx, progress)
	if err != nil {
		return "", err
	}
	defer unlock()
	if hasImage(ctx, b.image) {
		return b.image, nil
	}
	return b.image, b.run(ctx)
}

// build is the build of an image.
type build struct {
	// image is its name, with a tag that ends in a hash of all its sources except Debian's packages.
	image string
	// version is Kubernetes' version, e.g. "v1.36.3".
	version string
	// sources is the folder e2e/nodeimage, cache the folder of all results, both in the checkout.
	sources, cache string
	toolchain      string
	progress       io.Writer
}

func newBuild(ctx context.Context, progress io.Writer) (b *build, unlock func(), err error) {
	root, err := repo.Root()
	if err != nil {
		return nil, nil, err
	}
	b = &build{sources: filepath.Join(root, "e2e", "nodeimage"), cache: filepath.Join(root, ".cache", "nodeimage"), progress: progress}
	if b.version, err = pinned(b.module("kubernetes"), "k8s.io/kubernetes"); err != nil {
		return nil, nil, err
	}
	if b.toolchain, err = output(ctx, root, "go", "env", "GOVERSION", "GOOS", "GOARCH"); err != nil {
		return nil, nil, err
	}
	kind, err := pinned(filepath.Join(root, "e2e"), "sigs.k8s.io/kind")
	if err != nil {
		return nil, nil, err
	}
	network, err := digestPackages(ctx, "", root, agentPackage, rendererPackage)
	if err != nil {
		return nil, nil, err
	}
	sum, err := digest(b.toolchain+kind+network, b.sources, b.module(imagesCNI), filepath.Join(root, "e2e", "internal", "nodeimage"))
	if err != nil {
		return nil, nil, fmt.Errorf("reading what the node image is made from: %w", err)
	}
	b.image = fmt.Sprintf("%s:%s-%s", repository, b.version, sum[:12])
	if err := os.MkdirAll(b.cache, 0o755); err != nil {
		return nil, nil, fmt.Errorf("creating the folder of the node image: %w", err)
	}
	unlock, err = repo.Lock(filepath.Join(b.cache, ".lock"))
	return b, unlock, err
}

func (b *build) module(name string) string { return filepath.Join(b.sources, name) }

func (b *build) cached(elements ...string) string {
	return filepath.Join(append([]string{b.cache}, elements...)...)
}

// run builds the image. A stage whose inputs have not changed is skipped.
func (b *build) run(ctx context.Context) error {
	if os.Geteuid() != 0 {
		return errors.New("building a node image takes root, who alone may make the file system of a machine with debootstrap; " +
			"build it once with: sudo make kind-node-image")
	}
	if err := canBuild(ctx); err != nil {
		return err
	}
	start := time.Now()
	b.logf("building the node image %s (8 to 12 minutes the first time)", b.image)
	if err := b.buildPrograms(ctx); err != nil {
		return err
	}
	tree, err := b.debian(ctx, "debian", nodePackages())
	if err != nil {
		return err
	}
	store, err := b.preload(ctx, tree)
	if err != nil {
		return err
	}
	if err := b.stage("node image", func() error { return b.assemble(ctx, tree, store) }); err != nil {
		return err
	}
	b.removeOlder(ctx)
	b.logf("the node image is there after %.0f s", time.Since(start).Seconds())
	return nil
}

func (b *build) logf(format string, args ...any) { fmt.Fprintf(b.progress, format+"\n", args...) }

// stage runs functions concurrently, and prints how long they took.
func (b *build) stage(name string, do func() error) error {
	start := time.Now()
	if err := do(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	b.logf("  %-28s %5.1f s", name, time.Since(start).Seconds())
	return nil
}

// keyedStage is a stage that is skipped if its result, a path, exists and its key, a short text, is the same as the last time.
func (b *build) keyedStage(name, key, result string, do func() error) error {
	file := b.cached("." + strings.NewReplacer(" ", "-", "/", "-").Replace(name) + ".key")
	if last, err := os.ReadFile(file); err == nil && string(last) == key {
		if _, err := os.Stat(result); err == nil {
			return nil
		}
	}
	_ = os.Remove(file)
	if err := b.stage(name, do); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(key), 0o644)
}

func hasImage(ctx context.Context, image string) bool {
	_, err := output(ctx, "", "docker", "image", "inspect", image)
	return err == nil
}

// pull reports whether an image could be pulled. It fails at once if the registry is unreachable.
func pull(ctx context.Context, progress io.Writer, image string) bool {
	if !RegistryReachable(ctx) {
		return false
	}
	fmt.Fprintf(progress, "pulling %s\n", image)
	_, err := output(ctx, "", "docker", "pull", "--quiet", image)
	return err == nil
}

// RegistryReachable reports whether the registry of the official image is reachable. It takes seconds at most.
func RegistryReachable(ctx context.Context) bool {
	client := &http.Client{Timeout: registryTimeout}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, registry, nil)
	if err != nil {
		return false
	}
	response, err := client.Do(request)
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode == http.StatusUnauthorized || response.StatusCode == http.StatusOK // and not a proxy's answer
}

// removeOlder removes images of earlier states of the checkout. Docker refuses those that are in use.
func (b *build) removeOlder(ctx context.Context) {
	list, err := output(ctx, "", "docker", "image", "ls", "--filter", "label="+checkoutLabel+"="+b.cache, "--format", "{{.Repository}}:{{.Tag}}", repository)
	if err != nil {
		return
	}
	for other := range strings.FieldsSeq(list) {
		if other != b.image {
			_, _ = output(ctx, "", "docker", "image", "rm", other)
		}
	}
}

// output runs a program in a folder and returns its output, trimmed.
func output(ctx context.Context, dir, name string, args ...string) (string, error) {
	return outputOf(command(ctx, dir, name, args...))
}

func command(ctx context.Context, dir, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "LC_ALL=C")
	return cmd
}

func outputOf(cmd *exec.Cmd) (string, error) {
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, tail(stderr.String()))
	}
	return strings.TrimSpace(stdout.String()), nil
}

// tail is the end of a program's output, which usually has the reason.
func tail(text string) string {
	const most = 3000
	if text = strings.TrimSpace(text); len(text) > most {
		return "..." + text[len(text)-most:]
	}
	return text
}
