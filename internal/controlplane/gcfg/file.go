// Package gcfg writes configuration files of cloud providers: those that gopkg.in/gcfg.v1 reads. It escapes every value, so no value can become another key.
//
// It knows syntax only, and no cloud.
package gcfg

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/trellis-garden/trellis/internal/cloud"
)

// File writes a file for gopkg.in/gcfg.v1, which parses the configuration of cloud-controller-managers and storage drivers. Its syntax is that of git's
// configuration files: [Section] or [Section "label"], and lines key = "value". In the quotes a backslash escapes a backslash or a quote; \n and \t are a
// line feed and a tab, in values only. It cannot represent a carriage return, which the parser drops silently, NUL, which it refuses, and invalid UTF-8. A
// text with one of these fails the whole file: half a password is worse than none.
type File struct {
	text        strings.Builder
	sectionName string
	problems    []string
}

// Section begins a section.
func (f *File) Section(name string) { f.begin(name, "") }

// Labeled begins a section with a label, which must not be empty.
func (f *File) Labeled(name, label string) {
	location := fmt.Sprintf("the label %q of [%s]", label, name)
	if label == "" {
		f.problems = append(f.problems, location+" is empty: give a name")
	}
	if strings.Contains(label, "\n") {
		f.problems = append(f.problems, location+" holds a line break, which a configuration file cannot express there: remove it")
	}
	f.check(location, label)
	f.begin(name, ` "`+strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(label)+`"`)
}

func (f *File) begin(name, label string) {
	if f.text.Len() > 0 {
		f.text.WriteByte('\n')
	}
	f.sectionName = name
	fmt.Fprintf(&f.text, "[%s%s]\n", name, label)
}

// Set writes a key of the section unless its value is empty: for gcfg an empty value is a value.
func (f *File) Set(key, value string) {
	f.SetFrom(fmt.Sprintf("%q of [%s]", key, f.sectionName), key, value)
}

// SetFrom is Set for a value that has another name elsewhere. Errors name that, never the value.
func (f *File) SetFrom(origin, key, value string) {
	if value == "" {
		return
	}
	f.check(origin, value)
	escaped := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(value)
	fmt.Fprintf(&f.text, "%s = \"%s\"\n", key, escaped)
}

func (f *File) check(origin, text string) {
	var what string
	switch {
	case !utf8.ValidString(text):
		what = "bytes that are not UTF-8"
	case strings.Contains(text, "\x00"):
		what = "a NUL character"
	case strings.Contains(text, "\r"):
		what = "a carriage return"
	default:
		return
	}
	f.problems = append(f.problems, fmt.Sprintf("%s holds %s, which a configuration file cannot express: use a text without", origin, what))
}

// Bytes returns the file, or a cloud.Configuration error that names all that cannot be represented.
func (f *File) Bytes() ([]byte, error) {
	if len(f.problems) > 0 {
		return nil, cloud.Errorf(cloud.Configuration, "%s", strings.Join(f.problems, "; "))
	}
	return []byte(f.text.String()), nil
}
