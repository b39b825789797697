package charts

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pmezard/go-difflib/difflib"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write what is rendered to testdata")

// For a seed, testdata has all that is rendered; for all else, what is different from that.
func TestRender_Golden(t *testing.T) {
	for _, name := range Names() {
		compareAll(t, name, "seed", seedValues(), map[string]map[string]any{
			"self-hosted-shoot": selfHostedShootValues(),
			"runtime-cluster":   runtimeClusterValues(),
			"everything":        allValues(name),
			"nothing":           minimalValues(name),
		})
	}
}

func compareAll(t *testing.T, name, usual string, usually map[string]any, others map[string]map[string]any) {
	t.Helper()
	hunk := regexp.MustCompile(`(?m)^@@ .* @@$`)
	all := manifest(t, name, withTypes(name, usually))
	compare(t, filepath.Join(folder(name), usual+".yaml"), all)
	for place, values := range others {
		t.Run(name+"/"+place, func(t *testing.T) {
			other := manifest(t, name, withTypes(name, values))
			difference, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
				A: difflib.SplitLines(all), B: difflib.SplitLines(other), FromFile: usual, ToFile: place, Context: 2,
			})
			require.NoError(t, err)
			// Numbers of lines change with each line above.
			compare(t, filepath.Join(folder(name), place+".diff"), hunk.ReplaceAllString(difference, "@@"))
		})
	}
}

func TestRender_SecondaryGolden(t *testing.T) {
	for _, name := range observing() {
		compareAll(t, name, "secondary", secondaryValues(nil), map[string]map[string]any{"secondary-everything": allSecondaryValues(name)})
	}
}

// Gardener keeps what is rendered by kind and name in one map, in which a namespace has no place: of two, one would be lost.
func TestRender_UniqueObjects(t *testing.T) {
	for _, name := range append(Names(), InstallationNames()...) {
		assertUniqueObjects(t, name, allValues(name))
	}
	for _, name := range observing() {
		assertUniqueObjects(t, name, allSecondaryValues(name))
	}
}

func assertUniqueObjects(t *testing.T, name string, values map[string]any) {
	t.Helper()
	objects, err := Render(archiveOf(t, name), releaseOf(name), withTypes(name, values))
	require.NoError(t, err)
	known := map[string]bool{}
	for _, object := range objects {
		key := object.GetKind() + " " + object.GetName()
		assert.False(t, known[key], key)
		known[key] = true
	}
}

func manifest(t *testing.T, name string, values map[string]any) string {
	t.Helper()
	objects, err := Render(archiveOf(t, name), releaseOf(name), values)
	require.NoError(t, err)
	return text(t, objects)
}

func text(t *testing.T, objects []*unstructured.Unstructured) string {
	t.Helper()
	var all bytes.Buffer
	for _, object := range objects {
		document, err := yaml.Marshal(withoutPanels(t, object).Object)
		require.NoError(t, err)
		all.WriteString("---\n")
		all.Write(document)
	}
	return all.String()
}

// withoutPanels returns a ConfigMap of dashboards with what the chart replaces in them. Their panels are in the chart's own folder.
func withoutPanels(t *testing.T, object *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	if object.GetKind() != "ConfigMap" || !strings.HasSuffix(object.GetName(), "-dashboard") {
		return object
	}
	object = object.DeepCopy()
	documents, _, err := unstructured.NestedStringMap(object.Object, "data")
	require.NoError(t, err)
	for name, document := range documents {
		var dashboard struct {
			Title, UID string
			Panels     []struct{ Datasource string }
		}
		require.NoError(t, json.Unmarshal([]byte(document), &dashboard))
		require.NotEmpty(t, dashboard.Panels)
		documents[name] = fmt.Sprintf("%s (%s): %d panels of %s", dashboard.Title, dashboard.UID, len(dashboard.Panels), dashboard.Panels[0].Datasource)
	}
	require.NoError(t, unstructured.SetNestedStringMap(object.Object, documents, "data"))
	return object
}

func compare(t *testing.T, file, got string) {
	t.Helper()
	compareFile(t, filepath.Join("testdata", file), got)
}

// compareFile holds a file of this folder against what it should be, or writes it anew.
func compareFile(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
		return
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	if difference := cmp.Diff(string(want), got); difference != "" {
		t.Errorf("%s is not what is rendered; go test -update ./charts writes it anew:\n%s", path, difference)
	}
}
