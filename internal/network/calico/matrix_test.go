package calico

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

const (
	matrixFolder  = "testdata/matrix"
	objectsFolder = matrixFolder + "/objects"
	casesFile     = matrixFolder + "/cases.yaml"
)

// matrixFile is what testdata/matrix/cases.yaml says: which files of the folder objects make up the shoots' objects. Other modules
// read it, to hold the objects against a real kube-apiserver and against Calico's own code.
type matrixFile struct {
	// Definitions are the names of the custom resource definitions that there are besides; Multus adds its own.
	Definitions []string `json:"definitions"`
	// Always are the files that belong to each case.
	Always []string `json:"always"`
	// Cases are the shoots, by a sentence.
	Cases map[string]matrixEntry `json:"cases"`
}

type matrixEntry struct {
	// Objects are the files that belong to the case besides.
	Objects []string `json:"objects,omitempty"`
	// Refused says why there are none.
	Refused string `json:"refused,omitempty"`
}

// golden collects objects by the names of their files.
type golden struct {
	t *testing.T
	// names are the files' names by the objects' JSON, contents their YAML by the files' names.
	names, contents map[string]string
}

func (g *golden) add(object client.Object) string {
	encoded, err := json.Marshal(object)
	require.NoError(g.t, err)
	if name, ok := g.names[string(encoded)]; ok {
		return name
	}
	kind := object.GetObjectKind().GroupVersionKind().Kind
	require.NotEmpty(g.t, kind, "%T %s", object, object.GetName())
	hash := sha256.Sum256(encoded)
	name := strings.NewReplacer(":", ".").Replace(fmt.Sprintf("%s-%s-%s.yaml", strings.ToLower(kind), object.GetName(), hex.EncodeToString(hash[:4])))
	content, err := yaml.JSONToYAML(encoded)
	require.NoError(g.t, err)
	require.NotContains(g.t, g.contents, name, "two objects with the same hash")
	g.names[string(encoded)], g.contents[name] = name, string(content)
	return name
}

// collect renders the matrix.
func (g *golden) collect(cases []matrixCase) matrixFile {
	file := matrixFile{Cases: map[string]matrixEntry{}}
	var always []string
	for _, each := range cases {
		require.NotContains(g.t, file.Cases, each.sentence)
		if refused := refusal(each.shoot); refused != "" {
			file.Cases[each.sentence] = matrixEntry{Refused: refused}
			continue
		}
		decided, err := decide(each.shoot)
		require.NoError(g.t, err, each.sentence)
		objects, err := decided.settings.componentObjects()
		require.NoError(g.t, err, each.sentence)
		var names []string
		for _, object := range objects {
			names = append(names, g.add(object))
		}
		slices.Sort(names)
		file.Cases[each.sentence] = matrixEntry{Objects: names}
		if always == nil {
			always = names
		}
		always = slices.DeleteFunc(slices.Clone(always), func(name string) bool { return !slices.Contains(names, name) })
	}
	file.Always = always
	for sentence, entry := range file.Cases {
		entry.Objects = slices.DeleteFunc(entry.Objects, func(name string) bool { return slices.Contains(always, name) })
		file.Cases[sentence] = entry
	}
	definitions, err := New().definitionsFor(&settings{config: defaultConfig(g.t)})
	require.NoError(g.t, err)
	for _, definition := range definitions {
		file.Definitions = append(file.Definitions, definition.GetName())
	}
	slices.Sort(file.Definitions)
	return file
}

// write replaces everything, and removes what no case has any more.
func (g *golden) write(file matrixFile) {
	require.NoError(g.t, os.RemoveAll(objectsFolder))
	require.NoError(g.t, os.MkdirAll(objectsFolder, 0o750))
	for name, content := range g.contents {
		require.NoError(g.t, os.WriteFile(filepath.Join(objectsFolder, name), []byte(content), 0o600))
	}
	require.NoError(g.t, os.WriteFile(casesFile, []byte(file.yaml()), 0o600))
}

// yaml writes a list of files once, and refers to it where it occurs again: most cases differ in a few objects alone, and many in
// none.
func (f matrixFile) yaml() string {
	text := &strings.Builder{}
	list := func(indent string, names []string) {
		for _, name := range names {
			fmt.Fprintf(text, "%s- %s\n", indent, name)
		}
	}
	text.WriteString("definitions:\n")
	list("", f.Definitions)
	text.WriteString("always:\n")
	list("", f.Always)
	text.WriteString("cases:\n")
	known := map[string]int{}
	for _, sentence := range slices.Sorted(maps.Keys(f.Cases)) {
		entry := f.Cases[sentence]
		fmt.Fprintf(text, "  %q:\n", sentence)
		if entry.Refused != "" {
			fmt.Fprintf(text, "    refused: %q\n", entry.Refused)
			continue
		}
		key := strings.Join(entry.Objects, " ")
		if key == "" {
			text.WriteString("    objects: []\n")
			continue
		}
		if number, ok := known[key]; ok {
			fmt.Fprintf(text, "    objects: *s%d\n", number)
			continue
		}
		known[key] = len(known) + 1
		fmt.Fprintf(text, "    objects: &s%d\n", known[key])
		list("    ", entry.Objects)
	}
	return text.String()
}

// The matrix of what users can combine renders what testdata/matrix says; -update accepts what it renders now.
func TestMatrix(t *testing.T) {
	g := &golden{t: t, names: map[string]string{}, contents: map[string]string{}}
	file := g.collect(matrix(t))
	if *update {
		g.write(file)
	}
	raw, err := os.ReadFile(casesFile)
	require.NoError(t, err)
	var want matrixFile
	require.NoError(t, yaml.UnmarshalStrict(raw, &want))

	stored := map[string]string{}
	entries, err := os.ReadDir(objectsFolder)
	require.NoError(t, err)
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(objectsFolder, entry.Name()))
		require.NoError(t, err)
		stored[entry.Name()] = string(content)
	}
	for name := range g.contents {
		assert.NotEmpty(t, stored[name], "object %s is new, -update accepts it", name)
	}
	for name := range stored {
		assert.NotEmpty(t, g.contents[name], "object %s is no more, -update accepts that", name)
	}
	for name, content := range g.contents {
		if stored[name] != "" {
			assert.Equal(t, stored[name], content, name)
		}
	}
	if difference := cmp.Diff(want, file, cmpopts.EquateEmpty()); difference != "" {
		t.Errorf("the cases differ, -update accepts them:\n%.1500s", difference)
	}
}
