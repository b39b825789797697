package openstack

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud"
)

func TestINIFile_Set(t *testing.T) {
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
			file := &iniFile{}
			file.section("Global")
			file.set("key", test.text)
			data, err := file.bytes()
			require.NoError(t, err)
			require.Equal(t, "[Global]\n"+test.line+"\n", string(data))
			require.Equal(t, []string{"Global", "", "key", test.text}, readINI(t, string(data))[0])
		})
	}
}

func TestINIFile_SetUnrepresentable(t *testing.T) {
	for sentence, test := range map[string]struct{ text, what string }{
		"a carriage return, which readers drop": {"hush\r", "a carriage return"},
		"NUL":                                   {"hush\x00", "a NUL character"},
		"half a character":                      {"hush\xc3", "bytes that are not UTF-8"},
	} {
		t.Run(sentence, func(t *testing.T) {
			file := &iniFile{}
			file.section("Global")
			file.setFrom(`"password" in the Secret`, "password", test.text)
			file.set("region", test.text)
			data, err := file.bytes()
			require.Nil(t, data)
			require.Equal(t, cloud.Configuration, cloud.KindOf(err))
			require.ErrorContains(t, err, `"password" in the Secret holds `+test.what)
			require.ErrorContains(t, err, `"region" of [Global] holds `+test.what)
			require.NotContains(t, err.Error(), "hush", "a text may be a password")
		})
	}
}

func TestINIFile_Labeled(t *testing.T) {
	for sentence, test := range map[string]struct{ label, headline, problem string }{
		"plain":                {"default", `[LoadBalancerClass "default"]`, ""},
		"quotes and backslash": {`a "b" \c]`, `[LoadBalancerClass "a \"b\" \\c]"]`, ""},
		"a tab":                {"a\tb", "[LoadBalancerClass \"a\tb\"]", ""},
		"a line break":         {"a\nb", "", "holds a line break"},
		"a carriage return":    {"a\rb", "", "holds a carriage return"},
		"none":                 {"", "", "is empty"},
	} {
		t.Run(sentence, func(t *testing.T) {
			file := &iniFile{}
			file.labeled("LoadBalancerClass", test.label)
			file.set("key", "value")
			data, err := file.bytes()
			if test.problem != "" {
				require.ErrorContains(t, err, test.problem)
				return
			}
			require.NoError(t, err)
			require.Equal(t, test.headline+"\nkey = \"value\"\n", string(data))
			require.Equal(t, []string{"LoadBalancerClass", test.label, "key", "value"}, readINI(t, string(data))[0])
		})
	}
}

func TestINIFile_SetEmpty(t *testing.T) {
	file := &iniFile{}
	file.section("Global")
	file.set("username", "")
	file.section("Route")
	data, err := file.bytes()
	require.NoError(t, err)
	require.Equal(t, "[Global]\n\n[Route]\n", string(data))
}

// FuzzINI writes anything anywhere. What comes out is refused, or read back as it was. The real reader, gopkg.in/gcfg.v1, has
// its turn with the files in testdata/cloudconfig.
func FuzzINI(f *testing.F) {
	for _, seed := range []string{``, `"`, `\`, `\"`, "\n", "\r\n", "a\x00", "#", "; a", `"]` + "\n[b]", "\xff", "\ufeff", "ä\t=", " "} {
		f.Add(seed, seed)
	}
	f.Fuzz(func(t *testing.T, label, text string) {
		file := &iniFile{}
		file.labeled("Class", label)
		file.set("key", text)
		file.set("last", "line")
		data, err := file.bytes()
		bad := func(s string) bool { return !utf8.ValidString(s) || strings.ContainsAny(s, "\r\x00") }
		require.Equal(t, label == "" || strings.Contains(label, "\n") || bad(label) || bad(text), err != nil)
		if err != nil {
			return
		}
		want := [][]string{{"Class", label, "key", text}, {"Class", label, "last", "line"}}
		if text == "" {
			want = want[1:]
		}
		require.Equal(t, want, readINI(t, string(data)))
	})
}

// readINI reads what iniFile writes by the rules of git's configuration files. It returns section, label, key and value of
// each line.
func readINI(t *testing.T, text string) [][]string {
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
