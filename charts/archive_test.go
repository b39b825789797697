package charts

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
)

func TestArchive_Deterministic(t *testing.T) {
	for _, name := range all() {
		once, again := archiveOf(t, name), archiveOf(t, name)
		assert.Equal(t, once, again, name)
	}
}

func TestArchive_Files(t *testing.T) {
	files := unpack(t, archiveOf(t, "network-controller"))
	allowed := map[string]bool{}
	for _, pattern := range []string{"Chart.yaml", "values.yaml", "values.schema.json", "templates/*.yaml", "templates/_*.tpl", "dashboards/*.json"} {
		for file := range files {
			inside, err := filepath.Rel("network-controller", file)
			require.NoError(t, err)
			for _, pattern := range []string{pattern, "charts/common/" + pattern} {
				if matches, err := filepath.Match(pattern, inside); err == nil && matches {
					allowed[file] = true
				}
			}
		}
	}
	for file := range files {
		assert.True(t, allowed[file], file)
	}
	for _, file := range []string{"Chart.yaml", "values.yaml", "values.schema.json", "templates/rbac.yaml", "dashboards/controller.json", "charts/common/Chart.yaml"} {
		assert.Contains(t, files, filepath.Join("network-controller", file))
	}
}

func TestArchive_Version(t *testing.T) {
	for version, want := range map[string]string{
		"v0.1.0":                  "0.1.0",
		"v0.1.0-3-g1f2e3d4-dirty": "0.1.0-3-g1f2e3d4-dirty",
		"1.2.3+dirty":             "1.2.3+dirty",
		"c3630f9":                 "0.0.0-build-c3630f9",
		"0123456":                 "0.0.0-build-0123456",
		"c3630f9-dirty":           "0.0.0-build-c3630f9-dirty",
		"(devel)":                 "0.0.0-build--devel-",
	} {
		t.Run(version, func(t *testing.T) {
			archive, err := Archive("worker-controller", version)
			require.NoError(t, err)
			chart, err := loader.LoadArchive(bytes.NewReader(archive))
			require.NoError(t, err)
			require.NoError(t, chart.Validate())
			assert.Equal(t, want, chart.Metadata.Version)
			assert.Equal(t, version, chart.Metadata.AppVersion)
			_, err = render(chart, releaseOf("worker-controller"), withTypes("worker-controller", nil))
			assert.NoError(t, err)
		})
	}
}

func TestArchive_UnknownChart(t *testing.T) {
	_, err := Archive("common", "v0.1.0")
	assert.ErrorContains(t, err, `there is no chart "common": there are infrastructure-controller, `)
	_, err = Archive("worker-controller", "")
	assert.ErrorContains(t, err, "needs the version of its binary")
}

func TestArchive_RendersLikeFolder(t *testing.T) {
	for _, name := range all() {
		for place, values := range map[string]map[string]any{"where it belongs": usualValues(name), "with everything": allValues(name)} {
			t.Run(name+" "+place, func(t *testing.T) {
				chart, err := loader.LoadDir(folderOf(t, name))
				require.NoError(t, err)
				assert.Len(t, chart.Dependencies(), 1)
				// What is stamped is all that is different.
				chart.Metadata.Version, chart.Metadata.AppVersion = "0.1.0", "v0.1.0"
				fromFolder, err := render(chart, releaseOf(name), withTypes(name, values))
				require.NoError(t, err)
				fromArchive, err := Render(archiveOf(t, name), releaseOf(name), withTypes(name, values))
				require.NoError(t, err)
				assert.Equal(t, text(t, fromFolder), text(t, fromArchive))
			})
		}
	}
}

func TestArchive_HelmLint(t *testing.T) {
	for _, name := range all() {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, content := range unpack(t, archiveOf(t, name)) {
				write(t, filepath.Join(dir, file), content)
			}
			types := []any{}
			for _, provider := range typesOf(name) {
				types = append(types, provider)
			}
			linted := lint.RunAll(filepath.Join(dir, name), map[string]any{"types": types}, releaseOf(name).Namespace)
			for _, message := range linted.Messages {
				assert.LessOrEqual(t, message.Severity, support.InfoSev, message.Error())
			}
		})
	}
}

// folderOf is a chart as Helm wants it on a disk: with its library inside.
func folderOf(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	copyFolder(t, folder(name), dir)
	copyFolder(t, library, filepath.Join(dir, vendored, library))
	return dir
}

func copyFolder(t *testing.T, from, to string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(from, path)
		write(t, filepath.Join(to, inside), content)
		return err
	}))
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, content, 0o600))
}

func unpack(t *testing.T, packed []byte) map[string][]byte {
	t.Helper()
	zipper, err := gzip.NewReader(bytes.NewReader(packed))
	require.NoError(t, err)
	files := map[string][]byte{}
	for archive := tar.NewReader(zipper); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		require.NoError(t, err)
		require.NotContains(t, files, header.Name)
		files[header.Name], err = io.ReadAll(archive)
		require.NoError(t, err)
	}
}
