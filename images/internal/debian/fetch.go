package debian

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Package is a version of a Debian package.
type Package struct {
	Name    string `yaml:"name"`
	Version string `yaml:"version"`
	// License is an SPDX expression for the files that are taken out of the package.
	License string `yaml:"license"`
	// Path is the package's file below a mirror, with ARCH for the architecture.
	Path string `yaml:"path"`
	// SHA256 is the checksum of the file, by architecture in Debian's words, which are Go's for amd64 and arm64.
	SHA256 map[string]string `yaml:"sha256"`
}

// MirrorVariable names a mirror, such as one of a company. Without it, the mirror is the one that the machine's apt uses.
const MirrorVariable = "TRELLIS_DEBIAN_MIRROR"

// Source is where packages come from. Its Cache is a folder that keeps them by their checksums.
type Source struct {
	Mirror, Cache string
	Client        *http.Client
}

// NewSource returns a source with the mirror of this machine.
func NewSource(ctx context.Context, cache string) (Source, error) {
	source := Source{Mirror: os.Getenv(MirrorVariable), Cache: cache, Client: &http.Client{Timeout: 2 * time.Minute}}
	if source.Mirror != "" {
		return source, nil
	}
	output, err := exec.CommandContext(ctx, "apt-get", "indextargets", "--format", "$(ORIGIN)|$(LABEL)|$(SITE)", "Created-By: Packages", "Component: main").Output()
	source.Mirror = mirrorIn(string(output))
	if err != nil || source.Mirror == "" {
		return Source{}, errors.Join(fmt.Errorf("finding a Debian mirror: this machine's apt names none; set $%s to the URL of one", MirrorVariable), err)
	}
	return source, nil
}

// mirrorIn returns the first mirror of Debian's main archive in apt's list: lines of origin, label and address. The archives of Debian's security team, of
// distributions that are derived from Debian, and of vendors have other packages.
func mirrorIn(targets string) string {
	for line := range strings.Lines(targets) {
		if address, found := strings.CutPrefix(strings.TrimSpace(line), "Debian|Debian|"); found {
			return address
		}
	}
	return ""
}

// Fetch returns the file of a package for an architecture, from the cache or from the mirror. Its checksum is the pinned one.
func (s Source) Fetch(ctx context.Context, p Package, architecture string) ([]byte, error) {
	sum := p.SHA256[architecture]
	if sum == "" {
		return nil, fmt.Errorf("package %s: there is no checksum for %s", p.Name, architecture)
	}
	kept := filepath.Join(s.Cache, sum+".deb")
	if content, err := os.ReadFile(kept); err == nil && checksum(content) == sum {
		return content, nil
	}
	url := strings.TrimSuffix(s.Mirror, "/") + "/" + strings.ReplaceAll(p.Path, "ARCH", architecture)
	content, err := s.get(ctx, url)
	if err != nil {
		return nil, fmt.Errorf("fetching package %s %s: %w; mirrors keep the newest versions only, so a newer one may have to be pinned", p.Name, p.Version, err)
	}
	if got := checksum(content); got != sum {
		return nil, fmt.Errorf("package %s: %s has the checksum %s, not %s", p.Name, url, got, sum)
	}
	if err := os.MkdirAll(s.Cache, 0o755); err != nil { //nolint:gosec // packages are for everyone
		return nil, err
	}
	return content, writeFile(kept, content)
}

func (s Source) get(ctx context.Context, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := s.Client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close() //nolint:errcheck // nothing was written
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", url, response.Status)
	}
	var content bytes.Buffer
	_, err = io.Copy(&content, response.Body)
	return content.Bytes(), err
}

// writeFile writes a file as a whole: builds may run side by side.
func writeFile(path string, content []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), "package-*")
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}

func checksum(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
