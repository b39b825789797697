// Command release makes a release of a checkout: images, charts, registrations, and what proves where they come from.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/images"
	"github.com/trellis-garden/trellis/images/internal/builder"
	"github.com/trellis-garden/trellis/images/internal/cli"
)

const usage = `Usage: release publish --version V --push REPOSITORY --sign-key FILE --out DIR [flags]
       release charts --version V --push REPOSITORY --out DIR [flags]

publish makes a release of the commit that is checked out. It checks first that the version is one, that CHANGELOG.md has a section of it, and that the work
tree has no changes. Then it builds all images and pushes them, builds the tools for admins, packs all charts and pushes them, and writes registrations that name both by digest. All is
signed, and verified in the registry in the end. The same commit gives the same digests, so a release that has failed can be repeated.

It writes

  DIR/notes.md                    the section of CHANGELOG.md
  DIR/BINARY.tar, BINARY.ARCH.cdx.json
                                  images and their bills of materials, see "images --help"
  DIR/TOOL-VERSION-OS-ARCH.tar.gz, .zip, .cdx.json
                                  the tools for admins, those in cmd/ whose names begin with "trellis-", and their bills of materials
  DIR/CHART-VERSION.tgz           charts, as helm package makes them
  DIR/digests.txt, chart-digests.txt
                                  names of images and of charts with their digests, one a line, each with its signature (.sig)
  DIR/registrations/              what an admin applies, one folder for each registration; registrations.tar.gz has the same
  DIR/SHA256SUMS                  the sums of all these files, with its signature, SHA256SUMS.sig
  DIR/signing-key.pub             the key that checks signatures

charts pushes the charts alone, of any commit and version, and writes charts, chart-digests.txt and, with a key, signatures.

  --version V          a semantic version, such as v1.2.3: the tag of the images, and without the v that of the charts
  --push REPOSITORY    registry and path: REPOSITORY/BINARY:V are the images, REPOSITORY/charts/CHART:V the charts. Credentials are those of "docker login".
  --sign-key FILE      sign with this private key: ECDSA on P-256 in PEM, by openssl or cosign. The password of cosign's is taken from COSIGN_PASSWORD.
  --out DIR            where to write to: a folder that is empty or missing
  --source DIR         the root of the checkout (default ".")
  --platform P,...     build images for these platforms (default ` + builder.AllPlatforms + `)
  --tool-platform P,...
                       build tools for admins for these platforms (default ` + builder.ToolPlatforms + `)
  --binary NAME        build the image of this one; may be given several times (default: all in cmd/). For trials: registrations name the other images by tag.
  --snapshot           for trials: the work tree may have changes, and notes are those of "Unreleased" where CHANGELOG.md has no section of the version
  --help               print this page

Exit codes: 0 done, 1 failed, 2 not understood.
`

func main() { os.Exit(program().Main()) }

func program() cli.Program { return cli.Program{Name: "release", Usage: usage, Run: run} }

func run(ctx context.Context, args []string, out io.Writer) error {
	o, err := parse(args)
	switch {
	case err != nil:
		return cli.UsageError{Err: err}
	case o.command == commandCharts:
		return publishCharts(ctx, o, out)
	default:
		return publish(ctx, o, out)
	}
}

const (
	commandPublish = "publish"
	commandCharts  = "charts"
)

// options is what the command line asks for.
type options struct {
	command string
	images  builder.Options
	// toolPlatforms are those of the tools for admins.
	toolPlatforms []images.Platform
	snapshot      bool
}

func parse(args []string) (options, error) {
	if len(args) > 0 && slices.Contains([]string{"help", "--help", "-h"}, args[0]) {
		return options{}, flag.ErrHelp
	}
	if len(args) == 0 || args[0] != commandPublish && args[0] != commandCharts {
		return options{}, errors.New("the commands are publish and charts")
	}
	o := options{command: args[0]}
	var platforms, toolPlatforms string
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&o.images.Version, "version", "", "")
	flags.StringVar(&o.images.Repository, "push", "", "")
	flags.StringVar(&o.images.SignKey, "sign-key", "", "")
	flags.StringVar(&o.images.Out, "out", "", "")
	flags.StringVar(&o.images.Source, "source", ".", "")
	flags.StringVar(&platforms, "platform", builder.AllPlatforms, "")
	flags.StringVar(&toolPlatforms, "tool-platform", builder.ToolPlatforms, "")
	flags.BoolVar(&o.snapshot, "snapshot", false, "")
	flags.Func("binary", "", func(name string) error {
		o.images.Binaries = append(o.images.Binaries, name)
		return nil
	})
	if err := flags.Parse(args[1:]); err != nil {
		return options{}, err
	}
	if flags.NArg() > 0 {
		return options{}, fmt.Errorf("%s takes flags only, not %q", o.command, flags.Arg(0))
	}
	var err error
	if o.images.Platforms, err = builder.ParsePlatforms(platforms); err != nil {
		return options{}, err
	}
	if o.toolPlatforms, err = builder.ParseToolPlatforms(toolPlatforms); err != nil {
		return options{}, err
	}
	o.images.Push, o.images.Repository = true, strings.TrimSuffix(o.images.Repository, "/")
	return o, o.check()
}

// check finds what is missing on the command line.
func (o options) check() error {
	for _, needed := range []struct{ flag, value, example string }{
		{"--version", o.images.Version, "a version such as v1.2.3"},
		{"--push", o.images.Repository, "the repository to push to, such as registry.example.org/trellis"},
		{"--out", o.images.Out, "a folder to write to"},
	} {
		if needed.value == "" {
			return fmt.Errorf("%s is missing: give %s", needed.flag, needed.example)
		}
	}
	if o.images.SignKey == "" && o.command == commandPublish {
		return errors.New("--sign-key is missing: a release is signed; make a key with openssl ecparam -genkey -name prime256v1 -noout -out signing.key")
	}
	if o.command == commandCharts {
		return nil // as images, they may be of any commit
	}
	return checkVersion(o.images.Version)
}
