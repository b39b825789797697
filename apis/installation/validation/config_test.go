package validation_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/installation/v1alpha1"
	"github.com/trellis-garden/trellis/apis/installation/validation"
)

func decode(t *testing.T, fields string) *v1alpha1.ControllerDeploymentConfig {
	t.Helper()
	config, err := v1alpha1.DecodeControllerDeploymentConfig(&runtime.RawExtension{Raw: []byte(
		`{"apiVersion":"installation.trellis.garden/v1alpha1","kind":"ControllerDeploymentConfig",` + fields + `}`,
	)})
	require.NoError(t, err)
	return config
}

// requireErrors expects errors in this order, as pairs of the field and a part of the text.
func requireErrors(t *testing.T, want []string, got field.ErrorList) {
	t.Helper()
	require.Len(t, got, len(want)/2, got.ToAggregate())
	for i, err := range got {
		require.Equal(t, want[2*i], err.Field)
		require.Contains(t, err.Error(), want[2*i+1])
	}
}

// refused returns the errors of a configuration that is valid except for these fields.
func refused(t *testing.T, fields string) field.ErrorList {
	t.Helper()
	return validation.ValidateControllerDeploymentConfig(decode(t, `"chart":"H4sIAAAAAAAA",`+fields), field.NewPath("c"))
}

func TestValidateControllerDeploymentConfig_Source(t *testing.T) {
	const ref = `"ociRepository":{"ref":"registry.example.org/charts/name:1.0.0"}`
	for sentence, test := range map[string]struct {
		config string
		want   []string
	}{
		"a chart":                       {`"chart":"H4sIAAAAAAAA"`, nil},
		"a registry":                    {ref, nil},
		"nowhere":                       {`"historyLimit":1`, []string{"c.chart", "Required value: give a chart, or say in ociRepository where to pull one"}},
		"from an empty chart":           {`"chart":""`, []string{"c.chart", "Required"}},
		"both":                          {`"chart":"H4sIAAAAAAAA",` + ref, []string{"c.ociRepository", "remove one of the two"}},
		"both, one of them bad":         {`"chart":"H4sIAAAAAAAA","ociRepository":{}`, []string{"c.ociRepository", "remove one of the two"}},
		"an empty chart and a registry": {`"chart":"",` + ref, nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			requireErrors(t, test.want, validation.ValidateControllerDeploymentConfig(decode(t, test.config), field.NewPath("c")))
		})
	}
}

