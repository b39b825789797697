// Package truncate makes texts that others wrote, such as a cloud's error or the status of a workload, fit for a status, an Event or a log line.
// It knows nothing of where a text comes from or where it goes.
package truncate

import (
	"strings"
	"unicode"
)

const (
	// MaxExternal is the length in bytes to which a text from outside is cut where it is read: an answer of a cloud, a status of a workload.
	MaxExternal = 1 << 10
	// MaxEvent is the length in bytes of an Event's note. The API server refuses notes of more than 1,024 bytes.
	MaxEvent = 1000
	// MaxStatus is the length in bytes of a text in the status of an object, however many foreign texts it is composed of.
	MaxStatus = 4 << 10
)

// ellipsis ends a text that was cut.
const ellipsis = " ..."

// Text returns the text as valid UTF-8 without control characters, cut to at most limit bytes. A text that was cut ends with " ...", which counts.
// Line feeds and tabs stay; other control characters, among them terminal escapes and the marks that reorder text, become spaces.
func Text(text string, limit int) string {
	cut := len(text) > limit
	if cut {
		text = text[:max(limit-len(ellipsis), 0)]
	}
	text = strings.Map(printable, strings.ToValidUTF8(text, ""))
	if cut {
		return text + ellipsis
	}
	return text
}

// Line returns the text as Text does, on one line: white space of any kind and length becomes one space.
func Line(text string, limit int) string {
	// What lies far behind the limit is not looked at: a foreign text may have megabytes.
	const widest = 4
	if len(text) > widest*limit {
		text = text[:widest*limit]
	}
	return Text(strings.Join(strings.Fields(text), " "), limit)
}

func printable(r rune) rune {
	switch {
	case r == '\n' || r == '\t':
		return r
	case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
		return ' '
	default:
		return r
	}
}
