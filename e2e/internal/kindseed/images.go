package kindseed

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	gardenerimages "github.com/gardener/gardener/imagevector"
	"github.com/gardener/gardener/pkg/utils/imagevector"

	"github.com/trellis-garden/trellis/e2e/internal/example"
	"github.com/trellis-garden/trellis/e2e/internal/repo"
	"github.com/trellis-garden/trellis/images"
	"github.com/trellis-garden/trellis/images/base"
)

const (
	cloudName = "fakecloud"
	// cloudImage and standInImage are the images of the two commands of this module.
	cloudImage   = "localhost/fakecloud:e2e"
	standInImage = "localhost/standin:e2e"

	resourceManager        = "gardener-resource-manager"
	cloudControllerManager = "openstack-cloud-controller-manager"

	// kubernetesVersion is the shoots' version.
	kubernetesVersion = "1.36.3"
)

// Image is the name of the image of a binary.
func Image(binary, version string) string { return repo.ImagePrefix + binary + ":" + version }

// networkAgent is the binary of gardenet, whose image has programs besides it.
const networkAgent = "gardenet-agent"

// Binaries are our binaries that run in pods of seeds and shoots: all whose images registrations name.
func Binaries() []string {
	return []string{"infrastructure-controller", "controlplane-controller", "network-controller", networkAgent, "worker-controller", "machine-controller-openstack"}
}

// binaries builds images of programs, and caches them in the checkout.
type binaries struct {
	cache string
	base  *images.Layer
}

func newBinaries() (*binaries, error) {
	cache, err := repo.Path(".cache", "e2e", "kind")
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return nil, fmt.Errorf("creating the folder of images: %w", err)
	}
	layer, err := base.Layer()
	return &binaries{cache: cache, base: layer}, err
}

// packDependencies builds images of other projects' programs, and of what replaces them.
func (env *Env) packDependencies(ctx context.Context) error {
	for _, program := range []struct {
		name, target string
		image        func() (string, error)
	}{
		{resourceManager, "/" + resourceManager, resourceManagerImage},
		{machineControllerManager, "/" + machineControllerManager, machineControllerManagerImage},
		{cloudControllerManager, "/bin/" + cloudControllerManager, cloudControllerManagerImage},
	} {
		name, err := program.image()
		if err != nil {
			return err
		}
		if err := env.pack(filepath.Join(env.Programs, program.name), []string{program.target}, name); err != nil {
			return err
		}
	}
	absent, err := absentImages()
	if err != nil {
		return err
	}
	for _, command := range []struct{ name, path string }{{name: "fakecloud"}, {name: "standin"}} {
		if command.path, err = env.binaries.buildCommand(ctx, command.name); err != nil {
			return err
		}
		targets, names := []string{"/" + command.name}, []string{"localhost/" + command.name + ":e2e"}
		if names[0] == standInImage {
			// The probes of storage drivers request a path.
			targets = append(targets, "/bin/cinder-csi-plugin", "/bin/manila-csi-plugin")
			names = append(names, absent...)
		}
		if err := env.pack(command.path, targets, names...); err != nil {
			return err
		}
	}
	return nil
}

func (env *Env) pack(path string, targets []string, names ...string) error {
	archive, err := env.binaries.pack(path, targets, names...)
	env.packed = append(env.packed, archive)
	return err
}

func (env *Env) loadDependencies(ctx context.Context) error { return env.Load(ctx, env.packed...) }

func (env *Env) packVersions(ctx context.Context) error {
	for _, version := range env.options.Versions {
		if _, err := env.packControllers(ctx, version, Binaries()...); err != nil {
			return err
		}
	}
	return nil
}

func (env *Env) loadVersions(ctx context.Context) error {
	for _, version := range env.options.Versions {
		if err := env.Build(ctx, version, Binaries()...); err != nil {
			return err
		}
	}
	return nil
}

// Build builds our binaries as they are released, and loads their images into the nodes under that version. The version is a part of the binary,
// which prints it.
func (env *Env) Build(ctx context.Context, version string, names ...string) error {
	archives, err := env.packControllers(ctx, version, names...)
	if err != nil {
		return err
	}
	return env.Load(ctx, archives...)
}

// packControllers returns archives of our binaries' images, and builds those that are missing.
func (env *Env) packControllers(ctx context.Context, version string, names ...string) ([]string, error) {
	return env.packWith(ctx, version, nil, names...)
}

// BuildExample is Build of a binary with the example provider.
func (env *Env) BuildExample(ctx context.Context, version, name string) error {
	overlay, err := example.Overlay()
	if err != nil {
		return err
	}
	archives, err := env.packWith(ctx, version, []string{"-overlay", overlay}, name)
	if err != nil {
		return err
	}
	return env.Load(ctx, archives...)
}

// packWith is packControllers with further flags of go build.
func (env *Env) packWith(ctx context.Context, version string, flags []string, names ...string) (archives []string, err error) {
	for _, name := range names {
		if name == networkAgent {
			archive, err := env.binaries.release(ctx, name, version)
			if err != nil {
				return nil, err
			}
			archives = append(archives, archive)
			continue
		}
		path, err := env.binaries.build(ctx, name, version, flags...)
		if err != nil {
			return nil, err
		}
		archive, err := env.binaries.pack(path, []string{"/" + name}, Image(name, version))
		if err != nil {
			return nil, err
		}
		archives = append(archives, archive)
	}
	return archives, nil
}

