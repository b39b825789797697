package revision

import (
	"encoding/json"
	"strings"
	"testing"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
)

func newContent() *Content {
	return &Content{
		Chart:  []byte("\x1f\x8b a chart"),
		Values: json.RawMessage(`{"replicas":2,"image":{"tag":"v1","pull":null}}`),
		ValuesOverlays: []installationv1alpha1.ValuesOverlay{{
			Name:         "north",
			SeedSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"region": "north", "tier": "one"}},
			Values:       &runtime.RawExtension{Raw: []byte(`{"replicas":3,"url":"https://a?b=1&c=<d>"}`)},
		}},
		InjectGardenKubeconfig: true,
		Resources: []gardencorev1.NamedResourceReference{{
			Name: "token", ResourceRef: autoscalingv1.CrossVersionObjectReference{APIVersion: "v1", Kind: "Secret", Name: "token"},
		}},
	}
}

func TestName(t *testing.T) {
	name := nameOf(t, newContent())
	assert.Regexp(t, "^[0-9a-f]{10}$", name)
	for sentence, change := range map[string]func(*Content){
		"nothing":                   func(*Content) {},
		"where the chart came from": func(c *Content) { c.Source, c.Origin = "registry/chart@sha256:1", "something" },
		"how values are written": func(c *Content) {
			c.Values = json.RawMessage("{\n \"image\": {\"pull\":null, \"tag\":\"\\u0076\\u0031\"},\n \"replicas\": 2}")
		},
		"how an overlay is written": func(c *Content) {
			c.ValuesOverlays[0].Values.Raw = []byte(`{"url": "https://a?b=1&c=<d>", "replicas": 3}`)
		},
		"what is nothing either way": func(c *Content) {
			c.ValuesOverlays[0].SeedSelector.MatchExpressions = []metav1.LabelSelectorRequirement{}
		},
	} {
		t.Run("whatever changes in "+sentence, func(t *testing.T) {
			content := newContent()
			change(content)
			assert.Equal(t, name, nameOf(t, content))
		})
	}
	for sentence, change := range map[string]func(*Content){
		"the chart":             func(c *Content) { c.Chart = append(c.Chart, 0) },
		"a value":               func(c *Content) { c.Values = json.RawMessage(`{"replicas":2,"image":{"tag":"v2","pull":null}}`) },
		"a null":                func(c *Content) { c.Values = json.RawMessage(`{"replicas":2,"image":{"tag":"v1"}}`) },
		"all values":            func(c *Content) { c.Values = nil },
		"the type of a value":   func(c *Content) { c.Values = json.RawMessage(`{"replicas":"2","image":{"tag":"v1","pull":null}}`) },
		"an overlay's name":     func(c *Content) { c.ValuesOverlays[0].Name = "south" },
		"an overlay's selector": func(c *Content) { c.ValuesOverlays[0].SeedSelector.MatchLabels["tier"] = "two" },
		"an overlay's value":    func(c *Content) { c.ValuesOverlays[0].Values.Raw = []byte(`{"replicas":4}`) },
		"the order of overlays": func(c *Content) {
			c.ValuesOverlays = append([]installationv1alpha1.ValuesOverlay{{Name: "a"}}, c.ValuesOverlays...)
		},
		"the garden's kubeconfig": func(c *Content) { c.InjectGardenKubeconfig = false },
		"a resource":              func(c *Content) { c.Resources[0].ResourceRef.Name = "other" },
	} {
		t.Run("but not when "+sentence+" changes", func(t *testing.T) {
			content := newContent()
			change(content)
			assert.NotEqual(t, name, nameOf(t, content))
		})
	}
}

func TestName_EdgeCases(t *testing.T) {
	assert.Equal(t, nameOf(t, &Content{}), nameOf(t, &Content{Values: json.RawMessage("null")}), "no values are no values")
	assert.NotEqual(t, nameOf(t, &Content{Values: json.RawMessage(`{"n":9007199254740993}`)}), nameOf(t, &Content{Values: json.RawMessage(`{"n":9007199254740992}`)}),
		"large numbers are not rounded")
	_, err := (&Content{Values: json.RawMessage(`{"a":`)}).Name()
	assert.ErrorContains(t, err, "encoding the content of a revision: ")
}

// The names of revisions are in clusters: they must not change with the code.
func TestName_Golden(t *testing.T) {
	assert.Equal(t, "0b4b7a55aa", nameOf(t, newContent()))
}

func TestEncodeDecode(t *testing.T) {
	encoded, err := encode(newContent())
	require.NoError(t, err)
	decoded, err := decode(encoded)
	require.NoError(t, err)
	assert.Equal(t, nameOf(t, newContent()), nameOf(t, decoded))
	assert.Equal(t, newContent().Chart, decoded.Chart)
	assert.JSONEq(t, string(newContent().Values), string(decoded.Values))
	for broken, complaint := range map[string]string{
		"":                  "decoding it: EOF",
		"[]":                "decoding it: json: cannot unmarshal array",
		`{"chart":"%"}`:     "decoding it: illegal base64",
		`{"chart":""} true`: "decoding it: something follows after its end",
	} {
		_, err := decode([]byte(broken))
		assert.ErrorContains(t, err, complaint, broken)
	}
}

func TestEncode_TooLarge(t *testing.T) {
	_, err := encode(contentOf(strings.Repeat("x", 1200<<10)))
	found, isProblem := problem.In(err)
	require.True(t, isProblem, err)
	assert.Equal(t, problem.ChartTooLarge, found.Reason)
	assert.Equal(t, "chart and values make 1,638,412 bytes as they are kept, the chart in base64, and no more than 1,507,328 are possible: "+
		"leave out of the chart what seeds don't need", found.Message)
	_, err = encode(contentOf(strings.Repeat("x", 1<<20)))
	assert.NoError(t, err, "a MiB is not too large")
}
