// Package assets provides the third-party programs that the modules e2e/binaries, e2e/previous, e2e/calico and e2e/loadbalancers pin: built from source, kept in a folder, and
// rebuilt when their version or the Go toolchain changes. It must not depend on their use.
package assets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/trellis-garden/trellis/e2e/internal/repo"
)

// These modules need older dependencies than those of e2e/binaries.
const (
	calico        = "github.com/projectcalico/calico/"
	loadBalancers = "sigs.k8s.io/aws-load-balancer-controller"
)

// previousSuffix is that of the programs of the minor version of Kubernetes before the one that everything else runs with.
const previousSuffix = "-previous"

// DirVariable names the environment variable that moves the folder of the programs, e.g. to a cache shared by checkouts.
const DirVariable = "TRELLIS_ASSETS"

// APIServer lists the programs of an API server.
func APIServer() []string { return []string{"etcd", "kube-apiserver"} }

// ControlPlane lists the programs of a seed with a shoot's control plane, and of the shoot's API server: besides APIServer the controllers
// around it, and one component of the control plane.
func ControlPlane() []string {
	return append(APIServer(), "kube-controller-manager", "gardener-resource-manager", "openstack-cloud-controller-manager")
}

// Machines lists the programs of a seed in which machines are created.
func Machines() []string { return append(ControlPlane(), "machine-controller-manager") }

// AWS lists the programs of a shoot's control plane on AWS.
func AWS() []string { return []string{"aws-cloud-controller-manager"} }

// LoadBalancers lists the programs of a shoot on AWS with the controller for application and network load balancers.
func LoadBalancers() []string { return []string{"aws-load-balancer-controller"} }

// Gardener lists Gardener's own programs, which run in a garden and beside a seed. Together they take minutes to build, so only the landscape asks for them.
func Gardener() []string {
	return []string{"gardener-apiserver", "gardener-controller-manager", "gardener-scheduler", "gardener-admission-controller", "gardenlet"}
}

// Calico lists the programs of Calico that run without a kernel of their own.
func Calico() []string { return []string{"calico-kube-controllers", "calico-typha"} }

// Previous lists the programs of a shoot's control plane of the minor version of Kubernetes before that of ControlPlane. Together they take minutes
// to build, so only the landscape asks for them.
func Previous() []string {
	return []string{PreviousOf("kube-apiserver"), PreviousOf("kube-controller-manager")}
}

// PreviousOf is the name of a program in Previous, by its name in ControlPlane.
func PreviousOf(name string) string { return name + previousSuffix }

// packages maps a program to the Go package that it is built from.
func packages() map[string]string {
	return map[string]string{
		"aws-cloud-controller-manager":       "k8s.io/cloud-provider-aws/cmd/aws-cloud-controller-manager",
		"aws-load-balancer-controller":       loadBalancers,
		"calico-kube-controllers":            "github.com/projectcalico/calico/kube-controllers/cmd/kube-controllers",
		"calico-typha":                       "github.com/projectcalico/calico/typha/cmd/calico-typha",
		"etcd":                               "go.etcd.io/etcd/server/v3",
		"gardener-admission-controller":      "github.com/gardener/gardener/cmd/gardener-admission-controller",
		"gardener-apiserver":                 "github.com/gardener/gardener/cmd/gardener-apiserver",
		"gardener-controller-manager":        "github.com/gardener/gardener/cmd/gardener-controller-manager",
		"gardener-resource-manager":          "github.com/gardener/gardener/cmd/gardener-resource-manager",
		"gardener-scheduler":                 "github.com/gardener/gardener/cmd/gardener-scheduler",
		"gardenlet":                          "github.com/gardener/gardener/cmd/gardenlet",
		"kube-apiserver":                     "k8s.io/kubernetes/cmd/kube-apiserver",
		"kube-apiserver-previous":            "k8s.io/kubernetes/cmd/kube-apiserver",
		"kube-controller-manager":            "k8s.io/kubernetes/cmd/kube-controller-manager",
		"kube-controller-manager-previous":   "k8s.io/kubernetes/cmd/kube-controller-manager",
		"kubectl":                            "k8s.io/kubernetes/cmd/kubectl",
		"machine-controller-manager":         "github.com/gardener/machine-controller-manager/cmd/machine-controller-manager",
		"openstack-cloud-controller-manager": "k8s.io/cloud-provider-openstack/cmd/openstack-cloud-controller-manager",
	}
}

