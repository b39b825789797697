package architecture

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// retiredWords were names once that only readers of this repository understood. Each has a successor in the field's own terms, e.g. action
// for deed, field error for mistake and validation for judging.
func retiredWords() []string {
	return []string{
		"ailment", "asleep", "barn", "deed", "deeds", "doomed", "doubt", "doubts", "exhibit", "forsaken", "gathering", "judge", "judging", "ledger",
		"loom", "looker", "mistake", "mistakes", "mourn", "paced", "patience", "remark", "remarks", "rig", "ripe", "sequel", "stratus", "surroundings",
		"toy", "verdict", "weft",
	}
}

// wordsOf splits an identifier or a sentence into its words, in lower case.
func wordsOf(text string) []string {
	apart := regexp.MustCompile(`(\p{Lu}+)(\p{Lu}\p{Ll})`).ReplaceAllString(text, "$1 $2")
	words := regexp.MustCompile(`\p{Lu}?\p{Ll}+|\p{Lu}+`).FindAllString(apart, -1)
	for i, word := range words {
		words[i] = strings.ToLower(word)
	}
	return words
}

func retiredIn(text string) []string {
	return slices.DeleteFunc(wordsOf(text), func(word string) bool { return !slices.Contains(retiredWords(), word) })
}

func TestIdentifiers_NoRetiredWords(t *testing.T) {
	for _, s := range readSources(t) {
		ast.Inspect(s.file, func(node ast.Node) bool {
			if identifier, ok := node.(*ast.Ident); ok {
				for _, word := range retiredIn(identifier.Name) {
					t.Errorf("%s: %s: the word %q is retired", s.place(node), identifier.Name, word)
				}
			}
			return true
		})
	}
}

func TestLogMessages_NoRetiredWords(t *testing.T) {
	found := 0
	for _, s := range readSources(t) {
		if s.isTest() {
			continue
		}
		ast.Inspect(s.file, func(node ast.Node) bool {
			if call, ok := node.(*ast.CallExpr); ok {
				for _, text := range logTexts(call) {
					found++
					for _, word := range retiredIn(text) {
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

func TestRetiredIn(t *testing.T) {
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
			assert.ElementsMatch(t, want, retiredIn(text))
		})
	}
}
