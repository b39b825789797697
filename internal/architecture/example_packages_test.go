package architecture

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// isExample reports whether a package of ours belongs to the example cloud or plugin, by its folders.
func isExample(path string) bool {
	return matches(ourPath+"/...", path) && slices.ContainsFunc(strings.Split(path, "/"), func(folder string) bool {
		return folder == "example" || folder == "examplenet"
	})
}

// exampleUses returns a sentence for each binary that links an example.
func exampleUses(packages graph) []string {
	var found []string
	for _, path := range packages.ours() {
		if !matches(ourPath+"/cmd/...", path) {
			continue
		}
		for _, linked := range packages[path].Deps {
			if isExample(linked) {
				found = append(found, fmt.Sprintf("%s links %s, which is for tests and docs", path, linked))
			}
		}
	}
	return found
}

func TestExamples_NotInBinaries(t *testing.T) {
	packages := loadGraph(t, ".", "./cmd/...", "./internal/...")
	require.True(t, slices.ContainsFunc(packages.ours(), isExample), "there are examples")
	assert.Empty(t, exampleUses(packages))
}

func TestExampleUses(t *testing.T) {
	for sentence, test := range map[string]struct {
		path, imported string
		want           int
	}{
		"a binary that links the example driver":   {"cmd/infrastructure-controller", ourPath + "/internal/infrastructure/example", 1},
		"a binary that links the fake cloud":       {"cmd/infrastructure-controller", ourPath + "/internal/cloud/example/fake", 1},
		"a binary that links the example plugin":   {"cmd/network-controller", ourPath + "/internal/network/examplenet", 1},
		"a binary that links its contract":         {"cmd/infrastructure-controller", ourPath + "/internal/infrastructure", 0},
		"a package of others with the same name":   {"cmd/infrastructure-controller", "github.com/others/example", 0},
		"another package that uses the fake cloud": {"internal/infrastructure/example", ourPath + "/internal/cloud/example", 0},
	} {
		t.Run(sentence, func(t *testing.T) {
			assert.Len(t, exampleUses(exampleGraph(ourPath+"/"+test.path, test.imported, ourPath)), test.want)
		})
	}
}
