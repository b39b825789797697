package builder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/trellis-garden/trellis/images"
	"github.com/trellis-garden/trellis/images/base"
	"github.com/trellis-garden/trellis/images/internal/attestation"
	"github.com/trellis-garden/trellis/images/internal/sbom"
	"github.com/trellis-garden/trellis/images/internal/signing"
)

// DigestsFile is the list of the images' names with their digests, one a line.
const DigestsFile = "digests.txt"

// job is one build.
type job struct {
	Options
	created  time.Time
	key      *signing.Key // nil when nothing is signed
	module   Module
	licenses sbom.Cache
	// below is the layer that all images share, besides what of it is not in the binaries' own list of modules.
	below        *images.Layer
	extraModules map[sbom.Module]string
	// scratch is where binaries lie until they are packed.
	scratch string
	logf    func(format string, args ...any)
}

// Product is one finished image: for all platforms under one name.
type Product struct {
	Name, Digest string
	Images       []images.Image
	// Components are the numbers of components of each of the images, Unlicensed that of all components without a known license.
	Components []int
	Unlicensed int
}

// Build builds the images, writes archives, bills of materials and lists to a folder, and pushes the images if that is wanted. out gets a line for each step.
func Build(ctx context.Context, o Options, out io.Writer) ([]Product, error) {
	j, err := prepare(ctx, o, out)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(j.scratch) //nolint:errcheck // nobody can do anything about a temporary folder that stays
	commands, err := j.module.choose(o.Binaries)
	if err != nil {
		return nil, err
	}
	var products []Product
	for _, command := range commands {
		p, err := j.build(ctx, command)
		if err != nil {
			return nil, fmt.Errorf("image of %s: %w", command, err)
		}
		products = append(products, p)
	}
	return products, j.writeDigests(products)
}

