package conformance

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A record is a text file: for each behaviour its sentence after ##, then for each exchange the request and the status after
// an arrow, then its facts, indented.
const (
	headingMark     = "## "
	statusMark      = " → "
	attributeIndent = "  "
	attributeMark   = " = "
)

// WriteRecords writes the exchanges of each area whose behaviours have all passed to a file of its own, and removes the files
// of areas that do not exist any more. The source says which cloud it was.
func WriteRecords(folder, source string, results []Result) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if err := removeUnknown(folder); err != nil {
		return err
	}
	for _, area := range Areas() {
		of := slices.DeleteFunc(slices.Clone(results), func(r Result) bool { return r.Area != area.Name })
		if len(of) != len(area.Behaviours) || slices.ContainsFunc(of, func(r Result) bool { return !r.Passed }) {
			continue
		}
		var content strings.Builder
		fmt.Fprintf(&content, "# What %s answered: %s. Written by make e2e-openstack, not by hand.\n", source, area.Name)
		for _, result := range of {
			writeRecord(&content, result)
		}
		if err := os.WriteFile(fileOf(folder, area.Name), []byte(content.String()), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func fileOf(folder, area string) string {
	return filepath.Join(folder, strings.ReplaceAll(area, " ", "-")+".txt")
}

func removeUnknown(folder string) error {
	files, err := filepath.Glob(filepath.Join(folder, "*.txt"))
	if err != nil {
		return err
	}
	for _, path := range files {
		if slices.ContainsFunc(Areas(), func(a Area) bool { return fileOf(folder, a.Name) == path }) {
			continue
		}
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return nil
}

func writeRecord(file *strings.Builder, result Result) {
	fmt.Fprintf(file, "\n%s%s\n", headingMark, result.Name)
	for _, exchange := range result.Exchanges {
		fmt.Fprintf(file, "%s%s%d\n", exchange.Request, statusMark, exchange.Status)
		for _, path := range slices.Sorted(maps.Keys(exchange.Attributes)) {
			fmt.Fprintf(file, "%s%s%s%s\n", attributeIndent, path, attributeMark, exchange.Attributes[path])
		}
	}
}

// ReadRecords reads the exchanges of every behaviour, by its sentence. A folder that does not exist holds none.
func ReadRecords(folder string) (map[string][]Exchange, error) {
	records := map[string][]Exchange{}
	files, err := filepath.Glob(filepath.Join(folder, "*.txt"))
	if err != nil {
		return nil, err
	}
	for _, path := range files {
		if err := readRecord(path, records); err != nil {
			return nil, fmt.Errorf("reading %s: %w", path, err)
		}
	}
	return records, nil
}

func readRecord(path string, into map[string][]Exchange) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	name, number := "", 0
	for line := range strings.Lines(string(content)) {
		line, number = strings.TrimSuffix(line, "\n"), number+1
		exchanges := into[name]
		switch {
		case line == "" || strings.HasPrefix(line, "# "):
		case strings.HasPrefix(line, headingMark):
			name = strings.TrimPrefix(line, headingMark)
			into[name] = nil
		case strings.HasPrefix(line, attributeIndent) && len(exchanges) > 0:
			path, value, _ := strings.Cut(strings.TrimPrefix(line, attributeIndent), attributeMark)
			exchanges[len(exchanges)-1].Attributes[path] = value
		default:
			request, status, _ := strings.Cut(line, statusMark)
			code, err := strconv.Atoi(status)
			if err != nil {
				return fmt.Errorf("line %d is no request with a status: %s", number, line)
			}
			into[name] = append(exchanges, Exchange{Request: request, Status: code, Attributes: map[string]string{}})
		}
	}
	return nil
}
