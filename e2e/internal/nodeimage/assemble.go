package nodeimage

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/images"
)

//go:embed manifests/storage.yaml
var storageManifest []byte

// assemble builds the image from Debian and the node's programs, and loads it into Docker.
func (b *build) assemble(ctx context.Context, tree, store string) error {
	files, err := b.nodeFiles(ctx)
	if err != nil {
		return err
	}
	node, err := images.NewLayer(append(files, images.File{Path: "/var/lib/containerd", Source: store})...)
	if err != nil {
		return err
	}
	debian, err := images.NewLayer(images.File{Path: "/", Source: tree})
	if err != nil {
		return err
	}
	archive := b.cached("node.tar")
	defer func() { _ = os.Remove(archive) }()
	if _, err := images.WriteArchive(archive, map[string][]images.Image{b.image: {{
		Platform: images.Platform{OS: "linux", Architecture: runtime.GOARCH},
		Layers:   []*images.Layer{debian, node},
		Config: images.Config{
			// As in kind's image: systemd detects the container, and ends by another signal.
			Entrypoint: []string{"/usr/local/bin/entrypoint", "/sbin/init"}, Env: []string{"container=docker"}, StopSignal: "SIGRTMIN+3", User: root,
			Labels: map[string]string{checkoutLabel: b.cache},
		},
	}}}); err != nil {
		return err
	}
	_, err = output(ctx, "", "docker", "load", "--quiet", "--input", archive)
	return err
}

// nodeFiles are a node's files besides Debian and images.
func (b *build) nodeFiles(ctx context.Context) ([]images.File, error) {
	wanted, err := b.wantedImages(ctx)
	if err != nil {
		return nil, err
	}
	kind, err := b.kindFiles(ctx, wanted)
	if err != nil {
		return nil, err
	}
	spec, err := b.containerSpec(ctx)
	if err != nil {
		return nil, err
	}
	network, err := b.networkManifest(ctx)
	if err != nil {
		return nil, err
	}
	files := append(slices.Clip(kind),
		images.File{Path: "/kind/version", Content: []byte(b.version)},
		images.File{Path: "/kind/manifests/default-cni.yaml", Content: network},
		images.File{Path: "/kind/manifests/default-storage.yaml", Content: storageManifest},
		images.File{Path: "/etc/containerd/cri-base.json", Content: spec},
		images.File{Path: "/etc/kubernetes/manifests", Mode: fs.ModeDir},
		images.File{Path: "/etc/cni/net.d", Mode: fs.ModeDir},
		images.File{Path: "/etc/systemd/journald.conf.d/kind.conf", Content: []byte("[Journal]\nReadKMsg=no\n")},
		images.File{Path: "/etc/systemd/system/default.target", Link: "/lib/systemd/system/multi-user.target"},
		images.File{Path: "/etc/machine-id", Content: []byte{}},
		images.File{Path: "/etc/resolv.conf", Content: []byte{}},
	)
	for _, unit := range []string{"kubelet.service", "containerd.service", "undo-mount-hacks.service"} {
		files = append(files, images.File{Path: "/etc/systemd/system/multi-user.target.wants/" + unit, Link: "/etc/systemd/system/" + unit})
	}
	for _, unit := range []string{"systemd-binfmt.service", "getty.target", "console-getty.service"} { // these would reach out of the container
		files = append(files, images.File{Path: "/etc/systemd/system/" + unit, Link: "/dev/null"})
	}
	return append(files, b.nodePrograms()...), nil
}

func (b *build) nodePrograms() []images.File {
	var files []images.File // CNI plugins are not among them: the agent of the network brings them
	for folder, names := range map[string][]string{
		"/usr/bin":        {"kubernetes"},
		"/usr/local/bin":  {"containerd", "containerd-shim-runc-v2", "ctr", "crictl"},
		"/usr/local/sbin": {"runc"},
	} {
		for _, name := range names {
			files = append(files, images.File{Path: path.Join(folder, name), Source: b.program(name), Mode: 0o755})
		}
	}
	for _, name := range []string{"kubelet", "kubeadm", "kubectl"} {
		files = append(files, images.File{Path: "/usr/bin/" + name, Link: "kubernetes"})
	}
	return files
}

// kindFiles are the files for node images in kind's module, adapted to the images here.
func (b *build) kindFiles(ctx context.Context, wanted []string) ([]images.File, error) {
	module, err := output(ctx, filepath.Join(b.sources, ".."), "go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/kind")
	if err != nil {
		return nil, err
	}
	base := filepath.Join(module, "images", "base", "files")
	var files []images.File
	err = filepath.WalkDir(base, func(source string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		file := images.File{Path: strings.TrimPrefix(source, base), Source: source}
		switch {
		case entry.Name() == "clean-install", strings.Contains(entry.Name(), "fuse-overlayfs"), strings.HasPrefix(file.Path, "/LICENSES/"):
			return nil // of no use without apt, without the program, without licenses
		case path.Base(path.Dir(file.Path)) == "bin":
			file.Mode = 0o755
		case file.Path == "/etc/containerd/config.toml":
			file.Source = ""
			file.Content, err = runtimeConfig(source, wanted)
		}
		files = append(files, file)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading kind's files for nodes: %w", err)
	}
	return files, nil
}

// runtimeConfig is kind's configuration of the container runtime, with the pause image here.
func runtimeConfig(source string, wanted []string) ([]byte, error) {
	content, err := os.ReadFile(source)
	if err != nil {
		return nil, err
	}
	return withPause(content, wanted)
}

func withPause(config []byte, wanted []string) ([]byte, error) {
	line := regexp.MustCompile(`(?m)^(\s*sandbox_image = ).*$`)
	for _, name := range wanted {
		if strings.Contains(name, "/pause:") && line.Match(config) {
			return line.ReplaceAll(config, fmt.Appendf(nil, "${1}%q", name)), nil
		}
	}
	return nil, errors.New("kind's configuration of containerd names no image for pods")
}

// containerSpec is the base of all containers: kind's, with a hook that hides the hardware's identity, and without limits.
func (b *build) containerSpec(ctx context.Context) ([]byte, error) {
	content, err := output(ctx, "", b.program("ctr"), "oci", "spec")
	if err != nil {
		return nil, err
	}
	return withHook([]byte(content))
}

func withHook(content []byte) ([]byte, error) {
	var spec map[string]any
	if err := json.Unmarshal(content, &spec); err != nil {
		return nil, fmt.Errorf("decoding the specification of containers: %w", err)
	}
	process, ok := spec["process"].(map[string]any)
	if !ok {
		return nil, errors.New("the specification of containers has no process")
	}
	delete(process, "rlimits")
	spec["hooks"] = map[string]any{"createContainer": []any{map[string]any{"path": "/kind/bin/mount-product-files.sh"}}}
	return json.Marshal(spec)
}
