package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/trellis-garden/trellis/images/internal/attestation"
	"github.com/trellis-garden/trellis/images/internal/builder"
	"github.com/trellis-garden/trellis/images/internal/signing"
	"github.com/trellis-garden/trellis/images/internal/verifier"
)

// registrationsFolder is where what an admin applies is written to.
const registrationsFolder = "registrations"

// release is one run of the command.
type release struct {
	options
	checkout checkout
	module   builder.Module
	// key is nil when nothing is signed.
	key *signing.Key
	// scratch is a temporary folder.
	scratch string
	out     io.Writer
	// names and charts are what was pushed, by tag.
	names, charts []string
	// tools are the archives of tools for admins.
	tools []string
}

// newRelease reads what all commands need. The caller closes it.
func newRelease(ctx context.Context, o options, out io.Writer) (*release, error) {
	r := &release{options: o, out: out}
	var err error
	if r.key, err = attestation.ReadKeyFile(o.images.SignKey); err != nil {
		return nil, err
	}
	if r.checkout, err = readCheckout(ctx, o.images.Source); err != nil {
		return nil, err
	}
	r.images.Commit, r.images.Date = r.checkout.commit, r.checkout.created.Format(time.RFC3339)
	if err := r.images.Check(); err != nil {
		return nil, err
	}
	if r.module, err = builder.ReadModule(ctx, o.images.Source); err != nil {
		return nil, err
	}
	if err := checkEmpty(o.images.Out); err != nil {
		return nil, err
	}
	r.scratch, err = os.MkdirTemp("", "release-")
	return r, err
}

func (r *release) close() { _ = os.RemoveAll(r.scratch) }

func (r *release) logf(format string, args ...any) { fmt.Fprintf(r.out, "==> "+format+"\n", args...) }

// publish is the command of that name.
func publish(ctx context.Context, o options, out io.Writer) error {
	r, err := newRelease(ctx, o, out)
	if err != nil {
		return err
	}
	defer r.close()
	if !o.snapshot {
		if err := r.checkout.checkCommit(ctx, o); err != nil {
			return err
		}
	}
	notes, err := readNotes(o, "https://"+r.module.Path+"/blob/"+o.images.Version)
	if err != nil {
		return err
	}
	r.logf("releasing %s of commit %s", o.images.Version, r.checkout.commit)
	for _, step := range []func(context.Context) error{
		r.pushImages,
		r.writeTools,
		r.pushCharts,
		r.writeRegistrations,
		func(context.Context) error { return r.write("notes.md", notes, false) },
		r.writeSums,
		r.verify,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	r.printSummary()
	return nil
}

func (r *release) pushImages(ctx context.Context) error {
	products, err := builder.Build(ctx, r.images, r.out)
	for _, product := range products {
		r.names = append(r.names, product.Name)
	}
	return err
}

func (r *release) writeTools(ctx context.Context) error {
	var err error
	r.tools, err = builder.BuildTools(ctx, r.images, r.toolPlatforms, r.out)
	return err
}

func (r *release) writeRegistrations(ctx context.Context) error {
	r.logf("writing registrations")
	folder := filepath.Join(r.images.Out, registrationsFolder)
	if err := r.generate(ctx, "--out", folder,
		"--image-digests", filepath.Join(r.images.Out, builder.DigestsFile), "--chart-digests", filepath.Join(r.images.Out, chartDigestsFile)); err != nil {
		return err
	}
	packed, err := packFolder(r.images.Out, registrationsFolder, r.checkout.created)
	if err != nil {
		return err
	}
	return r.write(registrationsFolder+".tar.gz", packed, false)
}

// verify asks the registry for what has been pushed, as those do who install it.
func (r *release) verify(ctx context.Context) error {
	r.logf("verifying %d images, %d charts and %s", len(r.names), len(r.charts), verifier.SumsFile)
	subjects := slices.Concat([]string{filepath.Join(r.images.Out, verifier.SumsFile)}, r.names, r.charts)
	if err := verifier.All(ctx, r.key.Public(), subjects, io.Discard); err != nil {
		return fmt.Errorf("verifying what was released: %w", err)
	}
	return nil
}

func (r *release) printSummary() {
	fmt.Fprintf(r.out, `
Released %[1]s of commit %[2]s: %[3]d images and %[4]d charts in %[5]s; files in %[6]s, with %[7]d archives of tools.
`, r.images.Version, r.checkout.commit, len(r.names), len(r.charts), r.images.Repository, r.images.Out, len(r.tools))
	if len(r.images.Binaries) > 0 {
		fmt.Fprintln(r.out, "It has the binaries of --binary only: registrations name the images of the others by tag.")
	}
	fmt.Fprintf(r.out, `
To verify it from another machine, with a public key that you trust, such as %[1]s:
  make images-verify KEY=%[1]s ARGS="%[2]s %[3]s %[4]s"
  cosign verify --key %[1]s --insecure-ignore-tlog %[2]s
In a folder with downloaded files:
  openssl dgst -sha256 -verify %[1]s -signature <(base64 -d %[5]s.sig) %[5]s && sha256sum --check --ignore-missing %[5]s
To install it:
  kubectl apply -f %[6]s
`, attestation.PublicKeyFile, r.names[0], r.charts[0], filepath.Join(r.images.Out, verifier.SumsFile), verifier.SumsFile,
		filepath.Join(r.images.Out, registrationsFolder, "<name>", "oci.yaml"))
}
