package architecture

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// wordFinder finds retired words in identifiers and sentences.
type wordFinder struct {
	wordBoundary, word *regexp.Regexp
	retired            map[string]bool
}

// newWordFinder knows the words that were names once and that only readers of this repository understood. Each has a successor in the field's own
// terms, e.g. action for deed, field error for mistake and validation for judging.
func newWordFinder() wordFinder {
	finder := wordFinder{
		wordBoundary: regexp.MustCompile(`(\p{Lu}+)(\p{Lu}\p{Ll})`),
		word:         regexp.MustCompile(`\p{Lu}?\p{Ll}+|\p{Lu}+`),
		retired:      map[string]bool{},
	}
	for _, word := range []string{
		"ailment", "asleep", "barn", "deed", "deeds", "doomed", "doubt", "doubts", "exhibit", "forsaken", "gathering", "judge", "judged", "judges",
		"judging", "ledger", "loom", "looker", "mistake", "mistakes", "mourn", "paced", "patience", "remark", "remarks", "rig", "ripe", "sequel",
		"stratus", "surroundings", "toy", "verdict", "verdicts", "weft",
	} {
		finder.retired[word] = true
	}
	return finder
}

// retiredIn splits an identifier or a sentence into its words, and returns the retired ones in lower case.
func (f wordFinder) retiredIn(text string) []string {
	var found []string
	for _, word := range f.word.FindAllString(f.wordBoundary.ReplaceAllString(text, "$1 $2"), -1) {
		if word = strings.ToLower(word); f.retired[word] {
			found = append(found, word)
		}
	}
	return found
}

// isTermOf reports whether a retired word is the term of a field that a file is about: nftables has verdicts, and maps of them.
func isTermOf(file, word string) bool {
	return strings.HasPrefix(word, "verdict") && strings.Contains(filepath.ToSlash(file), "internal/gardenet/")
}

func TestSources_NoRetiredWords(t *testing.T) {
	finder, texts := newWordFinder(), 0
	for _, s := range readSources(t) {
		if filepath.Base(s.name) == "retired_words_test.go" {
			continue
		}
		check := func(node ast.Node, text string) {
			texts++
			for _, word := range finder.retiredIn(text) {
				if isTermOf(s.name, word) {
					continue
				}
				t.Errorf("%s: %s: the word %q is retired", s.place(node), text, word)
			}
		}
		for _, group := range s.file.Comments {
			check(group, group.Text())
		}
		ast.Inspect(s.file, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.Ident:
				check(node, node.Name)
			case *ast.BasicLit:
				if node.Kind == token.STRING {
					check(node, node.Value)
				}
			}
			return true
		})
	}
	assert.Greater(t, texts, 100_000, "identifiers, texts and comments are read")
}

// The list of changes has former names.
func TestDocuments_NoRetiredWords(t *testing.T) {
	finder, documents := newWordFinder(), markdownFiles(t)
	assert.Greater(t, len(documents), 30)
	for _, document := range documents {
		if filepath.Base(document) == "CHANGELOG.md" {
			continue
		}
		content, err := os.ReadFile(filepath.Join(root, document))
		require.NoError(t, err)
		for number, line := range strings.Split(string(content), "\n") {
			for _, word := range finder.retiredIn(line) {
				t.Errorf("%s:%d: the word %q is retired", document, number+1, word)
			}
		}
	}
}

func TestWordFinder_RetiredIn(t *testing.T) {
	finder := newWordFinder()
	tests := map[string][]string{
		"deed":                   {"deed"},
		"deedTaken":              {"deed"},
		"IsDeed":                 {"deed"},
		"HTTPDeed":               {"deed"},
		"last_deed":              {"deed"},
		"indeed":                 nil,
		"TestJudge_Deeds":        {"judge", "deeds"},
		`"Refused, 2 mistakes."`: {"mistakes"},
		"rightsOf":               nil,
		"Trigger":                nil,
	}
	for text, want := range tests {
		t.Run(text, func(t *testing.T) {
			assert.ElementsMatch(t, want, finder.retiredIn(text))
		})
	}
}
