package nodeimage

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/trellis-garden/trellis/e2e/internal/repo"
)

// program is a Go program of the node image.
type program struct {
	name string
	// module is a folder, relative to e2e/nodeimage, pkg the package in it.
	module, pkg string
	tags, flags string
	cgo         bool
}

const (
	containerd = "github.com/containerd/containerd/v2"
	runc       = "github.com/opencontainers/runc"
	cniPlugins = "github.com/containernetworking/plugins/plugins"
	criTools   = "sigs.k8s.io/cri-tools"
	ownModule  = "github.com/trellis-garden/trellis/e2e/nodeimage"
	// imagesCNI is the module that pins the CNI plugins, also for an image of ours.
	imagesCNI = "../../images/cni"
	// product is the module of what we release.
	product = "../.."
)

// programs lists all programs that the build needs. Names with a folder are plugins.
func (b *build) programs() ([]program, error) {
	versions := map[string]string{}
	for module, path := range map[string]string{"containerd": containerd, "crictl": criTools} {
		version, err := pinned(b.module(module), path)
		if err != nil {
			return nil, err
		}
		versions[module] = version
	}
	list := []program{
		{name: "kubernetes", module: "kubernetes", pkg: ownModule + "/kubernetes", flags: kubernetesFlags(b.version)},
		{name: "etcd", module: "kubernetes", pkg: "go.etcd.io/etcd/server/v3"},
		{name: "runc", module: "runc", pkg: runc, cgo: true, tags: "seccomp urfave_cli_no_docs netgo osusergo", flags: "-linkmode external -extldflags -static"},
		{name: "crictl", module: "crictl", pkg: criTools + "/cmd/crictl", flags: "-X " + criTools + "/pkg/version.Version=" + versions["crictl"]},
		{name: "coredns", module: "coredns", pkg: ownModule + "/coredns"},
		{name: "pause", module: "programs", pkg: ownModule + "/programs/pause"},
		{name: networkAgent, module: product, pkg: agentPackage},
		{name: networkRenderer, module: product, pkg: rendererPackage},
	}
	for _, name := range []string{"containerd", "containerd-shim-runc-v2", "ctr"} {
		list = append(list, program{
			name: name, module: "containerd", pkg: containerd + "/cmd/" + name,
			tags: "no_btrfs no_zfs no_aufs no_devmapper urfave_cli_no_docs", flags: "-X " + containerd + "/version.Version=" + versions["containerd"],
		})
	}
	for _, kind := range []string{"ipam/host-local", "main/loopback", "main/ptp", "meta/bandwidth", "meta/portmap"} {
		list = append(list, program{name: "cni/" + filepath.Base(kind), module: imagesCNI, pkg: cniPlugins + "/" + kind})
	}
	return list, nil
}

// kubernetesFlags set the version of Kubernetes' programs, without which kubeadm refuses them as too old.
func kubernetesFlags(version string) string {
	minor := strings.Split(version, ".")[1]
	var flags []string
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		for variable, value := range map[string]string{
			"gitVersion": version, "gitMajor": "1", "gitMinor": minor, "gitTreeState": "clean",
			"gitCommit": strings.Repeat("0", 40), "buildDate": "1970-01-01T00:00:00Z",
		} {
			flags = append(flags, fmt.Sprintf("-X %s.%s=%s", pkg, variable, value))
		}
	}
	return strings.Join(sorted(flags), " ")
}

// canBuild fails if a program that the build calls is missing. Without seccomp, for which runc needs a library, pods with seccomp profiles, as
// ours have, would not start.
func canBuild(ctx context.Context) error {
	var missing []string
	for _, need := range Packages() {
		if _, err := output(ctx, "", need.Check[0], need.Check[1:]...); err != nil {
			missing = append(missing, need.Names)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("building the node image takes Debian packages that are not installed: apt-get install --no-install-recommends %s", strings.Join(missing, " "))
	}
	return nil
}

// Need is a requirement of the build of a node image.
type Need struct {
	// Names are those of Debian packages, separated by spaces. Check is a command that fails if they are missing.
	Names string
	Check []string
}

// Packages are all requirements besides Go and Docker.
func Packages() []Need {
	return []Need{
		{Names: "debootstrap", Check: []string{"debootstrap", "--version"}},
		{Names: "gcc libc6-dev", Check: []string{"gcc", "--version"}},
		{Names: "pkg-config libseccomp-dev", Check: []string{"pkg-config", "--exists", "libseccomp"}},
	}
}

func (b *build) buildPrograms(ctx context.Context) error {
	list, err := b.programs()
	if err != nil {
		return err
	}
	for _, p := range list {
		sum, err := b.sourcesOf(ctx, p)
		if err != nil {
			return err
		}
		if err := b.keyedStage("program "+p.name, sum, b.program(p.name), func() error { return b.compile(ctx, p) }); err != nil {
			return err
		}
	}
	return nil
}

// sourcesOf is a hash of all that a program is built from.
func (b *build) sourcesOf(ctx context.Context, p program) (string, error) {
	if p.module == product {
		return digestPackages(ctx, fmt.Sprint(b.toolchain, p), b.module(p.module), p.pkg)
	}
	return digest(fmt.Sprint(b.toolchain, p), b.module(p.module))
}

// program is the path of a built program.
func (b *build) program(name string) string { return b.cached("bin", name) }

// compile builds a static program: only runc contains C.
func (b *build) compile(ctx context.Context, p program) error {
	args := []string{
		"build", "-trimpath", "-buildvcs=false", "-tags", p.tags,
		"-ldflags", strings.TrimSpace("-s -w " + p.flags), "-o", b.program(p.name), p.pkg,
	}
	cmd := command(ctx, b.module(p.module), "go", args...)
	cgo := "CGO_ENABLED=0"
	if p.cgo {
		cgo = "CGO_ENABLED=1"
	}
	cmd.Env = append(cmd.Env, cgo, repo.CompilerGOGC)
	_, err := outputOf(cmd)
	return err
}
