// Command images builds the container images of a Go module's commands, without a daemon, a registry or a base image.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/trellis-garden/trellis/images/internal/attestation"
	"github.com/trellis-garden/trellis/images/internal/builder"
	"github.com/trellis-garden/trellis/images/internal/cli"
)

const usage = `Usage: images build --version V --out DIR [flags]
       images verify --key PUBLIC.pem ARCHIVE|FILE|IMAGE|CHART...

build compiles the commands in cmd/ as "make build" does, and makes one image of each: the static binary, run by user 65532, with
the certificate authorities that Mozilla trusts. Commands named trellis-... are tools for admins and have no image. Needs Go and
nothing else: no daemon, no registry, no base image. The same commit gives the same images.
If there is a file cmd/BINARY/image.yaml, the image has programs of Debian's packages, too. They are fetched from the mirror that
this machine's apt uses, or from the URL in TRELLIS_DEBIAN_MIRROR.

It writes

  DIR/BINARY.tar              the image for all platforms: an OCI layout that is a docker archive, too; with documents/ARCH.cdx.json
                              and, if there is a key, documents/signature.json, documents/provenance.json and
                              documents/ARCH.cdx.signed.json, which is the bill of materials in an envelope (DSSE)
  DIR/BINARY.ARCH.cdx.json    what the binary is made of (CycloneDX): modules, versions, licenses
  DIR/digests.txt             the images' names with their digests, one a line
  DIR/digests.txt.sig         if there is a key: base64 of its signature over digests.txt, for "openssl dgst -sha256 -verify" or cosign verify-blob
  DIR/signing-key.pub         the key that checks signatures

  --version V          the images' tag, and what the binaries say when asked with --version
  --out DIR            where to write to; it is made if it is missing
  --commit C           the commit that is built (default unknown)
  --date D             when that was committed, as 2026-01-02T03:04:05Z (default unknown)
  --binary NAME        build this one; may be given several times (default: all in cmd/)
  --platform P,...     for these platforms (default linux/amd64,linux/arm64). Where docker keeps one platform per name, it
                       gives the name to the first, and the name with "-ARCH" to others.
  --repository R       the images are named R/BINARY:V (default ghcr.io/trellis-garden/trellis)
  --push R             name them R/BINARY:V and push them there, each platform's bill of materials as a referrer of its
                       image. Credentials are those of "docker login".
  --sign-key FILE      sign images and how they were built by this private key: ECDSA on P-256 in PEM, by openssl or cosign. The
                       password of cosign's is taken from COSIGN_PASSWORD. With --push, cosign verify and verify-attestation find both.
  --source DIR         the root of the module with cmd/ (default ".")
  --help               print this page

verify checks, without a network but the own registry of what is named, that archives, images, charts and files are as they were signed, and prints what was
built from what. It fails unless all of them are. A FILE, such as digests.txt or SHA256SUMS, has its signature beside it, FILE.sig; of SHA256SUMS all files on
the list that are beside it are checked. Of an archive it checks all that is in it: whatever loads it finds the images that were signed,
and no others, and the bills of materials are theirs.

  --key FILE           the public key, such as DIR/signing-key.pub or cosign.pub

Exit codes: 0 done, 1 failed, 2 not understood.
`

func main() { os.Exit(program().Main()) }

func program() cli.Program { return cli.Program{Name: "images", Usage: usage, Run: run} }

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) > 0 && args[0] == "verify" {
		return runVerify(ctx, args[1:], out)
	}
	o, err := parse(args)
	if err != nil {
		return cli.UsageError{Err: err}
	}
	products, err := builder.Build(ctx, o, out)
	if err != nil {
		return err
	}
	return report(out, o, products)
}

func parse(args []string) (builder.Options, error) {
	if len(args) > 0 && slices.Contains([]string{"help", "--help", "-h"}, args[0]) {
		return builder.Options{}, flag.ErrHelp
	}
	if len(args) == 0 || args[0] != "build" {
		return builder.Options{}, errors.New("the commands are build and verify")
	}
	var o builder.Options
	var push, platforms string
	flags := flag.NewFlagSet("images", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&o.Version, "version", "", "")
	flags.StringVar(&o.Commit, "commit", attestation.UnknownCommit, "")
	flags.StringVar(&o.Date, "date", attestation.UnknownCommit, "")
	flags.StringVar(&o.Out, "out", "", "")
	flags.StringVar(&o.Source, "source", ".", "")
	flags.StringVar(&o.Repository, "repository", "ghcr.io/trellis-garden/trellis", "")
	flags.StringVar(&push, "push", "", "")
	flags.StringVar(&o.SignKey, "sign-key", "", "")
	flags.StringVar(&platforms, "platform", builder.AllPlatforms, "")
	flags.Func("binary", "", func(name string) error {
		o.Binaries = append(o.Binaries, name)
		return nil
	})
	if err := flags.Parse(args[1:]); err != nil {
		return builder.Options{}, err
	}
	if push != "" {
		o.Repository, o.Push = push, true
	}
	if flags.NArg() > 0 {
		return builder.Options{}, fmt.Errorf("build takes flags only, not %q", flags.Arg(0))
	}
	if err := o.Check(); err != nil {
		return builder.Options{}, err
	}
	var err error
	if o.Platforms, err = builder.ParsePlatforms(platforms); err != nil {
		return builder.Options{}, err
	}
	return o, nil
}
