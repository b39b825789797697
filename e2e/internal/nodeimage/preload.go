package nodeimage

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/trellis-garden/trellis/e2e/internal/process"
	"github.com/trellis-garden/trellis/images"
)

const (
	nobody     = "65535:65535"
	root       = "0:0"
	searchPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
)

// preload returns the container runtime's image folder, with the images that a cluster starts with.
func (b *build) preload(ctx context.Context, tree string) (string, error) {
	archive, store := b.cached("images.tar"), b.cached("store")
	key, err := digest(b.toolchain, b.cached("bin"), filepath.Join(b.sources, "..", "internal", "nodeimage"))
	if err != nil {
		return "", err
	}
	return filepath.Join(store, "root"), b.keyedStage("images in it", key, store, func() error {
		preloaded, err := b.images(ctx, tree)
		if err != nil {
			return err
		}
		if _, err := images.WriteArchive(archive, preloaded); err != nil {
			return err
		}
		return b.importInto(ctx, store, archive)
	})
}

// images are those of the static pods and add-ons that kubeadm deploys, by kubeadm's names, and that of the pods' network.
func (b *build) images(ctx context.Context, tree string) (map[string][]images.Image, error) {
	layers, err := b.layers(tree)
	if err != nil {
		return nil, err
	}
	wanted, err := b.wantedImages(ctx)
	if err != nil {
		return nil, err
	}
	all := map[string][]images.Image{networkImage: image(root, "/"+networkAgent, layers["network"], layers[networkAgent])}
	for _, name := range wanted {
		switch short, _, _ := strings.Cut(path.Base(name), ":"); short {
		case "kube-proxy":
			all[name] = image(root, "/usr/local/bin/kube-proxy", layers["network"], layers["kubernetes"])
		case "kube-apiserver", "kube-controller-manager", "kube-scheduler":
			all[name] = image(root, "/usr/local/bin/"+short, layers["kubernetes"])
		case "etcd":
			all[name] = image(root, "/usr/local/bin/etcd", layers["etcd"])
		case "coredns":
			all[name] = image(root, "/coredns", layers["coredns"])
		case "pause":
			all[name] = image(nobody, "/pause", layers["pause"])
		default:
			return nil, fmt.Errorf("kubeadm %s wants the image %s, which nobody here makes", b.version, name)
		}
	}
	return all, nil
}

func image(user, entrypoint string, layers ...*images.Layer) []images.Image {
	return []images.Image{{
		Platform: images.Platform{OS: "linux", Architecture: runtime.GOARCH},
		Layers:   layers,
		Config:   images.Config{Entrypoint: []string{entrypoint}, Env: []string{searchPath}, User: user},
	}}
}

// wantedImages lists kubeadm's images, and fails if one has another version than the built one.
func (b *build) wantedImages(ctx context.Context) ([]string, error) {
	cmd := command(ctx, "", b.program("kubernetes"), "config", "images", "list", "--kubernetes-version", b.version)
	cmd.Args[0] = "kubeadm"
	list, err := outputOf(cmd)
	if err != nil {
		return nil, err
	}
	wanted := strings.Fields(list)
	for name, source := range map[string]struct{ module, path string }{
		"etcd": {"kubernetes", "go.etcd.io/etcd/server/v3"}, "coredns": {"coredns", "github.com/coredns/coredns"},
	} {
		version, err := pinned(b.module(source.module), source.path)
		if err != nil {
			return nil, err
		}
		if !strings.Contains(list, "/"+name+":"+version) && !strings.Contains(list, "/"+name+":"+strings.TrimPrefix(version, "v")+"-") {
			return nil, fmt.Errorf("%s is pinned to %s in e2e/nodeimage/%s, but kubeadm %s wants one of:\n%s", name, version, source.module, b.version, list)
		}
	}
	return wanted, nil
}

