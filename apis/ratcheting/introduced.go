// Package ratcheting tells the mistakes that a change brings in from those that were there before. Rules become stricter, and what they compare
// with changes, while objects live on: who came to a mistake when it was none shall be able to change everything else, not least by
// Gardener itself.
//
// It must not know what the mistakes are about.
package ratcheting

import (
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Introduced returns the mistakes of after that are not in before: both are the answers of the same rules, in the same surroundings, about an object
// as it was and as it is to be. A mistake is the same when it is about the same field and value, in the same words. Positions in lists do not
// count, since people put new entries in front of old ones; nor do values of other fields that the words mention, since those may change.
func Introduced(before, after field.ErrorList) field.ErrorList {
	patterns := newValuePatterns()
	return introduced(before, after, func(err *field.Error) string {
		plain := *err
		plain.Detail = patterns.removeFrom(err)
		return plain.Error()
	})
}

// IntroducedWarnings is Introduced for sentences.
func IntroducedWarnings(before, after []string) []string {
	return introduced(before, after, func(warning string) string { return warning })
}

func introduced[Message any](before, after []Message, textOf func(Message) string) []Message {
	known := map[string]int{}
	for _, message := range before {
		known[withoutPositions(textOf(message))]++
	}
	var left []Message
	for _, message := range after {
		if text := withoutPositions(textOf(message)); known[text] > 0 {
			known[text]--
		} else {
			left = append(left, message)
		}
	}
	return left
}

// valuePatterns finds the values in the words of an error: in brackets those of other fields; in quotes those of other fields, or what may be chosen.
type valuePatterns struct{ inBrackets, inQuotes *regexp.Regexp }

func newValuePatterns() valuePatterns {
	const quoted = `"(?:[^"\\]|\\.)*"`
	return valuePatterns{inBrackets: regexp.MustCompile(`\([^()]*\)`), inQuotes: regexp.MustCompile(quoted + `(?:, ` + quoted + `)*`)}
}

// removeFrom leaves quotes where the error shows no value of its own field: then the words alone say what is meant, such as the name of an unknown field.
func (m valuePatterns) removeFrom(err *field.Error) string {
	detail := m.inBrackets.ReplaceAllLiteralString(err.Detail, "()")
	if showsValue(err) {
		detail = m.inQuotes.ReplaceAllLiteralString(detail, `""`)
	}
	return detail
}

func showsValue(err *field.Error) bool {
	switch err.Type {
	case field.ErrorTypeInvalid, field.ErrorTypeNotSupported, field.ErrorTypeNotFound, field.ErrorTypeDuplicate, field.ErrorTypeTypeInvalid:
		return err.BadValue != nil && err.BadValue != "" && err.BadValue != field.OmitValueType{}
	default:
		return false
	}
}

// withoutPositions takes [0], [1] and so on out of a text.
func withoutPositions(text string) string {
	var rest strings.Builder
	for {
		before, behind, found := strings.Cut(text, "[")
		rest.WriteString(before)
		if !found {
			return rest.String()
		}
		text = strings.TrimLeft(behind, "0123456789")
		if len(text) < len(behind) && strings.HasPrefix(text, "]") {
			text = text[1:]
			continue
		}
		rest.WriteString("[")
		text = behind
	}
}