// Names lists all programs that can be built, sorted.
func Names() []string {
	var names []string
	for name := range packages() {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Version returns the version of a program that Ensure has provided: that of its module, e.g. "v1.36.3", or "envtest-v1.36.2" for a prebuilt one.
func Version(name string) (string, error) {
	dir, err := Dir()
	if err != nil {
		return "", err
	}
	content, err := os.ReadFile(build{name: name, dir: dir}.stampFile())
	if err != nil {
		return "", fmt.Errorf("reading the version of %s: %w", name, err)
	}
	version, _, _ := strings.Cut(string(content), " ")
	return version, nil
}

// sourceOf returns the folder of the module that pins the package of a program.
func sourceOf(name, pkg string) (string, error) {
	switch {
	case strings.HasSuffix(name, previousSuffix):
		return repo.Path("e2e", "previous")
	case strings.HasPrefix(pkg, calico):
		return repo.Path("e2e", "calico")
	case pkg == loadBalancers:
		return repo.Path("e2e", "loadbalancers")
	}
	return repo.Path("e2e", "binaries")
}

// Dir returns the absolute path of the folder with the programs.
func Dir() (string, error) {
	if dir := os.Getenv(DirVariable); dir != "" {
		return filepath.Abs(dir)
	}
	return repo.Path(".cache", "envtest")
}

// Ensure provides those of the named programs that are missing or out of date, and returns their folder. Those of an API server are downloaded, if
// that is possible; everything else is built. It writes two lines per program to progress, and nothing if all are up to date. Concurrent calls, also
// from several processes, wait for each other.
func Ensure(ctx context.Context, progress io.Writer, names ...string) (string, error) {
	dir, err := Dir()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("creating the folder of the programs: %w", err)
	}
	unlock, err := repo.Lock(filepath.Join(dir, ".lock"))
	if err != nil {
		return "", err
	}
	defer unlock()

	var missing []build
	for _, name := range names {
		b, err := newBuild(name, dir)
		if err != nil {
			return "", err
		}
		upToDate, err := b.upToDate(ctx)
		if err != nil {
			return "", err
		}
		if !upToDate {
			missing = append(missing, b)
		}
	}
	for _, b := range download(ctx, progress, pinnedPrebuilt(), dir, missing) {
		if err := b.run(ctx, progress); err != nil {
			return "", fmt.Errorf("building %s: %w", b.name, err)
		}
	}
	return dir, nil
}

// download downloads the programs of an API server if one of them is missing, and returns those that have to be built.
func download(ctx context.Context, progress io.Writer, from prebuilt, dir string, missing []build) []build {
	isPrebuilt := func(b build) bool { return slices.Contains(APIServer(), b.name) }
	if from.stamp() == "" || !slices.ContainsFunc(missing, isPrebuilt) {
		return missing
	}
	names := strings.Join(APIServer(), " and ")
	_, _ = fmt.Fprintf(progress, "downloading %s, envtest-v%s ...\n", names, from.version)
	start := time.Now()
	if err := from.install(ctx, dir); err != nil {
		_, _ = fmt.Fprintf(progress, "  cannot download them, so they are built from source: %v\n", err)
		return missing
	}
	_, _ = fmt.Fprintf(progress, "  %s: %.0f s\n", names, time.Since(start).Seconds())
	return slices.DeleteFunc(missing, isPrebuilt)
}

// build is the build of one program.
type build struct{ name, pkg, source, dir string }

func (b build) target() string    { return filepath.Join(b.dir, b.name) }
func (b build) stampFile() string { return filepath.Join(b.dir, "."+b.name+".stamp") }

func newBuild(name, dir string) (build, error) {
	pkg, known := packages()[name]
	if !known {
		return build{}, fmt.Errorf("unknown program %q; known are %s", name, strings.Join(Names(), ", "))
	}
	source, err := sourceOf(name, pkg)
	return build{name: name, pkg: pkg, source: source, dir: dir}, err
}

// upToDate reports whether the program is there as it would be built, or downloaded.
func (b build) upToDate(ctx context.Context) (bool, error) {
	found, err := os.ReadFile(b.stampFile())
	if err == nil {
		_, err = os.Stat(b.target())
	}
	switch {
	case errors.Is(err, os.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	}
	if slices.Contains(APIServer(), b.name) && string(found) == pinnedPrebuilt().stamp() {
		return true, nil
	}
	wanted, err := b.stamp(ctx)
	return string(found) == wanted.String(), err
}

func (b build) run(ctx context.Context, progress io.Writer) error {
	wanted, err := b.stamp(ctx)
	if err != nil {
		return err
	}
	start := time.Now()
	_, _ = fmt.Fprintf(progress, "building %s %s (minutes the first time, seconds from Go's build cache) ...\n", b.name, wanted.version)
	if err := b.compile(ctx, wanted.version); err != nil {
		return err
	}
	if err := os.WriteFile(b.stampFile(), []byte(wanted.String()), 0o644); err != nil {
		return fmt.Errorf("writing the stamp: %w", err)
	}
	info, err := os.Stat(b.target())
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(progress, "  %s: %.0f s, %d MB\n", b.name, time.Since(start).Seconds(), info.Size()/1_000_000)
	return nil
}

// compile builds to a temporary name first, so that an incomplete program never has its final name. The compiler's flags are those of go
// test without cgo, so that both use the same packages from Go's build cache.
func (b build) compile(ctx context.Context, version string) error {
	temporary := fmt.Sprintf("%s.%d.tmp", b.target(), os.Getpid())
	defer func() { _ = os.Remove(temporary) }()
	if _, err := b.goTool(ctx, "build", "-buildvcs=false", "-ldflags", b.linkerFlags(version), "-o", temporary, b.pkg); err != nil {
		return err
	}
	return os.Rename(temporary, b.target())
}

// goTool runs the go command in the module that pins the programs.
func (b build) goTool(ctx context.Context, args ...string) (string, error) {
	return repo.Go(ctx, b.source, nil, args...)
}
