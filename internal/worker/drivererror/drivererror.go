// Package drivererror reads the errors of machine drivers that machine-controller-manager writes into Machines. It knows texts, and neither Machines
// nor drivers.
package drivererror

import (
	"strings"

	"github.com/trellis-garden/trellis/internal/truncate"
)

// Parse extracts code and message from machine-controller-manager's format "... code = [X] message = [Y] ...". A text in another format has no code
// and is the message. The message is one line of at most limit bytes.
func Parse(description string, limit int) (code, message string) {
	_, rest, hasCode := strings.Cut(description, "machine codes error: code = [")
	code, rest, hasEnd := strings.Cut(rest, "] message = [")
	if !hasCode || !hasEnd {
		return "", truncate.Line(strings.TrimPrefix(description, "Cloud provider message - "), limit)
	}
	open := 1
	for i, r := range rest {
		switch r {
		case '[':
			open++
		case ']':
			open--
		}
		if open == 0 {
			return code, truncate.Line(rest[:i], limit)
		}
	}
	return code, truncate.Line(rest, limit)
}