func prepare(ctx context.Context, o Options, out io.Writer) (*job, error) {
	m, err := ReadModule(ctx, o.Source)
	if err != nil {
		return nil, err
	}
	key, err := attestation.ReadKeyFile(o.SignKey)
	if err != nil {
		return nil, err
	}
	created, err := o.created()
	if err != nil {
		return nil, err
	}
	below, err := base.Layer()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.Out, 0o755); err != nil { //nolint:gosec // what is in it is for everyone
		return nil, err
	}
	scratch, err := os.MkdirTemp("", "images-")
	if err != nil {
		return nil, err
	}
	return &job{
		Options: o, created: created, key: key, module: m, below: below, extraModules: authorities(), scratch: scratch,
		licenses: sbom.Cache{Modules: m.cache, Go: m.goroot, Own: m.root, OwnPath: m.Path},
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

func (j *job) build(ctx context.Context, command string) (Product, error) {
	p := Product{Name: j.name(command)}
	for _, platform := range j.Platforms {
		start := time.Now()
		image, bill, err := j.buildFor(ctx, command, platform)
		if err != nil {
			return Product{}, fmt.Errorf("%s: %w", platform, err)
		}
		p.Images = append(p.Images, image)
		p.Components = append(p.Components, bill.Components)
		p.Unlicensed += bill.Unlicensed
		j.logf("%s for %s (%.0f s)", command, platform, time.Since(start).Seconds())
	}
	var err error
	if p.Digest, err = images.Digest(p.Images); err != nil {
		return Product{}, err
	}
	attestations, err := j.attest(command, p)
	if err != nil {
		return Product{}, err
	}
	documents, err := documentsOf(p, attestations)
	if err != nil {
		return Product{}, err
	}
	if _, err := images.WriteArchive(filepath.Join(j.Out, command+".tar"), map[string][]images.Image{p.Name: p.Images}, documents...); err != nil {
		return Product{}, err
	}
	if !j.Push {
		return p, nil
	}
	j.logf("pushing %s", p.Name)
	return p, pushAll(ctx, p, attestations, remote.WithAuthFromKeychain(authn.DefaultKeychain))
}

// attest returns nil when there is no key.
func (j *job) attest(command string, p Product) (*attestation.Attestations, error) {
	if j.key == nil {
		return nil, nil
	}
	platforms := make([]string, 0, len(j.Platforms))
	for _, platform := range j.Platforms {
		platforms = append(platforms, platform.String())
	}
	origin := attestation.Origin{Module: j.module.Path, Version: j.Version, Commit: j.Commit, Date: j.Date}
	return attestation.New(*j.key, attestation.Subject{
		Repository: strings.TrimSuffix(p.Name, ":"+j.Version), Digest: p.Digest, Bills: p.bills(),
		Provenance: origin.Provenance("images", map[string]any{"command": command, "platforms": platforms}),
	})
}

func (p Product) bills() []attestation.Bill {
	var bills []attestation.Bill
	for _, image := range p.Images {
		for _, bill := range image.Attachments {
			bills = append(bills, attestation.Bill{Architecture: image.Platform.Architecture, Content: bill.Content})
		}
	}
	return bills
}

// documentsOf are those in the archive: what the images are made of, and what proves where they come from.
func documentsOf(p Product, attestations *attestation.Attestations) ([]images.Document, error) {
	var documents []images.Document
	for _, bill := range p.bills() {
		documents = append(documents, images.Document{Path: attestation.BillDocument(bill.Architecture), Content: bill.Content})
	}
	if attestations == nil {
		return documents, nil
	}
	proofs, err := attestations.Documents()
	return append(documents, proofs...), err
}

// pushAll brings an image to its registry, and then what proves where it comes from.
func pushAll(ctx context.Context, p Product, attestations *attestation.Attestations, options ...remote.Option) error {
	pushed, err := images.Push(ctx, p.Name, p.Images, options...)
	if err != nil {
		return err
	}
	if pushed != p.Digest {
		return errors.New("the registry was given another image than the archive")
	}
	if attestations == nil {
		return nil
	}
	return attestations.Push(ctx, p.Name, options...)
}

func (j *job) buildFor(ctx context.Context, command string, platform images.Platform) (images.Image, sbom.Bill, error) {
	binary, err := j.module.compile(ctx, j.Options, command, platform, filepath.Join(j.scratch, platform.Architecture))
	if err != nil {
		return images.Image{}, sbom.Bill{}, err
	}
	defer os.Remove(binary) //nolint:errcheck // the folder is removed in the end
	more, err := j.additions(ctx, command, platform)
	if err != nil {
		return images.Image{}, sbom.Bill{}, err
	}
	image, err := images.Program(binary, images.Config{Labels: j.labels(command), Created: j.created}, append([]*images.Layer{j.below}, more.layers...)...)
	if err != nil {
		return images.Image{}, sbom.Bill{}, err
	}
	maps.Copy(more.modules, j.extraModules)
	bill, err := sbom.Write(sbom.Subject{
		Binary: binary, Name: command, Version: j.Version, Created: j.created, ExtraModules: more.modules, Packages: more.packages,
	}, j.licenses.LicenseOf)
	if err != nil {
		return images.Image{}, sbom.Bill{}, err
	}
	image.Attachments = []images.Attachment{{MediaType: sbom.MediaType, Content: bill.JSON}}
	file := filepath.Join(j.Out, command+"."+platform.Architecture+".cdx.json")
	return image, bill, os.WriteFile(file, bill.JSON, 0o644) //nolint:gosec // it is for everyone
}

// labels are those of the OCI image specification.
func (j *job) labels(command string) map[string]string {
	const prefix = "org.opencontainers.image."
	labels := map[string]string{
		prefix + "title":    command,
		prefix + "version":  j.Version,
		prefix + "revision": j.Commit,
		prefix + "source":   "https://" + j.module.Path,
	}
	if license := j.licenses.LicenseOf(sbom.Module{Path: j.module.Path}); license != "" {
		labels[prefix+"licenses"] = license
	}
	if !j.created.IsZero() {
		labels[prefix+"created"] = j.created.UTC().Format(time.RFC3339)
	}
	return labels
}

func (j *job) writeDigests(products []Product) error {
	var lines strings.Builder
	for _, p := range products {
		fmt.Fprintf(&lines, "%s@%s\n", p.Name, p.Digest)
	}
	files := map[string][]byte{DigestsFile: []byte(lines.String())}
	if j.key != nil {
		if err := attestation.SignFile(*j.key, DigestsFile, files); err != nil {
			return err
		}
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(j.Out, name), content, 0o644); err != nil { //nolint:gosec // it is for everyone
			return err
		}
	}
	return nil
}
