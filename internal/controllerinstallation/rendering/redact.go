package rendering

import "strings"

const (
	redacted = "[from a resource]"
	// leastRedacted is the length of what is worth hiding: a shorter text is part of many words.
	leastRedacted = 4
)

// redact takes what was read from Secrets and ConfigMaps out of a message, which everybody may read who sees a status. Templates and parsers of their
// output quote what they stumble over, line by line.
func redact(message string, resources map[string]any) string {
	for _, resource := range resources {
		fields, _ := resource.(map[string]any)
		data, _ := fields["data"].(map[string]any)
		for _, value := range data {
			text, _ := value.(string)
			for line := range strings.Lines(text) {
				line = strings.Join(strings.Fields(line), " ")
				// YAML reads such letters at an end as something else than text, and quotes the rest.
				for _, quoted := range []string{line, strings.Trim(line, "*&!|>'\"%@`[]{}#,:?-")} {
					if len(quoted) >= leastRedacted {
						message = strings.ReplaceAll(message, quoted, redacted)
					}
				}
			}
		}
	}
	return message
}
