// Package upstreamtests runs tests of Kubernetes itself against a cluster: it builds them and the images of their pods from the Go modules that e2e/upstreamtests pins
// and from Debian's packages, without a container registry. It must not know what the cluster consists of.
package upstreamtests

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/trellis-garden/trellis/e2e/internal/nodeimage"
	"github.com/trellis-garden/trellis/e2e/internal/repo"
	"github.com/trellis-garden/trellis/images"
)

const (
	kubernetes = "k8s.io/kubernetes"
	imagesOf   = "registry.k8s.io/e2e-test-images/"
	agnhost    = "agnhost"
	// dnsUtilities is another image of tests, whose tools for DNS that of agnhost has here, too.
	dnsUtilities = imagesOf + "glibc-dns-testing:2.0.0"
	// shell is the image of containers that only run a shell.
	shell = imagesOf + "busybox:1.37.0-1"
	// invalidPackets has a program that sends packets that belong to no connection.
	invalidPackets, invalidPacketsTag = "regression-issue-74839", ":1.4"
	// nodeUtilities is the image of pods that read files of their node.
	nodeUtilities = "registry.k8s.io/build-image/distroless-iptables:v0.9.6"
)

// Suite is what runs tests of Kubernetes.
type Suite struct {
	// Images is the path of an archive with the images that tests use.
	Images string

	dir string
}

// Build builds the tests and the images of their pods: a quarter of an hour the first time. Progress gets a line for each step.
func Build(ctx context.Context, progress io.Writer) (*Suite, error) {
	dir, err := repo.Path(".cache", "upstreamtests")
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("creating the folder of upstream's tests: %w", err)
	}
	unlock, err := repo.Lock(filepath.Join(dir, ".lock"))
	if err != nil {
		return nil, err
	}
	defer unlock()
	s := &Suite{dir: dir, Images: filepath.Join(dir, "images.tar")}
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"upstream's tests", s.buildTests},
		{"programs of their pods", s.buildPrograms},
		{"programs of Debian for their pods", func(ctx context.Context) error { return s.pack(ctx, progress) }},
	} {
		start := time.Now()
		if err := step.do(ctx); err != nil {
			return nil, fmt.Errorf("building %s: %w", step.name, err)
		}
		fmt.Fprintf(progress, "  %-34s %5.1f s\n", step.name, time.Since(start).Seconds())
	}
	return s, nil
}

func (s *Suite) buildTests(ctx context.Context) error {
	version, err := version(ctx)
	if err != nil {
		return err
	}
	// Tests compare their version with that of the cluster.
	flags := "-s -w -X k8s.io/component-base/version.gitVersion=" + version + " -X k8s.io/client-go/pkg/version.gitVersion=" + version
	if err := s.goTool(ctx, "test", "-c", "-vet=off", "-ldflags", flags, "-o", s.path("e2e.test"), kubernetes+"/test/e2e"); err != nil {
		return err
	}
	if err := s.goTool(ctx, "build", "-ldflags", "-s -w", "-o", s.path("ginkgo"), "github.com/onsi/ginkgo/v2/ginkgo"); err != nil {
		return err
	}
	return s.goTool(ctx, "build", "-ldflags", "-s -w", "-o", s.path("kubectl"), kubernetes+"/cmd/kubectl")
}

func (s *Suite) buildPrograms(ctx context.Context) error {
	for _, name := range []string{agnhost, invalidPackets} {
		if err := s.goTool(ctx, "build", "-ldflags", "-s -w", "-o", s.path(name), kubernetes+"/test/images/"+name); err != nil {
			return err
		}
	}
	return nil
}

// goTool runs a command of go in the module that pins Kubernetes.
func (s *Suite) goTool(ctx context.Context, command string, args ...string) error {
	module, err := repo.Path("e2e", "upstreamtests")
	if err != nil {
		return err
	}
	_, err = repo.Go(ctx, module, nil, append([]string{command, "-trimpath", "-buildvcs=false"}, args...)...)
	return err
}

func (s *Suite) path(name string) string { return filepath.Join(s.dir, name) }

