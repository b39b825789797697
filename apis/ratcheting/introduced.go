// Package ratcheting separates the errors that a change introduces from existing ones. Rules become stricter, and the data that they compare
// with changes: an object that was valid before must remain changeable in all other fields, not least by Gardener itself.
//
// It must not know the validated types.
package ratcheting

import (
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Introduced returns the errors of after that are not in before: both are the results of the same rules, in the same context, for the old and the
// new object. Two errors are equal if field, value and text are equal. List indices are ignored, since users insert new entries before old ones; so
// are values of other fields in the text, since those may change.
func Introduced(before, after field.ErrorList) field.ErrorList {
	patterns := newValuePatterns()
	return introduced(before, after, func(err *field.Error) string {
		plain := *err
		plain.Detail = patterns.removeFrom(err)
		return plain.Error()
	})
}

// IntroducedWarnings is Introduced for warnings.
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

// valuePatterns matches the values in the text of an error: in parentheses those of other fields; in quotes those of other fields, or the allowed
// values.
type valuePatterns struct{ inBrackets, inQuotes *regexp.Regexp }

func newValuePatterns() valuePatterns {
	const quoted = `"(?:[^"\\]|\\.)*"`
	return valuePatterns{inBrackets: regexp.MustCompile(`\([^()]*\)`), inQuotes: regexp.MustCompile(quoted + `(?:, ` + quoted + `)*`)}
}

// removeFrom keeps quotes if the error does not contain the value of its own field: then only the text identifies the error, such as the name of an
// unknown field.
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

// withoutPositions removes [0], [1] and so on from a text.
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