// build builds one of our binaries with the flags of the Makefile.
func (b *binaries) build(ctx context.Context, name, version string, flags ...string) (string, error) {
	root, err := repo.Root()
	if err != nil {
		return "", err
	}
	const variable = "github.com/trellis-garden/trellis/internal/buildinfo."
	stamp := "-s -w -X " + variable + "version=" + version + " -X " + variable + "commit=unknown -X " + variable + "date=unknown"
	args := slices.Concat([]string{"-trimpath", "-buildvcs=false", "-ldflags", stamp}, flags, []string{"./cmd/" + name})
	return b.compile(ctx, root, filepath.Join(version, name), args...)
}

// release builds the image of a binary as a release does, with all that is in it besides the binary, and returns the archive.
func (b *binaries) release(ctx context.Context, name, version string) (string, error) {
	return repo.ReleaseImage(ctx, filepath.Join(b.cache, version, "images"), name, version)
}

// buildCommand builds a command of this module.
func (b *binaries) buildCommand(ctx context.Context, name string) (string, error) {
	module, err := repo.Path("e2e")
	if err != nil {
		return "", err
	}
	return b.compile(ctx, module, name, "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "./cmd/"+name)
}

func (b *binaries) compile(ctx context.Context, module, target string, args ...string) (string, error) {
	path := filepath.Join(b.cache, target)
	if _, err := repo.Go(ctx, module, nil, slices.Concat([]string{"build", "-o", path}, args)...); err != nil {
		return "", fmt.Errorf("building %s: %w", target, err)
	}
	return path, nil
}

// pack writes an archive of an image with one program, under all of the names, and returns its path. The program is at the first of the
// targets, the others are links to it.
func (b *binaries) pack(program string, targets []string, names ...string) (string, error) {
	archive, err := b.archiveOf(program, slices.Concat(targets, names))
	if err != nil {
		return "", fmt.Errorf("packing %s: %w", program, err)
	}
	if _, err := os.Stat(archive); err == nil {
		return archive, nil
	}
	files := []images.File{{Path: targets[0], Source: program, Mode: 0o755}}
	for _, link := range targets[1:] {
		files = append(files, images.File{Path: link, Link: targets[0]})
	}
	layer, err := images.NewLayer(files...)
	if err != nil {
		return "", fmt.Errorf("packing %s: %w", program, err)
	}
	image := images.Image{
		Platform: images.Platform{OS: "linux", Architecture: runtime.GOARCH},
		Layers:   []*images.Layer{b.base, layer},
		Config:   images.Config{Entrypoint: targets[:1]},
	}
	all := map[string][]images.Image{}
	for _, name := range names {
		all[name] = []images.Image{image}
	}
	if _, err := images.WriteArchive(archive, all); err != nil {
		return "", fmt.Errorf("packing %s: %w", program, err)
	}
	return archive, b.removeOlderArchives(archive, filepath.Base(program))
}

// archiveOf returns the archive's name, which contains a hash of its content.
func (b *binaries) archiveOf(program string, details []string) (string, error) {
	file, err := os.Open(program)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", err
	}
	hash.Write([]byte(strings.Join(details, " ")))
	return filepath.Join(b.cache, filepath.Base(program)+"-"+hex.EncodeToString(hash.Sum(nil))[:16]+".tar"), nil
}

// keptArchives is how many archives of a program are kept, the newest first: one run uses several versions.
const keptArchives = 4

func (b *binaries) removeOlderArchives(archive, program string) error {
	paths, err := filepath.Glob(filepath.Join(b.cache, program+"-????????????????.tar"))
	if err != nil {
		return err
	}
	age := map[string]int64{}
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil {
			age[path] = info.ModTime().UnixNano()
		}
	}
	slices.SortFunc(paths, func(a, b string) int { return int(age[b]/1e6 - age[a]/1e6) })
	for i, path := range paths {
		if i >= keptArchives && path != archive {
			_ = os.Remove(path) // somebody else may have done so
		}
	}
	return nil
}

const machineControllerManager = "machine-controller-manager"

func machineControllerManagerImage() (string, error) {
	image, err := gardenerimages.Containers().FindImage(gardenerimages.ContainerImageNameMachineControllerManager)
	if err != nil {
		return "", fmt.Errorf("finding the image of machine-controller-manager: %w", err)
	}
	return image.String(), nil
}

// vectorOf reads the image vector of a contract or a driver.
func vectorOf(path ...string) (imagevector.ImageVector, error) {
	file, err := repo.Path(append([]string{"internal"}, path...)...)
	if err != nil {
		return nil, err
	}
	vector, _, err := imagevector.ReadFile(file)
	return vector, err
}

func cloudControllerManagerImage() (string, error) {
	vector, err := vectorOf("controlplane", "openstack", "images.yaml")
	if err != nil {
		return "", err
	}
	return find(vector, "cloud-controller-manager")
}

func find(vector imagevector.ImageVector, name string) (string, error) {
	image, err := vector.FindImage(name, imagevector.RuntimeVersion(kubernetesVersion), imagevector.TargetVersion(kubernetesVersion))
	if err != nil {
		return "", fmt.Errorf("finding the image %s: %w", name, err)
	}
	return image.String(), nil
}

// absentImages are those of storage drivers and their sidecars: see the package comment.
func absentImages() ([]string, error) {
	var names []string
	for _, path := range [][]string{{"controlplane", "images.yaml"}, {"controlplane", "openstack", "images.yaml"}} {
		vector, err := vectorOf(path...)
		if err != nil {
			return nil, err
		}
		for _, source := range vector {
			if !strings.HasPrefix(source.Name, "csi-") {
				continue
			}
			name, err := find(vector, source.Name)
			if err != nil {
				return nil, err
			}
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names, nil
}
