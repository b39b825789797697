package chart

import "strings"

// A message has to be of use to somebody who reads a condition, and a template may put anything into it. The beginning says where, the end what.
const (
	maxMessage = 1600
	maxEnd     = 400
)

// templateError cuts off what Helm says around "template:line:column: reason", and brings into one line what it says in several.
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

// Short leaves out the middle of a message that is too long for a condition.
func Short(message string) string {
	runes := []rune(message)
	if len(runes) <= maxMessage {
		return message
	}
	return string(runes[:maxMessage-maxEnd]) + " ... " + string(runes[len(runes)-maxEnd:])
}
