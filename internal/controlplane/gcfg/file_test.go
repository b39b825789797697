package gcfg_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/controlplane/gcfg"
)

func TestFile_Set(t *testing.T) {
	for sentence, test := range map[string]struct{ text, line string }{
		"plain":                             {"secret", `key = "secret"`},
		"quotes":                            {`"`, `key = "\""`},
		"a quote that ends the text (D19)":  {`a" ; b`, `key = "a\" ; b"`},
		"backslashes, also at the end":      {`\n\`, `key = "\\n\\"`},
		"the beginnings of comments":        {"#;", `key = "#;"`},
		"a line feed":                       {"a\nb\n", `key = "a\nb\n"`},
		"a tab":                             {"\t", `key = "\t"`},
		"spaces around it":                  {"  a  ", `key = "  a  "`},
		"brackets, equal signs and a space": {"[Global] a=b", `key = "[Global] a=b"`},
		"letters of other scripts":          {"Straße 密码 😀", `key = "Straße 密码 😀"`},
		"control characters of no meaning":  {"\x01\x1b\x7f", "key = \"\x01\x1b\x7f\""},
		"the sign for a broken character":   {"\ufffd", "key = \"\ufffd\""},
	} {
		t.Run(sentence, func(t *testing.T) {
			file := &gcfg.File{}
			file.Section("Global")
			file.Set("key", test.text)
			data, err := file.Bytes()
			require.NoError(t, err)
			require.Equal(t, "[Global]\n"+test.line+"\n", string(data))
			require.Equal(t, []string{"Global", "", "key", test.text}, readFile(t, string(data))[0])
		})
	}
}

func TestFile_SetUnrepresentable(t *testing.T) {
	for sentence, test := range map[string]struct{ text, what string }{
		"a carriage return, which readers drop": {"hush\r", "a carriage return"},
		"NUL":                                   {"hush\x00", "a NUL character"},
		"half a character":                      {"hush\xc3", "bytes that are not UTF-8"},
	} {
		t.Run(sentence, func(t *testing.T) {
			file := &gcfg.File{}
			file.Section("Global")
			file.SetFrom(`"password" in the Secret`, "password", test.text)
			file.Set("region", test.text)
			data, err := file.Bytes()
			require.Nil(t, data)
			require.Equal(t, cloud.Configuration, cloud.KindOf(err))
			require.ErrorContains(t, err, `"password" in the Secret holds `+test.what)
			require.ErrorContains(t, err, `"region" of [Global] holds `+test.what)
			require.NotContains(t, err.Error(), "hush", "a text may be a password")
		})
	}
}

func TestFile_Labeled(t *testing.T) {
	for sentence, test := range map[string]struct{ label, headline, problem string }{
		"plain":                {"default", `[LoadBalancerClass "default"]`, ""},
		"quotes and backslash": {`a "b" \c]`, `[LoadBalancerClass "a \"b\" \\c]"]`, ""},
		"a tab":                {"a\tb", "[LoadBalancerClass \"a\tb\"]", ""},
		"a line break":         {"a\nb", "", "holds a line break"},
		"a carriage return":    {"a\rb", "", "holds a carriage return"},
		"none":                 {"", "", "is empty"},
	} {
		t.Run(sentence, func(t *testing.T) {
			file := &gcfg.File{}
			file.Labeled("LoadBalancerClass", test.label)
			file.Set("key", "value")
			data, err := file.Bytes()
			if test.problem != "" {
				require.ErrorContains(t, err, test.problem)
				return
			}
			require.NoError(t, err)
			require.Equal(t, test.headline+"\nkey = \"value\"\n", string(data))
			require.Equal(t, []string{"LoadBalancerClass", test.label, "key", "value"}, readFile(t, string(data))[0])
		})
	}
}

func TestFile_SetEmpty(t *testing.T) {
	file := &gcfg.File{}
	file.Section("Global")
	file.Set("username", "")
	file.Section("Route")
	data, err := file.Bytes()
	require.NoError(t, err)
	require.Equal(t, "[Global]\n\n[Route]\n", string(data))
}

// FuzzFile writes anything anywhere. What comes out is refused, or read back as it was. The real reader, gopkg.in/gcfg.v1, has
// its turn with drivers' golden files.
func FuzzFile(f *testing.F) {
	for _, seed := range []string{``, `"`, `\`, `\"`, "\n", "\r\n", "a\x00", "#", "; a", `"]` + "\n[b]", "\xff", "\ufeff", "ä\t=", " "} {
		f.Add(seed, seed)
	}
	f.Fuzz(func(t *testing.T, label, text string) {
		file := &gcfg.File{}
		file.Labeled("Class", label)
		file.Set("key", text)
		file.Set("last", "line")
		data, err := file.Bytes()
		bad := func(s string) bool { return !utf8.ValidString(s) || strings.ContainsAny(s, "\r\x00") }
		require.Equal(t, label == "" || strings.Contains(label, "\n") || bad(label) || bad(text), err != nil)
		if err != nil {
			return
		}
		want := [][]string{{"Class", label, "key", text}, {"Class", label, "last", "line"}}
		if text == "" {
			want = want[1:]
		}
		require.Equal(t, want, readFile(t, string(data)))
	})
}

// readFile reads what File writes by the rules of git's configuration files. It returns section, label, key and value of
// each line.
func readFile(t *testing.T, text string) [][]string {
	t.Helper()
	var result [][]string
	section, label := "", ""
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		if line == "" {
			continue
		}
		if headline, ok := strings.CutPrefix(line, "["); ok {
			require.True(t, strings.HasSuffix(headline, "]"), line)
			var rest string
			section, rest, _ = strings.Cut(strings.TrimSuffix(headline, "]"), " ")
			label = ""
			if rest != "" {
				label = unquote(t, rest, map[rune]rune{'\\': '\\', '"': '"'})
			}
			continue
		}
		key, value, ok := strings.Cut(line, " = ")
		require.True(t, ok, line)
		result = append(result, []string{section, label, key, unquote(t, value, map[rune]rune{'\\': '\\', '"': '"', 'n': '\n', 't': '\t'})})
	}
	return result
}

func unquote(t *testing.T, text string, escapes map[rune]rune) string {
	t.Helper()
	require.True(t, len(text) >= 2 && text[0] == '"' && text[len(text)-1] == '"', text)
	var result strings.Builder
	escaped := false
	for _, r := range text[1 : len(text)-1] {
		switch {
		case escaped:
			meaning, ok := escapes[r]
			require.True(t, ok, "escape %q in %s", r, text)
			result.WriteRune(meaning)
			escaped = false
		case r == '\\':
			escaped = true
		default:
			require.NotEqual(t, '"', r, text)
			result.WriteRune(r)
		}
	}
	require.False(t, escaped, text)
	return result.String()
}
