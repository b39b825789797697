package chart

import "strings"

// Limits of a message for a condition. A template may put any text into it. Its beginning has the place, its end the cause.
const (
	maxMessage = 1600
	maxEnd     = 400
)

// templateError extracts "template:line:column: reason" from an error of Helm, in one line.
func templateError(err error) string {
	text := err.Error()
	for _, before := range []string{"execution error at (", "parse error at ("} {
		if rest, cut := strings.CutPrefix(text, before); cut {
			return strings.Replace(oneLine(rest), "): ", ": ", 1)
		}
	}
	var parts []string
	for line := range strings.Lines(strings.TrimPrefix(text, "template: ")) {
		if line = strings.TrimSuffix(strings.TrimSpace(line), ":"); line != "" {
			parts = append(parts, line)
		}
	}
	return oneLine(strings.Join(parts, ": "))
}

func oneLine(text string) string {
	return strings.Join(strings.Fields(text), " ")
}

// Short removes the middle of a message that is too long for a condition.
func Short(message string) string {
	runes := []rune(message)
	if len(runes) <= maxMessage {
		return message
	}
	return string(runes[:maxMessage-maxEnd]) + " ... " + string(runes[len(runes)-maxEnd:])
}
