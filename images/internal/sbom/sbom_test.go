package sbom

import (
	"bytes"
	"debug/buildinfo"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const own = "github.com/trellis-garden/trellis"

// compiled is the path of a binary that has many modules.
func compiled(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "images")
	output, err := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", binary, own+"/images/cmd/images").CombinedOutput()
	require.NoError(t, err, string(output))
	return binary
}

func cache(t *testing.T) Cache {
	t.Helper()
	output, err := exec.Command("go", "env", "GOMODCACHE", "GOROOT").Output()
	require.NoError(t, err)
	folders := strings.Fields(string(output))
	require.Len(t, folders, 2)
	return Cache{Modules: folders[0], Go: folders[1], Own: "../../..", OwnPath: own}
}

func TestWrite_Components(t *testing.T) {
	binary := compiled(t)
	subject := Subject{
		Binary: binary, Name: "images", Version: "v1.2.3", Created: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		ExtraModules: map[Module]string{{"example.org/data", "v0.1.0"}: "What lies beside it"},
	}
	bill, err := Write(subject, cache(t).LicenseOf)
	require.NoError(t, err)
	var bom cdx.BOM
	require.NoError(t, cdx.NewBOMDecoder(bytes.NewReader(bill.JSON), cdx.BOMFileFormatJSON).Decode(&bom))

	assert.Equal(t, "2026-01-02T03:04:05Z", bom.Metadata.Timestamp)
	assert.Regexp(t, `^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, bom.SerialNumber)
	main := bom.Metadata.Component
	assert.Equal(t, "images v1.2.3", main.Name+" "+main.Version)
	assert.Equal(t, "pkg:golang/github.com/trellis-garden/trellis/images@v1.2.3#cmd/images", main.PackageURL)
	assert.Equal(t, "Apache-2.0", licenseOf(*main))
	assert.Contains(t, *main.Properties, cdx.Property{Name: "go:GOARCH", Value: runtime.GOARCH})

	info, err := buildinfo.ReadFile(binary)
	require.NoError(t, err)
	require.Greater(t, len(info.Deps), 5)
	require.Len(t, *bom.Components, len(info.Deps)+2, "the modules, the standard library, and what is besides")
	assert.Equal(t, len(info.Deps)+2, bill.Components)
	assert.Equal(t, 1, bill.Unlicensed, "what is besides has no license")

	found := map[string]cdx.Component{}
	for _, c := range *bom.Components {
		found[c.Name] = c
	}
	for _, dep := range info.Deps {
		c := found[dep.Path]
		assert.Equal(t, dep.Version, c.Version)
		assert.Equal(t, "pkg:golang/"+dep.Path+"@"+dep.Version, c.PackageURL)
		assert.Equal(t, &[]cdx.Property{{Name: "go:sum", Value: dep.Sum}}, c.Properties)
	}
	assert.Equal(t, strings.TrimPrefix(info.GoVersion, "go"), found["stdlib"].Version)
	assert.Equal(t, "What lies beside it", found["example.org/data"].Description)
	for name, license := range map[string]string{
		"stdlib": "BSD-3-Clause", "github.com/CycloneDX/cyclonedx-go": "Apache-2.0", "golang.org/x/crypto/x509roots/fallback": "BSD-3-Clause",
		"github.com/sirupsen/logrus": "MIT",
	} {
		assert.Equal(t, license, licenseOf(found[name]), name)
	}

	again, err := Write(subject, cache(t).LicenseOf)
	require.NoError(t, err)
	assert.Empty(t, cmp.Diff(bill, again))
}

func TestWrite_LocalModules(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"go.mod":           "module example.org/app\n\ngo 1.26\n\nrequire example.org/app/lib v0.0.0\n\nreplace example.org/app/lib => ./lib\n",
		"main.go":          "package main\n\nimport \"example.org/app/lib\"\n\nfunc main() { lib.Hello() }\n",
		"lib/go.mod":       "module example.org/app/lib\n\ngo 1.26\n",
		"lib/hello.go":     "package lib\n\nfunc Hello() { println(\"hello\") }\n",
		"LICENSE-NOT-MINE": "no license",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	build := exec.Command("go", "build", "-buildvcs=false", "-o", "app", ".")
	build.Dir = dir
	output, err := build.CombinedOutput()
	require.NoError(t, err, string(output))

	bill, err := Write(Subject{Binary: filepath.Join(dir, "app"), Name: "app", Version: "v7"}, func(Module) string { return "" })
	require.NoError(t, err)
	assert.Contains(t, string(bill.JSON), `"pkg:golang/example.org/app@v7"`)
	assert.Contains(t, string(bill.JSON), `"pkg:golang/example.org/app/lib@v7"`, "one repository has one version")
	assert.NotContains(t, string(bill.JSON), "timestamp")
}

func TestWrite_NotAGoBinary(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text")
	require.NoError(t, os.WriteFile(text, []byte("hello"), 0o600))
	_, err := Write(Subject{Binary: text}, nil)
	assert.ErrorContains(t, err, "reading what "+text+" is made of")
}

func TestCache_LicenseOf(t *testing.T) {
	c := cache(t)
	apache, err := os.ReadFile(filepath.Join(c.Own, "LICENSE"))
	require.NoError(t, err)
	bsd, err := os.ReadFile(filepath.Join(c.Go, "LICENSE"))
	require.NoError(t, err)
	for sentence, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"one":                         {map[string]string{"LICENSE": string(apache)}, "Apache-2.0"},
		"one, in British English":     {map[string]string{"LICENCE.md": string(apache)}, "Apache-2.0"},
		"two files":                   {map[string]string{"LICENSE": string(bsd), "COPYING": string(apache)}, "Apache-2.0 AND BSD-3-Clause"},
		"two in one":                  {map[string]string{"LICENSE": string(bsd) + "\n" + string(apache)}, "Apache-2.0 AND BSD-3-Clause"},
		"the same twice":              {map[string]string{"LICENSE": string(bsd), "LICENSE.txt": string(bsd)}, "BSD-3-Clause"},
		"no file":                     {map[string]string{"README": string(apache)}, ""},
		"a mention in another text":   {map[string]string{"LICENSE": "You may ask us for a license. We like Apache-2.0, but this is not it."}, ""},
		"a file that is for a script": {map[string]string{"licenses.go": string(apache)}, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			modules := t.TempDir()
			dir := filepath.Join(modules, "example.org", "!upper@v1.0.0")
			require.NoError(t, os.MkdirAll(dir, 0o755))
			for name, text := range c.files {
				require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
			}
			assert.Equal(t, c.want, Cache{Modules: modules, OwnPath: own}.LicenseOf(Module{"example.org/Upper", "v1.0.0"}))
		})
	}
}

func licenseOf(c cdx.Component) string {
	if c.Licenses == nil {
		return ""
	}
	first := (*c.Licenses)[0]
	if first.License != nil {
		return first.License.ID
	}
	return first.Expression
}
