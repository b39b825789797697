package nodeimage

import (
	"strings"
	"testing"
	"text/template"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAsTemplate(t *testing.T) {
	content, err := asTemplate("ranges: [\"" + anyRange + "\"]")
	require.NoError(t, err)
	assert.Contains(t, string(content), "would you kindly template this file", "kind looks for this sentence")
	parsed, err := template.New("").Parse(string(content)) // as kind does
	require.NoError(t, err)
	for subnet, want := range map[string]string{
		"10.244.0.0/16":                  `["10.244.0.0/16"]`,
		"10.244.0.0/16,fd00:10:244::/56": `["10.244.0.0/16", "fd00:10:244::/56"]`,
	} {
		var text strings.Builder
		require.NoError(t, parsed.Execute(&text, struct{ PodSubnet string }{subnet}))
		assert.Contains(t, text.String(), "\nranges: "+want+"\n")
	}
}

func TestAsTemplate_UnexpectedManifest(t *testing.T) {
	_, err := asTemplate("ranges: []")
	assert.ErrorContains(t, err, "0 times")
	_, err = asTemplate(anyRange + " {{.Name}}")
	assert.ErrorContains(t, err, "changed as a template")
}
