// Package sbom writes bills of materials in CycloneDX's form: which modules, of which versions and licenses, a Go binary was made of. The binary says
// it itself, so a bill cannot be of another one. It must not know where bills are kept.
package sbom

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net/url"
	"os"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// MediaType is that of a bill.
const MediaType = "application/vnd.cyclonedx+json"

// Module is a Go module at a version. The standard library is the module Stdlib, at the toolchain's version.
type Module struct{ Path, Version string }

// Stdlib is what scanners for vulnerabilities call Go's standard library.
const Stdlib = "stdlib"

// Subject is what a bill is of.
type Subject struct {
	// Binary is the path of a binary that the Go toolchain made.
	Binary string
	// Name and Version are the bill's words for it: the toolchain knows no version of what is built in its own repository.
	Name, Version string
	// Created is when its source was committed; left out when it is zero. The clock is never read: the same input gives the same bytes.
	Created time.Time
	// ExtraModules are modules whose content is delivered with the binary but not in it, with a word on what it is.
	ExtraModules map[Module]string
	// Packages are packages of a distribution, parts of which are delivered with the binary.
	Packages []Package
}

// Package is a package of Debian.
type Package struct {
	Name, Version, Architecture string
	// License is an SPDX expression for the delivered files.
	License string
}

// Licenses returns a module's license as an SPDX expression, or "" when it cannot tell. Modules of the subject's own repository have its version.
type Licenses func(Module) string

// Bill is a bill of materials, ready to be kept.
type Bill struct {
	// JSON is the bill in CycloneDX's JSON form.
	JSON []byte
	// Components is the number of modules on it, Unlicensed how many of them have no license that is known.
	Components, Unlicensed int
}

// Write makes the bill of subject, in version 1.6 of the form, which what reads bills knows by now.
func Write(subject Subject, licenses Licenses) (Bill, error) {
	info, err := buildinfo.ReadFile(subject.Binary)
	if err != nil {
		return Bill{}, fmt.Errorf("reading what %s is made of: %w", subject.Binary, err)
	}
	digest, err := digestOf(subject.Binary)
	if err != nil {
		return Bill{}, fmt.Errorf("reading %s: %w", subject.Binary, err)
	}
	components := componentsOf(subject, info, licenses)
	main := mainOf(subject, info, digest, licenses)
	bom := cdx.NewBOM()
	bom.SerialNumber = "urn:uuid:" + uuid(digest)
	bom.Metadata = &cdx.Metadata{
		Component:  &main,
		Lifecycles: &[]cdx.Lifecycle{{Phase: cdx.LifecyclePhaseBuild}},
	}
	if !subject.Created.IsZero() {
		bom.Metadata.Timestamp = subject.Created.UTC().Format(time.RFC3339)
	}
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: main.BOMRef, Dependencies: references(components)}}

	var written bytes.Buffer
	if err := cdx.NewBOMEncoder(&written, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom, cdx.SpecVersion1_6); err != nil {
		return Bill{}, fmt.Errorf("writing the bill of %s: %w", subject.Name, err)
	}
	bill := Bill{JSON: written.Bytes(), Components: len(components)}
	for _, c := range components {
		if c.Licenses == nil {
			bill.Unlicensed++
		}
	}
	return bill, nil
}

func mainOf(subject Subject, info *debug.BuildInfo, digest [sha256.Size]byte, licenses Licenses) cdx.Component {
	where := strings.TrimPrefix(strings.TrimPrefix(info.Path, info.Main.Path), "/")
	purl := "pkg:golang/" + info.Main.Path + "@" + subject.Version
	if where != "" {
		purl += "#" + where
	}
	main := cdx.Component{
		BOMRef: purl, Type: cdx.ComponentTypeApplication, Name: subject.Name, Version: subject.Version, PackageURL: purl,
		Hashes:   &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(digest[:])}},
		Licenses: choice(licenses(Module{info.Main.Path, subject.Version})),
	}
	var settings []cdx.Property
	for _, s := range info.Settings {
		if slices.Contains([]string{"CGO_ENABLED", "GOARCH", "GOOS"}, s.Key) {
			settings = append(settings, cdx.Property{Name: "go:" + s.Key, Value: s.Value})
		}
	}
	main.Properties = &settings
	return main
}

// componentsOf lists the standard library, then packages and modules in order of their names.
func componentsOf(subject Subject, info *debug.BuildInfo, licenses Licenses) []cdx.Component {
	var components []cdx.Component
	add := func(m Module, sum, description string) {
		purl := "pkg:golang/" + m.Path + "@" + m.Version
		c := cdx.Component{
			BOMRef: purl, Type: cdx.ComponentTypeLibrary, Name: m.Path, Version: m.Version, PackageURL: purl,
			Description: description, Licenses: choice(licenses(m)),
		}
		if properties := sumOf(sum); properties != nil {
			c.Properties = properties
		}
		components = append(components, c)
	}
	for _, dep := range info.Deps {
		if dep.Replace != nil && dep.Replace.Sum != "" {
			dep = dep.Replace
		}
		m := Module{dep.Path, dep.Version}
		if dep.Replace != nil { // by a folder: a module of the same repository
			m.Version = subject.Version
		}
		add(m, dep.Sum, "")
	}
	linked := components
	for m, description := range subject.ExtraModules {
		isLinked := func(c cdx.Component) bool { return c.Name == m.Path && c.Version == m.Version }
		if !slices.ContainsFunc(linked, isLinked) {
			add(m, "", description)
		}
	}
	for _, p := range subject.Packages {
		purl := "pkg:deb/debian/" + p.Name + "@" + url.PathEscape(p.Version) + "?arch=" + p.Architecture
		components = append(components, cdx.Component{
			BOMRef: purl, Type: cdx.ComponentTypeLibrary, Name: p.Name, Version: p.Version, PackageURL: purl, Licenses: choice(p.License),
		})
	}
	slices.SortFunc(components, func(a, b cdx.Component) int { return strings.Compare(a.BOMRef, b.BOMRef) })
	modules := components
	components = nil
	add(Module{Stdlib, strings.TrimPrefix(info.GoVersion, "go")}, "", "")
	return append(components, modules...)
}

// sumOf gives a go.sum entry as a property. It is no hash of a file, so it must not pass for one.
func sumOf(sum string) *[]cdx.Property {
	if _, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(sum, "h1:")); sum == "" || err != nil {
		return nil
	}
	return &[]cdx.Property{{Name: "go:sum", Value: sum}}
}

func choice(expression string) *cdx.Licenses {
	switch {
	case expression == "":
		return nil
	case strings.Contains(expression, " "):
		return &cdx.Licenses{{Expression: expression}}
	default:
		return &cdx.Licenses{{License: &cdx.License{ID: expression}}}
	}
}

func references(components []cdx.Component) *[]string {
	var all []string
	for _, c := range components {
		all = append(all, c.BOMRef)
	}
	return &all
}

func digestOf(file string) (digest [sha256.Size]byte, err error) {
	source, err := os.Open(path.Clean(file))
	if err != nil {
		return digest, err
	}
	defer source.Close() //nolint:errcheck // nothing was written
	hash := sha256.New()
	if _, err := io.Copy(hash, source); err != nil {
		return digest, err
	}
	copy(digest[:], hash.Sum(nil))
	return digest, nil
}

// uuid makes a name for the bill of what has this digest (RFC 9562, version 8).
func uuid(digest [sha256.Size]byte) string {
	b := digest[:16]
	b[6] = b[6]&0x0f | 0x80
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
