package builder

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trellis-garden/trellis/images"
	"github.com/trellis-garden/trellis/images/internal/attestation"
)

// AllPlatforms are those of a release.
const AllPlatforms = "linux/amd64,linux/arm64"

// Options are what is built.
type Options struct {
	// Version is the images' tag. Commit and Date, which is a time in RFC 3339, are attestation.UnknownCommit if nobody names them.
	Version, Commit, Date string
	// Out is the folder to write to, Source the root of the module, Repository that of the images, without their names.
	Out, Source, Repository string
	// Binaries are all in cmd/ unless given, but for those whose names begin with "trellis-": these are tools for admins.
	Binaries []string
	// Platforms are from ParsePlatforms.
	Platforms []images.Platform
	Push      bool
	// SignKey is the file of the private key; without one nothing is signed.
	SignKey string
}

// Check completes the options. Its errors name the flags.
func (o *Options) Check() error {
	if o.Version == "" || o.Out == "" {
		return errors.New("--version and --out are needed")
	}
	o.Repository = strings.TrimSuffix(o.Repository, "/")
	if err := images.CheckName(o.name("binary")); err != nil {
		return fmt.Errorf("--version, or --repository or --push, makes no name for an image: %w", err)
	}
	_, err := o.created()
	return err
}

// created is the zero time if nobody has named it.
func (o *Options) created() (time.Time, error) {
	if o.Date == attestation.UnknownCommit {
		return time.Time{}, nil
	}
	created, err := time.Parse(time.RFC3339, o.Date)
	if err != nil {
		return time.Time{}, fmt.Errorf("--date %q is no time such as 2026-01-02T03:04:05Z", o.Date)
	}
	return created, nil
}

// name is the image's name.
func (o *Options) name(binary string) string {
	return o.Repository + "/" + binary + ":" + o.Version
}

// ParsePlatforms reads the flag --platform.
func ParsePlatforms(list string) ([]images.Platform, error) {
	return parsePlatforms("--platform", list, AllPlatforms)
}

// ParseToolPlatforms reads the flag --tool-platform.
func ParseToolPlatforms(list string) ([]images.Platform, error) {
	return parsePlatforms("--tool-platform", list, ToolPlatforms)
}

func parsePlatforms(flag, list, allowed string) ([]images.Platform, error) {
	var platforms []images.Platform
	for p := range strings.SplitSeq(list, ",") {
		system, architecture, _ := strings.Cut(p, "/")
		platform := images.Platform{OS: system, Architecture: architecture}
		if !slices.Contains(strings.Split(allowed, ","), p) {
			return nil, fmt.Errorf("%s %q is none of %s", flag, p, strings.ReplaceAll(allowed, ",", ", "))
		}
		if slices.Contains(platforms, platform) {
			return nil, fmt.Errorf("%s names %s twice", flag, p)
		}
		platforms = append(platforms, platform)
	}
	return platforms, nil
}
