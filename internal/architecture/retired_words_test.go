package architecture

import (
	"go/ast"
	"go/token"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
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
		"ailment", "asleep", "barn", "deed", "deeds", "doomed", "doubt", "doubts", "exhibit", "forsaken", "gathering", "judge", "judging", "ledger",
		"loom", "looker", "mistake", "mistakes", "mourn", "paced", "patience", "remark", "remarks", "rig", "ripe", "sequel", "stratus", "surroundings",
		"toy", "verdict", "weft",
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

func TestIdentifiers_NoRetiredWords(t *testing.T) {
	finder := newWordFinder()
	for _, s := range readSources(t) {
		ast.Inspect(s.file, func(node ast.Node) bool {
			if identifier, ok := node.(*ast.Ident); ok {
				for _, word := range finder.retiredIn(identifier.Name) {
					t.Errorf("%s: %s: the word %q is retired", s.place(node), identifier.Name, word)
				}
			}
			return true
		})
	}
}

func TestLogMessages_NoRetiredWords(t *testing.T) {
	finder, found := newWordFinder(), 0
	for _, s := range readSources(t) {
		if s.isTest() {
			continue
		}
		ast.Inspect(s.file, func(node ast.Node) bool {
			if call, ok := node.(*ast.CallExpr); ok {
				for _, text := range logTexts(call) {
					found++
					for _, word := range finder.retiredIn(text) {
						t.Errorf("%s: %s: the word %q is retired", s.place(node), text, word)
					}
				}
			}
			return true
		})
	}
	assert.Greater(t, found, 50, "messages and keys of logs are recognized")
}

// logTexts returns the message and the keys of a call of logr.Logger's Info or Error.
func logTexts(call *ast.CallExpr) []string {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || method.Sel.Name != "Info" && method.Sel.Name != "Error" {
		return nil
	}
	var texts []string
	for _, argument := range call.Args {
		if literal, ok := argument.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			texts = append(texts, literal.Value)
		}
	}
	return texts
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
