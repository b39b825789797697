package rendering

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
)

func resourcesWith(values ...string) map[string]any {
	data := map[string]any{}
	for i, value := range values {
		data[fmt.Sprint("key", i)] = value
	}
	return map[string]any{"login": map[string]any{"data": data}}
}

func TestRedact(t *testing.T) {
	const secret = "hun\"ter\\2\tö<&>'x"
	inJSON, err := json.Marshal(secret)
	require.NoError(t, err)
	for sentence, test := range map[string]struct {
		message string
		secrets []string
		want    string
	}{
		"plain":                              {"wrong: " + secret + "!", []string{secret}, "wrong: [from a resource]!"},
		"as Go quotes it":                    {"wrong: " + strconv.Quote(secret), []string{secret}, `wrong: "[from a resource]"`},
		"as Go quotes it in ASCII":           {"wrong: " + strconv.QuoteToASCII(secret), []string{secret}, `wrong: "[from a resource]"`},
		"as JSON quotes it":                  {"wrong: " + string(inJSON), []string{secret}, `wrong: "[from a resource]"`},
		"as YAML quotes it":                  {"wrong: 'it''s mine'", []string{"it's mine"}, "wrong: '[from a resource]'"},
		"in base64":                          {"wrong: aHVudGVyMg==", []string{"hunter2"}, "wrong: [from a resource]"},
		"on one line":                        {"wrong: first a second b", []string{"first  a\nsecond\tb"}, "wrong: [from a resource] [from a resource]"},
		"with several lines, as Go does it":  {"wrong: " + strconv.Quote("first \"a\nsecond\tb"), []string{"first \"a\nsecond\tb"}, `wrong: "[from a resource]\n[from a resource]"`},
		"one that begins with another":       {"wrong: hunter22", []string{"hunter", "hunter22"}, "wrong: [from a resource]"},
		"two that overlap":                   {"wrong: abcdefghi", []string{"abcdef", "defghi"}, "wrong: [from a resource]"},
		"one that is in what stands for one": {"wrong: hunter2", []string{"hunter2", "from a resource"}, "wrong: [from a resource]"},
		"one that is too short to hide":      {"wrong: abc", []string{"abc"}, "wrong: abc"},
		"none":                               {"wrong: hunter2", nil, "wrong: hunter2"},
	} {
		t.Run(sentence, func(t *testing.T) {
			assert.Equal(t, test.want, redact(test.message, resourcesWith(test.secrets...)))
		})
	}
	secretOf := strings.Repeat("hunter2", 100)
	for _, near := range []int{1, 300, 699} {
		long := strings.Repeat("a", maxRedacted-near) + secretOf + strings.Repeat("b", 10*maxRedacted) + secretOf + strings.Repeat("c", maxRedacted-700+near)
		cut := redact(long, resourcesWith(secretOf))
		assert.NotContains(t, cut, "hunter", "what is cut is cut before it and after it")
		assert.Less(t, len(cut), 2*maxRedacted)
		assert.True(t, strings.HasPrefix(cut, "aaa") && strings.HasSuffix(cut, "ccc"), "where and what are at the ends")
	}
}

// Messages are cut where a condition has no room. That must not leave half of a secret, of which nobody can tell what it is.
func TestRender_RedactsBeforeTruncating(t *testing.T) {
	const secret = "hunter2-of-the-landscape-for-all-seeds"
	for before := 1100; before < 1300; before += 7 {
		for _, function := range []string{"print", `printf "%s%q"`} {
			message := strings.Repeat("x", before)
			template := "{{ fail (" + function + ` "` + message + `" .Values.a) }}`
			one := request(t, template, map[string]any{"a": "{{ .resources.login.data.key0 }}" + strings.Repeat(" y", 800)})
			one.Resources = resourcesWith(secret)
			_, err := render(one)
			found, is := problem.In(err)
			require.True(t, is, "%v", err)
			assert.NotContains(t, found.Message, "hunter2", "after %d letters", before)
			assert.Less(t, len(found.Message), 2000)
		}
	}
}
