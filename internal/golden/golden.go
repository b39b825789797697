// Package golden compares what code renders with files under testdata. The flag -update of a test writes the files instead; review them with
// git diff -I'^@@', which hides hunks that only moved.
//
// A golden file is a whole text, or, if its name ends in .diff, a unified diff against another golden file of its folder, which is named in the
// diff's first line. Many variants of one text are then as long as what they differ in.
//
// The package is for tests, and knows nothing of what they render.
package golden

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

const diffExtension = ".diff"

var update = flag.Bool("update", false, "write golden files instead of comparing with them") //nolint:gochecknoglobals // flags of tests are global

// Update reports whether golden files are to be written.
func Update() bool { return *update }

// Check compares a text with a golden file.
func Check(t testing.TB, file, got string) {
	t.Helper()
	if *update {
		write(t, file, got)
	}
	compare(t, file, got)
}

// CheckDiff compares a text with a golden file that is a diff against another file of its folder. That file must be up to date.
func CheckDiff(t testing.TB, file, base, got string) {
	t.Helper()
	if *update {
		writeDiff(t, file, base, got)
	}
	compareDiff(t, file, base, got)
}

// CheckYAML compares a YAML document with a golden file, whatever the order of the keys in both. The YAML encoder has no stable order of keys
// such as secret-3055c21f and secret-389fbba5. A file that differs in the order alone is not written anew.
func CheckYAML(t testing.TB, file, got string) {
	t.Helper()
	want, err := Read(file)
	if err == nil && equalYAML(want, got) {
		return
	}
	Check(t, file, got)
}

func equalYAML(one, other string) bool {
	var first, second any
	return yaml.Unmarshal([]byte(one), &first) == nil && yaml.Unmarshal([]byte(other), &second) == nil && reflect.DeepEqual(first, second)
}

// Manifest returns objects as YAML documents in one text.
func Manifest[T any](t testing.TB, objects []T) string {
	t.Helper()
	documents := make([]string, 0, len(objects))
	for _, object := range objects {
		document, err := yaml.Marshal(object)
		require.NoError(t, err)
		documents = append(documents, string(document))
	}
	return strings.Join(documents, documentSeparator)
}

// Read returns the text that a golden file stands for.
func Read(file string) (string, error) {
	content, err := os.ReadFile(file)
	if err != nil || filepath.Ext(file) != diffExtension {
		return string(content), err
	}
	diff, err := parse(string(content))
	if err != nil {
		return "", fmt.Errorf("parsing %s: %w", file, err)
	}
	base, err := Read(filepath.Join(filepath.Dir(file), filepath.FromSlash(diff.base)))
	if err != nil {
		return "", fmt.Errorf("reading the base of %s: %w", file, err)
	}
	text, err := diff.apply(base)
	if err != nil {
		return "", fmt.Errorf("applying %s: %w", file, err)
	}
	return text, nil
}

func compare(t testing.TB, file, got string) {
	t.Helper()
	want, err := Read(file)
	require.NoError(t, err, "-update writes golden files")
	if want != got {
		t.Errorf("%s is out of date, -update writes it (- golden file, + rendered):\n%s", file, hunksOf(want, got))
	}
}

func compareDiff(t testing.TB, file, base, got string) {
	t.Helper()
	if stored := baseOf(file); stored != base {
		t.Errorf("%s is a diff against %q instead of %q, -update writes it", file, stored, base)
	}
	compare(t, file, got)
}

func write(t testing.TB, file, content string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o750))
	require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
}

func writeDiff(t testing.TB, file, base, got string) {
	t.Helper()
	text, err := Read(filepath.Join(filepath.Dir(file), base))
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(text, "\n") && strings.HasSuffix(got, "\n"), "%s: texts with a diff must end in a newline", file)
	write(t, file, fmt.Sprintf("--- %s\n+++ %s\n%s", base, filepath.Base(file), hunksOf(text, got)))
}

// baseOf returns the name of the file that a diff is against, and "" if there is no such diff.
func baseOf(file string) string {
	content, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	diff, err := parse(string(content))
	if err != nil {
		return ""
	}
	return diff.base
}

// Folder is a folder with the golden files of one test. A file that the test does not check fails it, and -update removes that file. It is not
// safe for concurrent use.
type Folder struct {
	path    string
	checked []string
	// texts and bases are by file.
	texts, bases map[string]string
}

// Open returns a folder. Files are compared or written, and searched for those that are not in use, at the end of the test.
func Open(t testing.TB, path string) *Folder {
	t.Helper()
	f := &Folder{path: path, texts: map[string]string{}, bases: map[string]string{}}
	t.Cleanup(func() { f.finish(t) })
	return f
}

// Check adds a text to compare with a golden file.
func (f *Folder) Check(t testing.TB, file, got string) {
	t.Helper()
	require.NotContains(t, f.texts, file, "checked twice")
	f.checked, f.texts[file] = append(f.checked, file), got
}

// CheckDiff adds a text to compare with a golden file that is a diff against another file of the folder.
func (f *Folder) CheckDiff(t testing.TB, file, base, got string) {
	t.Helper()
	f.Check(t, file, got)
	f.bases[file] = base
}

// CheckNearest is CheckDiff against that one of the files checked before that differs least. A golden file keeps the base that it has.
func (f *Folder) CheckNearest(t testing.TB, file, got string) {
	t.Helper()
	f.bases[file] = f.nearest(file, got)
	f.Check(t, file, got)
	require.NotEmpty(t, f.bases[file], "there is nothing to compare %s with", file)
}

func (f *Folder) nearest(file, got string) string {
	stored := baseOf(filepath.Join(f.path, file))
	if !*update || slices.Contains(f.checked, stored) {
		return stored
	}
	nearest, least := "", 0
	for _, each := range f.checked {
		if lines := strings.Count(hunksOf(f.texts[each], got), "\n"); nearest == "" || lines < least {
			nearest, least = each, lines
		}
	}
	return nearest
}

func (f *Folder) finish(t testing.TB) {
	t.Helper()
	if *update {
		f.update(t)
	}
	for _, file := range f.checked {
		path, base := filepath.Join(f.path, file), f.bases[file]
		if base == "" {
			compare(t, path, f.texts[file])
			continue
		}
		compareDiff(t, path, base, f.texts[file])
	}
	for _, file := range f.unused(t) {
		t.Errorf("no case checks %s, -update removes it", filepath.Join(f.path, file))
	}
}

// update writes bases before the diffs against them.
func (f *Folder) update(t testing.TB) {
	t.Helper()
	for _, file := range f.unused(t) {
		require.NoError(t, os.Remove(filepath.Join(f.path, file)))
	}
	written := map[string]bool{}
	var save func(file string)
	save = func(file string) {
		if _, checked := f.texts[file]; !checked || written[file] {
			return
		}
		written[file] = true
		path, base := filepath.Join(f.path, file), f.bases[file]
		if base == "" {
			write(t, path, f.texts[file])
			return
		}
		save(base)
		writeDiff(t, path, base, f.texts[file])
	}
	for _, file := range f.checked {
		save(file)
	}
}

// unused lists golden files that nothing checks. When -run selects subtests, nobody knows.
func (f *Folder) unused(t testing.TB) []string {
	t.Helper()
	if strings.Contains(flag.Lookup("test.run").Value.String(), "/") {
		return nil
	}
	entries, err := os.ReadDir(f.path)
	if !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	var unused []string
	for _, entry := range entries {
		if _, checked := f.texts[entry.Name()]; !checked {
			unused = append(unused, entry.Name())
		}
	}
	return unused
}
