package tuning

import (
	"fmt"
	"strings"
)

// assignment is an assignment in a systemd unit file (systemd.syntax(7)), with its position in the file's text.
type assignment struct {
	section, key string
	// start is where the line starts. valueStart and valueEnd enclose all after the equals sign, including continuation lines, without the last line break.
	start, valueStart, valueEnd int
}

// readUnit finds the assignments of a unit file.
func readUnit(text string) ([]assignment, error) {
	var (
		assignments []assignment
		section     string
	)
	for start, number := 0, 1; start < len(text); {
		line := lineAt(text, start)
		end := start + len(line)
		switch trimmed := strings.TrimSpace(line); {
		case trimmed == "" || isComment(trimmed):
		case strings.HasPrefix(trimmed, "[") && strings.HasSuffix(trimmed, "]"):
			section = trimmed[1 : len(trimmed)-1]
		default:
			key, _, found := strings.Cut(line, "=")
			if !found || section == "" {
				return nil, fmt.Errorf("line %d of the unit is neither a section nor an assignment in one", number)
			}
			end = endOfValue(text, start)
			assignments = append(assignments, assignment{
				section: section, key: strings.TrimSpace(key), start: start, valueStart: start + len(key) + 1, valueEnd: end,
			})
		}
		number += strings.Count(text[start:end], "\n") + 1
		start = end + 1
	}
	return assignments, nil
}

// lineAt returns the line that starts at a position, without its line break.
func lineAt(text string, start int) string {
	line, _, _ := strings.Cut(text[start:], "\n")
	return line
}

// endOfValue returns the end of the line that starts at a position, with its continuation lines. Comments between these do not end it.
func endOfValue(text string, start int) int {
	for continued := false; ; {
		line := lineAt(text, start)
		end := start + len(line)
		if !continued || !isComment(strings.TrimSpace(line)) {
			continued = strings.HasSuffix(line, `\`)
		}
		if !continued || end == len(text) {
			return end
		}
		start = end + 1
	}
}

func isComment(trimmed string) bool {
	return strings.HasPrefix(trimmed, "#") || strings.HasPrefix(trimmed, ";")
}
