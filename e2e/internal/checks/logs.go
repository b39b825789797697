package checks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// klogError matches lines of klog with the levels error and fatal, such as "E1129 09:30:01.000000       1 controller.go:1] ...".
var klogError = regexp.MustCompile(`^[EF]\d{4} \d\d:\d\d:\d\d`)

// Logs reads the logs of pods, each line once.
type Logs struct {
	// Dir has the logs as <namespace>/<pod>/<container>.log.
	Dir string
	// IsOurs says whose logs count.
	IsOurs func(namespace, pod, container string) bool

	offsets map[string]int64
}

// Errors returns the lines since the last call with the level error, each after its container.
func (l *Logs) Errors() ([]string, error) {
	if l.offsets == nil {
		l.offsets = map[string]int64{}
	}
	var lines []string
	err := filepath.WalkDir(l.Dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			if errors.Is(err, fs.ErrNotExist) {
				return nil // a pod is gone meanwhile
			}
			return err
		}
		relative, err := filepath.Rel(l.Dir, path)
		if err != nil {
			return err
		}
		parts := strings.Split(relative, string(filepath.Separator))
		container, isLog := strings.CutSuffix(parts[len(parts)-1], ".log")
		if !isLog || len(parts) != 3 || !l.IsOurs(parts[0], parts[1], container) {
			return nil
		}
		found, next, err := errorLines(path, l.offsets[path])
		l.offsets[path] = next
		for _, line := range found {
			lines = append(lines, fmt.Sprintf("%s/%s: %s", parts[0], container, line))
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the logs of pods: %w", err)
	}
	return compact(lines), nil
}

// errorLines returns the error lines of a file from an offset on, and where to go on: after the last whole line.
func errorLines(path string, offset int64) (found []string, next int64, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, offset, err
	}
	defer func() { _ = file.Close() }()
	if _, err := file.Seek(offset, io.SeekStart); err != nil {
		return nil, offset, err
	}
	content, err := io.ReadAll(file)
	if err != nil {
		return nil, offset, err
	}
	for line := range bytes.Lines(content) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break // still being written
		}
		offset += int64(len(line))
		if text := strings.TrimSpace(string(line)); isError(text) {
			found = append(found, text)
		}
	}
	return found, offset, nil
}

// isError reports whether a line has the level error: a JSON object of our controllers, a line of klog, or the trace of a panic.
func isError(line string) bool {
	if strings.HasPrefix(line, "{") {
		var entry struct {
			Level string `json:"level"`
		}
		return json.Unmarshal([]byte(line), &entry) == nil && slices.Contains([]string{"error", "dpanic", "panic", "fatal"}, entry.Level)
	}
	return klogError.MatchString(line) || strings.HasPrefix(line, "panic:") || strings.HasPrefix(line, "fatal error:")
}

// compact keeps the first of lines that are the same but for their times.
func compact(lines []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(lines, func(line string) bool {
		key := times.ReplaceAllString(line, "")
		known := seen[key]
		seen[key] = true
		return known
	})
}

// times are parts of lines that differ in each: times, and IDs of requests.
var times = regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:.]+Z?|\d\d:\d\d:\d\d[.\d]*|"(ts|reconcileID)":"[^"]*",?`)
