package controller

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// Errors returns the errors that controllers have logged into a file, without lines that contain one of the expected texts. A reconciliation that
// fails and is retried successfully is a defect, too, that nothing else shows. Requests that a shutdown canceled are no errors.
func Errors(output string, expected ...string) ([]string, error) {
	content, err := os.ReadFile(output)
	if err != nil {
		return nil, fmt.Errorf("reading the log of a controller: %w", err)
	}
	var lines []string
	stopping := false
	for line := range strings.Lines(string(content)) {
		switch {
		case strings.Contains(line, "Stopping and waiting for"): // controller-runtime's words; files are appended to by the next process
			stopping = true
		case strings.Contains(line, "Starting EventSource"):
			stopping = false
		}
		isExpected := slices.ContainsFunc(expected, func(text string) bool { return strings.Contains(line, text) })
		isCanceled := stopping && strings.Contains(line, "context canceled")
		if isError(line) && !isExpected && !isCanceled {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines, nil
}

// isError knows both formats of our logs. Lines in neither are printed by a program that crashes.
func isError(line string) bool {
	if strings.HasPrefix(line, "{") {
		return strings.HasPrefix(line, `{"level":"error"`)
	}
	_, rest, isText := strings.Cut(line, "\t")
	return isText && strings.HasPrefix(rest, "ERROR\t") || strings.HasPrefix(line, "panic:") || strings.HasPrefix(line, "fatal error:")
}