// pack writes the images. Tests call tools in the pods besides the program, by a shell.
func (s *Suite) pack(ctx context.Context, progress io.Writer) error {
	tools, err := nodeimage.Programs(ctx, progress,
		[]string{"busybox-static", "curl", "wget", "netcat-openbsd", "bind9-dnsutils", "iproute2"},
		"/bin/busybox", "/bin/dash", "/usr/bin/getent", "/usr/bin/curl", "/usr/bin/wget", "/usr/bin/nc.openbsd", "/usr/bin/dig", "/usr/bin/nslookup", "/usr/bin/ip", "/usr/bin/ss")
	if err != nil {
		return err
	}
	files := append(slices.Clip(tools), images.File{Path: "/usr/bin/nc", Link: "nc.openbsd"}, images.File{Path: "/bin/sh", Link: "dash"}, images.File{Path: "/tmp", Mode: os.ModeDir | os.ModeSticky | 0o777},
		images.File{Path: "/etc/passwd", Content: []byte("root:x:0:0:root:/:/bin/sh\n")}, images.File{Path: "/etc/wgetrc", Content: []byte("tries = 1\n")}, images.File{Path: "/etc/nsswitch.conf", Content: []byte("hosts: files dns\n")})
	for _, applet := range applets() {
		files = append(files, images.File{Path: "/bin/" + applet, Link: "busybox"})
	}
	below, err := images.NewLayer(files...)
	if err != nil {
		return err
	}
	source, err := agnhostSource(ctx)
	if err != nil {
		return err
	}
	tag, err := os.ReadFile(filepath.Join(source, "VERSION"))
	if err != nil {
		return err
	}
	program, err := images.NewLayer(
		images.File{Path: "/" + agnhost, Source: s.path(agnhost), Mode: 0o755},
		images.File{Path: "/" + invalidPackets, Source: s.path(invalidPackets), Mode: 0o755},
		images.File{Path: "/localhost.crt", Source: filepath.Join(source, "porter", "localhost.crt")},
		images.File{Path: "/localhost.key", Source: filepath.Join(source, "porter", "localhost.key")},
	)
	if err != nil {
		return err
	}
	image := func(entrypoint string, arguments ...string) []images.Image {
		return []images.Image{{
			Platform: images.Platform{OS: "linux", Architecture: runtime.GOARCH},
			Layers:   []*images.Layer{below, program},
			Config:   images.Config{Entrypoint: []string{"/" + entrypoint}, Cmd: arguments, Env: []string{"PATH=/usr/bin:/bin"}, User: "0:0"},
		}}
	}
	all := map[string][]images.Image{imagesOf + invalidPackets + invalidPacketsTag: image(invalidPackets)}
	for _, name := range []string{imagesOf + agnhost + ":" + strings.TrimSpace(string(tag)), dnsUtilities, shell, nodeUtilities} {
		all[name] = image(agnhost, "pause")
	}
	_, err = images.WriteArchive(s.Images, all)
	return err
}

// applets are the programs of busybox that tests call. Its shell is not among them: it would prefer busybox's own nc and ip. Nor is its wget, which crashes
// where there is a file nsswitch.conf.
func applets() []string {
	return []string{"awk", "cat", "date", "dd", "echo", "env", "grep", "head", "hostname", "id", "ls", "mkdir", "printf", "rm", "sed", "seq", "sleep", "sort", "tail", "test", "timeout", "touch", "true", "wc"}
}

func version(ctx context.Context) (string, error) {
	module, err := repo.Path("e2e", "upstreamtests")
	if err != nil {
		return "", err
	}
	return repo.Go(ctx, module, nil, "list", "-m", "-f", "{{.Version}}", kubernetes)
}

// agnhostSource is the folder of agnhost's source.
func agnhostSource(ctx context.Context) (string, error) {
	module, err := repo.Path("e2e", "upstreamtests")
	if err != nil {
		return "", err
	}
	dir, err := repo.Go(ctx, module, nil, "list", "-m", "-f", "{{.Dir}}", kubernetes)
	return filepath.Join(dir, "test", "images", agnhost), err
}
