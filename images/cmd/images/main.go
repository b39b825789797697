// Command images builds the container images of a Go module's commands, without a daemon, a registry or a base image.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/trellis-garden/trellis/images"
)

const usage = `Usage: images build --version V --out DIR [flags]
       images verify --key PUBLIC.pem ARCHIVE|IMAGE...

build compiles the commands in cmd/ as "make build" does, and makes one image of each: the static binary, run by user 65532, with
the certificate authorities that Mozilla trusts. Needs Go and nothing else: no daemon, no registry, no base image. The same
commit gives the same images.

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

verify checks, without a network but the images' own registry, that archives and images are as they were signed, and prints what was built from
what. It fails unless all of them are. Of an archive it checks all that is in it: whatever loads it finds the images that were signed,
and no others, and the bills of materials are theirs.

  --key FILE           the public key, such as DIR/signing-key.pub or cosign.pub

Exit codes: 0 done, 1 failed, 2 not understood.
`

// The exit codes.
const (
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, out, problems io.Writer) int {
	if len(args) > 0 && args[0] == "verify" {
		return runVerify(ctx, args[1:], out, problems)
	}
	o, err := parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(out, usage)
		return 0
	case err != nil:
		fmt.Fprintf(problems, "images: %v\nTry \"images --help\".\n", err)
		return exitUsage
	}
	if err := build(ctx, o, out); err != nil {
		fmt.Fprintf(problems, "images: %v\n", err)
		return exitFailed
	}
	return 0
}

// buildOptions is what the flags ask for.
type buildOptions struct {
	version, commit, out, source, repository string
	date                                     string
	created                                  time.Time
	binaries                                 []string
	platforms                                []images.Platform
	push                                     bool
	signKey                                  string
}

func parse(args []string) (buildOptions, error) {
	if len(args) > 0 && slices.Contains([]string{"help", "--help", "-h"}, args[0]) {
		return buildOptions{}, flag.ErrHelp
	}
	if len(args) == 0 || args[0] != "build" {
		return buildOptions{}, errors.New("the commands are build and verify")
	}
	var o buildOptions
	var push, platforms string
	flags := flag.NewFlagSet("images", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&o.version, "version", "", "")
	flags.StringVar(&o.commit, "commit", unknown, "")
	flags.StringVar(&o.date, "date", unknown, "")
	flags.StringVar(&o.out, "out", "", "")
	flags.StringVar(&o.source, "source", ".", "")
	flags.StringVar(&o.repository, "repository", "ghcr.io/trellis-garden/trellis", "")
	flags.StringVar(&push, "push", "", "")
	flags.StringVar(&o.signKey, "sign-key", "", "")
	flags.StringVar(&platforms, "platform", "linux/amd64,linux/arm64", "")
	flags.Func("binary", "", func(name string) error {
		o.binaries = append(o.binaries, name)
		return nil
	})
	if err := flags.Parse(args[1:]); err != nil {
		return buildOptions{}, err
	}
	if push != "" {
		o.repository, o.push = push, true
	}
	if flags.NArg() > 0 {
		return buildOptions{}, fmt.Errorf("build takes flags only, not %q", flags.Arg(0))
	}
	return o, o.check(platforms)
}

// unknown is what the binaries say, too, when nobody told them.
const unknown = "unknown"

func (o *buildOptions) check(platforms string) error {
	if o.version == "" || o.out == "" {
		return errors.New("--version and --out are needed")
	}
	o.repository = strings.TrimSuffix(o.repository, "/")
	if err := images.CheckName(o.name("binary")); err != nil {
		return fmt.Errorf("--version, or --repository or --push, makes no name for an image: %w", err)
	}
	if o.date != unknown {
		var err error
		if o.created, err = time.Parse(time.RFC3339, o.date); err != nil {
			return fmt.Errorf("--date %q is no time such as 2026-01-02T03:04:05Z", o.date)
		}
	}
	for p := range strings.SplitSeq(platforms, ",") {
		system, architecture, _ := strings.Cut(p, "/")
		platform := images.Platform{OS: system, Architecture: architecture}
		if system != "linux" || !slices.Contains([]string{"amd64", "arm64"}, architecture) {
			return fmt.Errorf("--platform %q is neither linux/amd64 nor linux/arm64", p)
		}
		if slices.Contains(o.platforms, platform) {
			return fmt.Errorf("--platform names %s twice", p)
		}
		o.platforms = append(o.platforms, platform)
	}
	return nil
}

// name is the image's name.
func (o *buildOptions) name(binary string) string {
	return o.repository + "/" + binary + ":" + o.version
}
