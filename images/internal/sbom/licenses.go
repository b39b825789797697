package sbom

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
	"golang.org/x/mod/module"
)

// Cache finds the licenses of modules that were just built, where Go has put them.
type Cache struct {
	// Modules is GOMODCACHE, Go is GOROOT.
	Modules, Go string
	// Own is the repository whose modules begin with the path OwnPath; its license is that of its root folder.
	Own, OwnPath string
}

// LicenseOf returns the license of a module as an SPDX expression, or "" when no text of a known license lies there.
func (c Cache) LicenseOf(m Module) string {
	switch {
	case m.Path == Stdlib:
		return licenseOfFolder(c.Go)
	case m.Path == c.OwnPath || strings.HasPrefix(m.Path, c.OwnPath+"/"):
		return licenseOfFolder(c.Own)
	}
	path, err := module.EscapePath(m.Path)
	if err != nil {
		return ""
	}
	version, err := module.EscapeVersion(m.Version)
	if err != nil {
		return ""
	}
	return licenseOfFolder(filepath.Join(c.Modules, filepath.FromSlash(path)+"@"+version))
}

// minCoverage of a file must be the text of licenses, so that a mention of one is not taken for it. Percent.
const minCoverage = 75

func licenseOfFolder(dir string) string {
	names := regexp.MustCompile(`(?i)^(licen[cs]e|copying)([-._].*)?$`)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	var found []string
	for _, e := range entries {
		if !names.MatchString(e.Name()) || !e.Type().IsRegular() {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return ""
		}
		found = append(found, licensesOfText(text)...)
	}
	slices.Sort(found)
	return strings.Join(slices.Compact(found), " AND ")
}

func licensesOfText(text []byte) []string {
	coverage := licensecheck.Scan(text)
	if coverage.Percent < minCoverage {
		return nil
	}
	var found []string
	for _, match := range coverage.Match {
		if !match.IsURL {
			found = append(found, match.ID)
		}
	}
	return found
}