func TestValidateControllerDeploymentConfig_Values(t *testing.T) {
	for sentence, test := range map[string]struct {
		values string
		want   string
	}{
		"an object":                 {`{"replicaCount":2}`, ""},
		"an empty object":           {`{}`, ""},
		"a list":                    {`["s3cret"]`, "is not an object: write one"},
		"a text":                    {`"replicaCount: 2 # s3cret"`, "is not an object: write one"},
		"a number":                  {`2`, "is not an object: write one"},
		"a switch":                  {`true`, "is not an object: write one"},
		"Gardener's key":            {`{"gardener":{"seed":{"name":"s3cret"}},"replicaCount":2}`, "this key is Gardener's"},
		"Gardener's key, empty":     {`{"gardener":{}}`, "this key is Gardener's"},
		"Gardener's key, removed":   {`{"gardener":null}`, "this key is Gardener's"},
		"Gardener's key as a text":  {`{"gardener":""}`, "this key is Gardener's"},
		"Gardener's key, escaped":   {`{"\u0067ardener":1}`, "this key is Gardener's"},
		"Gardener's key further in": {`{"global":{"gardener":{"a":"b"}}}`, ""},
		"a key that is alike":       {`{"Gardener":{},"gardeners":1}`, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			for path, fields := range map[string]string{
				"c.values":                   `"values":` + test.values,
				"c.valuesOverlays[1].values": `"valuesOverlays":[{"name":"a","seedSelector":{},"values":{}},{"name":"b","seedSelector":{},"values":` + test.values + `}]`,
			} {
				errs := refused(t, fields)
				if test.want == "" {
					require.Empty(t, errs)
					continue
				}
				require.Len(t, errs, 1)
				require.Contains(t, []string{path, path + ".gardener"}, errs[0].Field)
				require.ErrorContains(t, errs[0], test.want)
				require.NotContains(t, errs[0].Error(), "s3cret")
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		require.Empty(t, refused(t, `"values":null`))
	})
	for raw, want := range map[string]string{`{`: "is not JSON", `null`: "is not an object", ``: "is not an object"} {
		t.Run("what no decoder gives: "+raw, func(t *testing.T) {
			config := decode(t, `"chart":"H4sIAAAAAAAA"`)
			config.Values = &runtime.RawExtension{}
			if raw != "" {
				config.Values.Raw = []byte(raw)
			}
			requireErrors(t, []string{"c.values", want}, validation.ValidateControllerDeploymentConfig(config, field.NewPath("c")))
		})
	}
}

func TestValidateControllerDeploymentConfig_Overlays(t *testing.T) {
	for sentence, test := range map[string]struct {
		overlays string
		want     []string
	}{
		"none":                                 {``, nil},
		"two":                                  {`{"name":"a","seedSelector":{},"values":{}},{"name":"b","seedSelector":{},"values":{}}`, nil},
		"nulls":                                {`null`, []string{"c.valuesOverlays[0].name", "Required", "c.valuesOverlays[0].seedSelector", "Required", "c.valuesOverlays[0].values", "Required"}},
		"called rest, which is only for waves": {`{"name":"rest","seedSelector":{},"values":{}}`, nil},
		"without a name":                       {`{"seedSelector":{},"values":{}}`, []string{"c.valuesOverlays[0].name", "Required value: give a name"}},
		"with a bad name": {
			`{"name":"Large_seeds","seedSelector":{},"values":{}}`,
			[]string{"c.valuesOverlays[0].name", `"Large_seeds": use at most 63 lower-case letters`},
		},
		"of the same name": {
			`{"name":"a","seedSelector":{},"values":{}},{"name":"b","seedSelector":{},"values":{}},{"name":"a","seedSelector":{},"values":{}}`,
			[]string{"c.valuesOverlays[2].name", `Duplicate value: "a": rename or remove one of the two`},
		},
		"by names": {`{"name":"a","seedNames":["eu-1","eu-2"],"values":{}}`, nil},
		"by names and by labels": {
			`{"name":"a","seedNames":["eu-1"],"seedSelector":{},"values":{}}`,
			[]string{"c.valuesOverlays[0].seedSelector", "there are seedNames already: remove one of the two"},
		},
		"by a name that no Seed has": {
			`{"name":"a","seedNames":["eu-1","EU_2"],"values":{}}`, []string{"c.valuesOverlays[0].seedNames[1]", `"EU_2": is not the name of a Seed`},
		},
		"without a selector": {`{"name":"a","values":{}}`, []string{"c.valuesOverlays[0].seedSelector", "{} means all"}},
		"without values":     {`{"name":"a","seedSelector":{}}`, []string{"c.valuesOverlays[0].values", "Required value: give values that differ"}},
		"with values of null": {
			`{"name":"a","seedSelector":{},"values":null}`,
			[]string{"c.valuesOverlays[0].values", "Required value: give values that differ"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			requireErrors(t, test.want, refused(t, `"valuesOverlays":[`+test.overlays+`]`))
		})
	}
}

func TestValidateControllerDeploymentConfig_OtherFields(t *testing.T) {
	for sentence, test := range map[string]struct {
		fields string
		want   []string
	}{
		"no history":                {`"historyLimit":0`, nil},
		"much history":              {`"historyLimit":20`, nil},
		"too much history":          {`"historyLimit":21`, []string{"c.historyLimit", "21: write a number from 0 to 20, or remove the field"}},
		"less than none":            {`"historyLimit":-1`, []string{"c.historyLimit", "-1: write a number from 0 to 20"}},
		"no word on uninstallation": {`"uninstall":{}`, nil},
		"to wait":                   {`"uninstall":{"whileRequired":"Wait"}`, nil},
		"to proceed":                {`"uninstall":{"whileRequired":"Proceed"}`, nil},
		"to do something else":      {`"uninstall":{"whileRequired":"wait"}`, []string{"c.uninstall.whileRequired", `Unsupported value: "wait": write Wait or Proceed, or remove the field`}},
	} {
		t.Run(sentence, func(t *testing.T) {
			requireErrors(t, test.want, refused(t, test.fields))
		})
	}
	t.Run("all errors at once", func(t *testing.T) {
		requireErrors(
			t, []string{"c.values", "", "c.valuesOverlays[0].name", "", "c.rollout.soakTime", "", "c.uninstall.whileRequired", "", "c.historyLimit", ""},
			refused(t, `"values":1,"valuesOverlays":[{"name":"","seedSelector":{},"values":{}}],"rollout":{"soakTime":"-1s"},
				"uninstall":{"whileRequired":"x"},"historyLimit":99`),
		)
	})
	t.Run("of what has no path, fields are named alone", func(t *testing.T) {
		config := decode(t, `"ociRepository":{"tag":"1"},"historyLimit":99`)
		requireErrors(
			t, []string{"ociRepository.repository", "", "historyLimit", ""},
			validation.ValidateControllerDeploymentConfig(config, nil),
		)
	})
}
