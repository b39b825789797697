package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/trellis-garden/trellis/images"
	"github.com/trellis-garden/trellis/images/base"
	"github.com/trellis-garden/trellis/images/internal/sbom"
)

// job is one run of the command.
type job struct {
	buildOptions
	module   module
	licenses sbom.Cache
	// below is the layer that all images share, besides what of it is not in the binaries' own list of modules.
	below        *images.Layer
	extraModules map[sbom.Module]string
	// scratch is where binaries lie until they are packed.
	scratch string
	// signer is nil when nothing is signed.
	signer *signer
	logf   func(format string, args ...any)
}

// product is one finished image.
type product struct {
	name, digest string
	images       []images.Image
	components   []int
	unlicensed   int
}

func build(ctx context.Context, o buildOptions, out io.Writer) error {
	j, err := prepare(ctx, o, out)
	if err != nil {
		return err
	}
	defer os.RemoveAll(j.scratch) //nolint:errcheck // nobody can do anything about a temporary folder that stays
	commands, err := j.module.choose(o.binaries)
	if err != nil {
		return err
	}
	var products []product
	for _, command := range commands {
		p, err := j.build(ctx, command)
		if err != nil {
			return fmt.Errorf("image of %s: %w", command, err)
		}
		products = append(products, p)
	}
	if err := j.writeDigests(products); err != nil {
		return err
	}
	return report(out, o, products)
}

func prepare(ctx context.Context, o buildOptions, out io.Writer) (*job, error) {
	m, err := readModule(ctx, o.source)
	if err != nil {
		return nil, err
	}
	signer, err := readSigner(o.signKey)
	if err != nil {
		return nil, err
	}
	below, err := base.Layer()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil { //nolint:gosec // what is in it is for everyone
		return nil, err
	}
	scratch, err := os.MkdirTemp("", "images-")
	if err != nil {
		return nil, err
	}
	return &job{
		buildOptions: o, module: m, below: below, extraModules: authorities(), scratch: scratch, signer: signer,
		licenses: sbom.Cache{Modules: m.cache, Go: m.goroot, Own: m.root, OwnPath: m.path},
		logf:     func(format string, args ...any) { fmt.Fprintf(out, "==> "+format+"\n", args...) },
	}, nil
}

// authorities is the module that this very program takes the certificate authorities from.
func authorities() map[sbom.Module]string {
	own, _ := debug.ReadBuildInfo()
	if own == nil {
		return nil
	}
	for _, dep := range own.Deps {
		if dep.Path == base.Source {
			return map[sbom.Module]string{{Path: dep.Path, Version: dep.Version}: "The certificate authorities in " + base.Authorities}
		}
	}
	return nil
}

func (j *job) build(ctx context.Context, command string) (product, error) {
	p := product{name: j.name(command)}
	for _, platform := range j.platforms {
		start := time.Now()
		image, bill, err := j.buildFor(ctx, command, platform)
		if err != nil {
			return product{}, fmt.Errorf("%s: %w", platform, err)
		}
		p.images = append(p.images, image)
		p.components = append(p.components, bill.Components)
		p.unlicensed += bill.Unlicensed
		j.logf("%s for %s (%.0f s)", command, platform, time.Since(start).Seconds())
	}
	var err error
	if p.digest, err = images.Digest(p.images); err != nil {
		return product{}, err
	}
	signed, err := j.sign(command, p)
	if err != nil {
		return product{}, err
	}
	documents, err := documentsOf(p, signed)
	if err != nil {
		return product{}, err
	}
	if _, err := images.WriteArchive(filepath.Join(j.out, command+".tar"), map[string][]images.Image{p.name: p.images}, documents...); err != nil {
		return product{}, err
	}
	if !j.push {
		return p, nil
	}
	j.logf("pushing %s", p.name)
	return p, pushAll(ctx, p, signed, remote.WithAuthFromKeychain(authn.DefaultKeychain))
}

// documentsOf are those in the archive: what the images are made of, and what proves where they come from.
func documentsOf(p product, signed *signed) ([]images.Document, error) {
	var documents []images.Document
	for _, image := range p.images {
		for _, bill := range image.Attachments {
			documents = append(documents, images.Document{Path: billDocument(image.Platform.Architecture), Content: bill.Content})
		}
	}
	if signed == nil {
		return documents, nil
	}
	proofs, err := signed.documents()
	return append(documents, proofs...), err
}

// pushAll brings an image to its registry, and then what proves where it comes from.
func pushAll(ctx context.Context, p product, signed *signed, options ...remote.Option) error {
	pushed, err := images.Push(ctx, p.name, p.images, options...)
	if err != nil {
		return err
	}
	if pushed != p.digest {
		return errors.New("the registry was given another image than the archive")
	}
	if signed == nil {
		return nil
	}
	return signed.push(ctx, p, options...)
}

func (j *job) buildFor(ctx context.Context, command string, platform images.Platform) (images.Image, sbom.Bill, error) {
	binary, err := j.module.compile(ctx, j.buildOptions, command, platform, filepath.Join(j.scratch, platform.Architecture))
	if err != nil {
		return images.Image{}, sbom.Bill{}, err
	}
	defer os.Remove(binary) //nolint:errcheck // the folder is removed in the end
	image, err := images.Program(binary, images.Config{Labels: j.labels(command), Created: j.created}, j.below)
	if err != nil {
		return images.Image{}, sbom.Bill{}, err
	}
	bill, err := sbom.Write(sbom.Subject{
		Binary: binary, Name: command, Version: j.version, Created: j.created, ExtraModules: j.extraModules,
	}, j.licenses.LicenseOf)
	if err != nil {
		return images.Image{}, sbom.Bill{}, err
	}
	image.Attachments = []images.Attachment{{MediaType: sbom.MediaType, Content: bill.JSON}}
	file := filepath.Join(j.out, command+"."+platform.Architecture+".cdx.json")
	return image, bill, os.WriteFile(file, bill.JSON, 0o644) //nolint:gosec // it is for everyone
}

// labels are those of the OCI image specification.
func (j *job) labels(command string) map[string]string {
	const prefix = "org.opencontainers.image."
	labels := map[string]string{
		prefix + "title":    command,
		prefix + "version":  j.version,
		prefix + "revision": j.commit,
		prefix + "source":   "https://" + j.module.path,
	}
	if license := j.licenses.LicenseOf(sbom.Module{Path: j.module.path}); license != "" {
		labels[prefix+"licenses"] = license
	}
	if !j.created.IsZero() {
		labels[prefix+"created"] = j.created.UTC().Format(time.RFC3339)
	}
	return labels
}

func (j *job) writeDigests(products []product) error {
	var lines strings.Builder
	for _, p := range products {
		fmt.Fprintf(&lines, "%s@%s\n", p.name, p.digest)
	}
	files := map[string][]byte{"digests.txt": []byte(lines.String())}
	if j.signer != nil {
		if err := j.signer.signFile("digests.txt", files); err != nil {
			return err
		}
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(j.out, name), content, 0o644); err != nil { //nolint:gosec // it is for everyone
			return err
		}
	}
	return nil
}
