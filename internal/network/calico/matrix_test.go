package calico

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/golden"
)

// TestMatrix renders what users can combine. testdata/matrix/cases.yaml lists the manifests of each shoot, in the folder manifests next to it;
// shoots with the same objects share one. The first is whole, the others are diffs against the nearest before them. Other modules read these files, to
// validate the objects with a real kube-apiserver and with Calico's own code.
func TestMatrix(t *testing.T) {
	manifests := golden.Open(t, "testdata/matrix/manifests")
	cases := &strings.Builder{}
	cases.WriteString("definitions: # the names of the custom resource definitions; Multus adds its own\n")
	for _, name := range definitionNames(t) {
		fmt.Fprintf(cases, "- %s\n", name)
	}
	cases.WriteString("cases:\n")
	files, seen := map[string]string{}, map[string]bool{}
	for _, each := range matrix(t) {
		require.False(t, seen[each.sentence], each.sentence)
		seen[each.sentence] = true
		if refused := refusal(each.shoot); refused != "" {
			fmt.Fprintf(cases, "  %q: {refused: %q}\n", each.sentence, refused)
			continue
		}
		decided, err := decide(each.shoot)
		require.NoError(t, err, each.sentence)
		objects, err := decided.settings.componentObjects()
		require.NoError(t, err, each.sentence)
		text := golden.Manifest(t, objects)
		if files[text] == "" {
			if name := fileName(each.sentence); len(files) == 0 {
				files[text] = name + ".yaml"
				manifests.Check(t, files[text], text)
			} else {
				files[text] = name + ".diff"
				manifests.CheckNearest(t, files[text], text)
			}
		}
		fmt.Fprintf(cases, "  %q: {manifests: [%s]}\n", each.sentence, files[text])
	}
	golden.Check(t, "testdata/matrix/cases.yaml", cases.String())
}

// fileName returns a sentence as the name of a file.
func fileName(sentence string) string {
	return strings.Trim(regexp.MustCompile(`[^a-z0-9.]+`).ReplaceAllString(strings.ToLower(sentence), "-"), "-")
}

func definitionNames(t *testing.T) []string {
	t.Helper()
	definitions, err := New().definitionsFor(&settings{config: defaultConfig(t)})
	require.NoError(t, err)
	var names []string
	for _, definition := range definitions {
		names = append(names, definition.GetName())
	}
	slices.Sort(names)
	return names
}
