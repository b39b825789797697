// Package nodeimage provides the image that nodes of kind clusters are made from: the official one where it can be had, and
// otherwise one of our own, built on this machine without any container registry, from Debian's packages, from kind's own
// files, and from the Go modules that e2e/nodeimage pins. It must not know what clusters are for.
//
// The image of our own runs what the official one runs, with these differences: the network of pods, with its NetworkPolicies, is
// podnet of e2e/nodeimage/programs (IPv4 only), volumes are folders of one node that Kubernetes' own provisioner gives out, and
// several control planes cannot be had.
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
	// Variable names the environment variable that names another image, e.g. one of a registry's mirror.
	Variable = "TRELLIS_KIND_NODE_IMAGE"

	repository = "localhost/trellis/kind-node"
	// checkoutLabel tells of an image which checkout has built it.
	checkoutLabel = "trellis.checkout"
	official      = "kindest/node"
	registry      = "https://registry-1.docker.io/v2/"
	// registryTimeout is how long the registry may take to answer.
	registryTimeout = 5 * time.Second
)

// Ensure returns the name of a node image that Docker has: the one that the environment names, the one of our own if it has been
// built from what is in the checkout, the official one of the same version of Kubernetes if it is there or can be pulled, and
// otherwise the one of our own, which it builds: minutes the first time. Progress gets a line per stage. Concurrent calls of
// one checkout wait for each other.
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

// Present returns the name of the image that Ensure would return at once, or nothing if it had to pull or build one.
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

// Build is Ensure for the image of our own: it is built unless it is there.
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

// build is an image on its way from its sources to Docker.
type build struct {
	// image is its name, whose tag ends in a hash of all that it is made from but Debian's packages.
	image string
	// version is that of Kubernetes, e.g. "v1.36.3".
	version string
	// sources is the folder e2e/nodeimage, cache that of all results, both of the checkout.
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
	sum, err := digest(b.toolchain+kind, b.sources, filepath.Join(root, "e2e", "internal", "nodeimage"))
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

// run builds the image. A stage whose inputs are those of the last time is not done again.
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
	tree, err := b.debian(ctx)
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

// stage does one of several things, and tells how long it took.
func (b *build) stage(name string, do func() error) error {
	start := time.Now()
	if err := do(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	b.logf("  %-28s %5.1f s", name, time.Since(start).Seconds())
	return nil
}

// keyedStage is a stage that is only done if its result, a path, is not there, or its key, a short text, is another than the last
// time.
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

// pull reports whether an image could be pulled. It gives up at once where the registry cannot be reached.
func pull(ctx context.Context, progress io.Writer, image string) bool {
	if !RegistryReachable(ctx) {
		return false
	}
	fmt.Fprintf(progress, "pulling %s\n", image)
	_, err := output(ctx, "", "docker", "pull", "--quiet", image)
	return err == nil
}

// RegistryReachable reports whether the registry with the official image can be reached. That takes seconds at most.
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

// removeOlder removes images that an older state of the checkout gave. Docker refuses those that are in use.
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

// output runs a program in a folder and returns what it prints, without space around it.
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

// tail is the end of what a program printed, where the reason mostly stands.
func tail(text string) string {
	const most = 3000
	if text = strings.TrimSpace(text); len(text) > most {
		return "..." + text[len(text)-most:]
	}
	return text
}