// layers are the layers of all images, by the name of a program or of a shared layer.
func (b *build) layers(tree string) (map[string]*images.Layer, error) {
	network, err := networkPrograms(tree)
	if err != nil {
		return nil, err
	}
	kubernetes := []images.File{{Path: "/usr/local/bin/kubernetes", Source: b.program("kubernetes"), Mode: 0o755}}
	for _, name := range []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy"} {
		kubernetes = append(kubernetes, images.File{Path: "/usr/local/bin/" + name, Link: "kubernetes"})
	}
	layers := map[string]*images.Layer{}
	for name, files := range map[string][]images.File{
		"network":    network,
		"kubernetes": append(kubernetes, basics()...),
		"etcd":       append(basics(), images.File{Path: "/usr/local/bin/etcd", Source: b.program("etcd"), Mode: 0o755}),
		"coredns":    append(basics(), images.File{Path: "/coredns", Source: b.program("coredns"), Mode: 0o755}),
		networkAgent: append(basics(), images.File{Path: "/" + networkAgent, Source: b.program(networkAgent), Mode: 0o755},
			images.File{Path: "/opt/cni/bin", Source: b.program("cni")}),
		"pause": {{Path: "/pause", Source: b.program("pause"), Mode: 0o755}},
	} {
		if layers[name], err = images.NewLayer(files...); err != nil {
			return nil, err
		}
	}
	return layers, nil
}

// basics are files that programs expect in any file system.
func basics() []images.File {
	return []images.File{
		{Path: "/etc/passwd", Content: []byte("root:x:0:0:root:/:/sbin/nologin\nnobody:x:65534:65534::/:/sbin/nologin\n")},
		{Path: "/tmp", Mode: os.ModeDir | os.ModeSticky | 0o777},
	}
}

// networkPrograms are programs that kube-proxy and gardenet's agent call.
func networkPrograms(tree string) ([]images.File, error) {
	const tables = "/usr/sbin/xtables-nft-multi"
	programs := []string{tables, "/usr/sbin/nft", "/usr/bin/ip"}
	extensions, err := filepath.Glob(filepath.Join(tree, "usr", "lib", "*-linux-gnu*", "xtables", "*.so"))
	if err != nil {
		return nil, err
	}
	for _, extension := range extensions {
		programs = append(programs, strings.TrimPrefix(extension, tree))
	}
	files, err := withLibraries(tree, programs...)
	if err != nil {
		return nil, err
	}
	for _, family := range []string{"iptables", "ip6tables"} {
		for _, suffix := range []string{"", "-save", "-restore"} {
			files = append(files, images.File{Path: "/usr/sbin/" + family + suffix, Link: path.Base(tables)})
		}
	}
	return files, nil
}

// importInto imports images into the folder of a node's container runtime, on this machine. It does not unpack them, which would need more than
// files.
func (b *build) importInto(ctx context.Context, store, archive string) error {
	if err := os.RemoveAll(store); err != nil {
		return err
	}
	if err := os.MkdirAll(store, 0o755); err != nil {
		return err
	}
	state, err := os.MkdirTemp("", "node-image-*") // the path of a socket must be short
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(state) }()
	config := filepath.Join(state, "config.toml")
	socket := filepath.Join(state, "socket")
	if err := os.WriteFile(config, fmt.Appendf(nil, `version = 3
root = %q
state = %q
disabled_plugins = ["io.containerd.cri.v1.runtime", "io.containerd.cri.v1.images", "io.containerd.grpc.v1.cri", "io.containerd.nri.v1.nri"]
[plugins."io.containerd.internal.v1.opt"]
path = %q
[grpc]
address = %q
[ttrpc]
address = %q
`, filepath.Join(store, "root"), filepath.Join(state, "state"), filepath.Join(state, "opt"), socket, socket+".ttrpc"), 0o600); err != nil {
		return err
	}
	daemon, err := process.Start(b.program("containerd"), []string{"--config", config}, nil, b.cached("containerd.log"))
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		daemon.End(ctx)
	}()
	ctr := func(ctx context.Context, args ...string) error {
		_, err := output(ctx, "", b.program("ctr"), append([]string{"--address", socket, "--namespace", "k8s.io"}, args...)...)
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := daemon.WaitFor(waiting, "containerd", func(ctx context.Context) error { return ctr(ctx, "version") }); err != nil {
		return err
	}
	return ctr(ctx, "images", "import", "--label=io.cri-containerd.pinned=pinned", "--all-platforms", "--no-unpack", archive)
}
