package validation_test

import (
	"testing"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/installation/validation"
)

// A gardenlet may write the labels of its own seed, and so could get the values of other seeds.
func TestValidateOverlaySecrets(t *testing.T) {
	reference := func(name, kind string) gardencorev1.NamedResourceReference {
		return gardencorev1.NamedResourceReference{
			Name: name, ResourceRef: autoscalingv1.CrossVersionObjectReference{APIVersion: "v1", Kind: kind, Name: name},
		}
	}
	both := []gardencorev1.NamedResourceReference{reference("login", "Secret"), reference("region", "ConfigMap")}
	refusal := []string{
		"c.valuesOverlays[0].seedSelector",
		"may take something from a Secret (login), and a gardenlet can change the labels of its seed: name the seeds in seedNames instead",
	}
	const byLabel = `"seedSelector":{"matchLabels":{"stage":"prod"}}`
	for sentence, test := range map[string]struct {
		resources []gardencorev1.NamedResourceReference
		seeds     string
		values    string
		want      []string
	}{
		"a Secret, by labels":                       {both, byLabel, `{"a":{"b":["{{ .resources.login.data.password }}"]}}`, refusal},
		"a Secret, by no label at all":              {both, `"seedSelector":{}`, `{"a":"{{ .resources.login.data.password }}"}`, refusal},
		"a Secret in a key":                         {both, byLabel, `{"{{.resources.login.data.user}}":1}`, refusal},
		"a Secret by another way of writing it":     {both, byLabel, `{"a":"{{ index .resources \"login\" }}"}`, refusal},
		"all there is":                              {both, byLabel, `{"a":"{{ . }}"}`, refusal},
		"a Secret behind escaped braces":            {both, byLabel, `{"a":"\u007b{ .resources.login.data.password }}"}`, refusal},
		"a Secret between harmless references":      {both, byLabel, `{"a":"{{{ .resources.region.data.a }}{ .resources.login.data.password }}"}`, refusal},
		"a Secret, by the names of seeds":           {both, `"seedNames":["eu-1"]`, `{"a":"{{ .resources.login.data.password }}"}`, nil},
		"a ConfigMap, by labels":                    {both, byLabel, `{"a":"{{ .resources.region.data.name }}-{{.resources.region.data.zone}}"}`, nil},
		"no template, by labels":                    {both, byLabel, `{"a":{"b":1}}`, nil},
		"no Secret at all: nothing can be taken":    {both[1:], byLabel, `{"a":"{{ index .resources \"region\" }}"}`, nil},
		"nothing to refer to: text and no template": {nil, byLabel, `{"a":"{{ .resources.login.data.password }}"}`, nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			config := decode(t, `"valuesOverlays":[{"name":"a",`+test.seeds+`,"values":`+test.values+`}]`)
			path := field.NewPath("c").Child("valuesOverlays")
			requireErrors(t, test.want, validation.ValidateOverlaySecrets(config.ValuesOverlays, test.resources, path))
		})
	}
}
