package v1alpha1_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/apis/installation/v1alpha1"
)

const apiVersion = `"apiVersion":"installation.trellis.garden/v1alpha1"`

// document makes one of fields.
func document(fields string) *runtime.RawExtension {
	if fields != "" {
		fields = "," + fields
	}
	return &runtime.RawExtension{Raw: []byte(`{` + apiVersion + `,"kind":"ControllerDeploymentConfig"` + fields + `}`)}
}

func decode(t *testing.T, fields string) *v1alpha1.ControllerDeploymentConfig {
	t.Helper()
	config, err := v1alpha1.DecodeControllerDeploymentConfig(document(fields))
	require.NoError(t, err)
	return config
}

// allFields has all fields, though no ControllerDeployment could have them all.
const allFields = `
	"chart": "H4sIAAAAAAAA",
	"ociRepository": {
		"ref": "a", "repository": "b", "tag": "c", "digest": "d", "pullSecretRef": {"name": "e"}, "caBundleSecretRef": {"name": "f"}
	},
	"values": {"a": {"b": [1, "2", null, 3.5, 12345678901234567890]}},
	"valuesOverlays": [{"name": "a", "seedNames": ["eu-1"], "seedSelector": {"matchLabels": {"b": "c"}}, "values": {"d": null}}],
	"rollout": {
		"paused": true,
		"waves": [{
			"name": "a", "seedSelector": {"matchExpressions": [{"key": "b", "operator": "In", "values": ["c"]}]},
			"soakTime": "1h0m0s", "maxUnavailable": 2
		}],
		"soakTime": "10m0s", "maxUnavailable": "10%", "maxFailures": 1,
		"healthGate": {"deadline": "5m0s", "tolerance": "0s", "maxInterruptions": 0, "maxWait": "0s"}, "rollback": "Never"
	},
	"uninstall": {"whileRequired": "Proceed"},
	"historyLimit": 0`

func TestDecodeControllerDeploymentConfig_RoundTrip(t *testing.T) {
	config := decode(t, allFields)
	encoded, err := v1alpha1.Encode(config)
	require.NoError(t, err)
	require.JSONEq(t, string(document(allFields).Raw), string(encoded.Raw))
	again, err := v1alpha1.DecodeControllerDeploymentConfig(encoded)
	require.NoError(t, err)
	requireSame(t, config, again)

	require.NotZero(t, *config)
	requireEveryField(t, config)
}

// requireSame compares as JSON does, to which it is the same how values are indented.
func requireSame(t *testing.T, want, got *v1alpha1.ControllerDeploymentConfig) {
	t.Helper()
	require.Empty(t, cmp.Diff(want, got, cmp.Transformer("JSON", func(raw runtime.RawExtension) any {
		var value any
		require.NoError(t, json.Unmarshal(raw.Raw, &value))
		return value
	})))
}

func TestDecodeControllerDeploymentConfig_WithoutKind(t *testing.T) {
	const wanted = "apiVersion installation.trellis.garden/v1alpha1 and kind ControllerDeploymentConfig"
	const toSet = "set apiVersion to installation.trellis.garden/v1alpha1 and kind to ControllerDeploymentConfig"
	for sentence, test := range map[string]struct {
		raw  *runtime.RawExtension
		want string
	}{
		"no document":           {nil, "a providerConfig is required: give one with " + wanted},
		"an empty document":     {&runtime.RawExtension{}, "a providerConfig is required: give one with " + wanted},
		"an empty text":         {&runtime.RawExtension{Raw: []byte{}}, "a providerConfig is required"},
		"null":                  {&runtime.RawExtension{Raw: []byte(`null`)}, "a providerConfig is required"},
		"no field":              {&runtime.RawExtension{Raw: []byte(`{}`)}, toSet},
		"a kind alone":          {&runtime.RawExtension{Raw: []byte(`{"kind":"ControllerDeploymentConfig"}`)}, toSet},
		"an apiVersion alone":   {&runtime.RawExtension{Raw: []byte(`{` + apiVersion + `}`)}, toSet},
		"the kind of a status":  {&runtime.RawExtension{Raw: []byte(`{` + apiVersion + `,"kind":"ControllerInstallationStatus"}`)}, toSet},
		"a version to come":     {&runtime.RawExtension{Raw: []byte(`{"apiVersion":"installation.trellis.garden/v1","kind":"ControllerDeploymentConfig"}`)}, toSet},
		"what type helm takes":  {&runtime.RawExtension{Raw: []byte(`{"chart":"H4sIAAAAAAAA","values":{}}`)}, toSet},
		"a list":                {&runtime.RawExtension{Raw: []byte(`[]`)}, "not a JSON object"},
		"a text":                {&runtime.RawExtension{Raw: []byte(`"a"`)}, "not a JSON object"},
		"YAML in an annotation": {&runtime.RawExtension{Raw: []byte("apiVersion: installation.trellis.garden/v1alpha1\n")}, "not a JSON object"},
	} {
		t.Run(sentence, func(t *testing.T) {
			config, err := v1alpha1.DecodeControllerDeploymentConfig(test.raw)
			require.Nil(t, config)
			require.ErrorContains(t, err, test.want)
		})
	}
	t.Run("an object instead of its bytes is fine", func(t *testing.T) {
		config, err := v1alpha1.DecodeControllerDeploymentConfig(&runtime.RawExtension{Object: v1alpha1.NewControllerDeploymentConfig()})
		require.NoError(t, err)
		require.Equal(t, v1alpha1.NewControllerDeploymentConfig(), config)
	})
}

func TestDecodeControllerDeploymentConfig_UnknownFields(t *testing.T) {
	const selector = `"seedSelector":`
	for fields, want := range map[string]string{
		`"rawChart":"H4sIAAAAAAAA"`:                                                    "rawChart",
		`"Values":{}`:                                                                  "Values",
		`"ociRepository":{"url":"a"}`:                                                  "ociRepository.url",
		`"ociRepository":{"pullSecretRef":{"namespace":"a"}}`:                          "ociRepository.pullSecretRef.namespace",
		`"ociRepository":{"caBundleSecretRef":{"key":"a"}}`:                            "ociRepository.caBundleSecretRef.key",
		`"valuesOverlays":[{},{"selector":{}}]`:                                        "valuesOverlays[1].selector",
		`"valuesOverlays":[{` + selector + `{"stage":"dev"}}]`:                         "valuesOverlays[0].seedSelector.stage",
		`"rollout":{"pause":true}`:                                                     "rollout.pause",
		`"rollout":{"waves":[{"selector":{}}]}`:                                        "rollout.waves[0].selector",
		`"rollout":{"waves":[{` + selector + `{"matchExpressions":[{"value":"a"}]}}]}`: "rollout.waves[0].seedSelector.matchExpressions[0].value",
		`"rollout":{"healthGate":{"timeout":"5m"}}`:                                    "rollout.healthGate.timeout",
		`"uninstall":{"policy":"Wait"}`:                                                "uninstall.policy",
		`"status":{}`:                                                                  "status",
	} {
		t.Run(want, func(t *testing.T) {
			config, err := v1alpha1.DecodeControllerDeploymentConfig(document(fields))
			require.Nil(t, config)
			require.ErrorContains(t, err, `unknown field "`+want+`": correct the name or remove the field`)
		})
	}
	t.Run("but values are the chart's", func(t *testing.T) {
		decode(t, `"values":{"whatever":{"it":"is"}},"valuesOverlays":[{"values":{"whatever":1}}]`)
	})
	t.Run("fields that are there twice are named, too", func(t *testing.T) {
		_, err := v1alpha1.DecodeControllerDeploymentConfig(document(`"historyLimit":1,"historyLimit":2`))
		require.ErrorContains(t, err, `duplicate field "historyLimit"`)
	})
}

func TestDecodeControllerDeploymentConfig_WrongTypes(t *testing.T) {
	for sentence, test := range map[string]struct{ fields, want string }{
		"a chart that is not encoded":        {`"chart":"./chart.tgz"`, "give in chart the whole archive in base64"},
		"a chart that is unpacked":           {`"chart":{"name":"a"}`, "chart must be a list, not a JSON object"},
		"a repository in one word":           {`"ociRepository":"oci://registry.example.org/a:1"`, "ociRepository must be an object, not a JSON string"},
		"a Secret in one word":               {`"ociRepository":{"pullSecretRef":"a"}`, "ociRepository.pullSecretRef must be an object"},
		"a tag that YAML takes for a number": {`"ociRepository":{"tag":1.0}`, "ociRepository.tag must be a string, not a JSON number"},
		"overlays by name":                   {`"valuesOverlays":{"a":{}}`, "valuesOverlays must be a list"},
		"a rollout in one word":              {`"rollout":"fast"`, "rollout must be an object"},
		"a pause in one word":                {`"rollout":{"paused":"yes"}`, "rollout.paused must be true or false"},
		"waves by name":                      {`"rollout":{"waves":{"a":{}}}`, "rollout.waves must be a list"},
		"a soak time in seconds":             {`"rollout":{"soakTime":300}`, "rollout.soakTime must be a string, not a JSON number"},
		"a soak time in days":                {`"rollout":{"soakTime":"1d"}`, `unknown unit "d" in duration "1d"`},
		"a deadline in seconds":              {`"rollout":{"healthGate":{"deadline":300}}`, "rollout.healthGate.deadline must be a string"},
		"half an installation":               {`"rollout":{"maxUnavailable":0.5}`, "rollout.maxUnavailable must be a whole number"},
		"the same in a wave":                 {`"rollout":{"waves":[{"maxUnavailable":[]}]}`, "rollout.waves.maxUnavailable must be a whole number"},
		"a policy in one word":               {`"uninstall":"Wait"`, "uninstall must be an object"},
		"a number in quotes":                 {`"historyLimit":"5"`, "historyLimit must be a whole number, not a JSON string"},
		"a number that is too large":         {`"historyLimit":3000000000`, "historyLimit must be a whole number"},
	} {
		t.Run(sentence, func(t *testing.T) {
			config, err := v1alpha1.DecodeControllerDeploymentConfig(document(test.fields))
			require.Nil(t, config)
			require.ErrorContains(t, err, "decoding ControllerDeploymentConfig: ")
			require.ErrorContains(t, err, test.want)
		})
	}
}

func TestDecodeControllerInstallationStatus(t *testing.T) {
	now := metav1.NewTime(time.Date(2030, 1, 31, 12, 0, 0, 0, time.Local))
	kind := `{` + apiVersion + `,"kind":"ControllerInstallationStatus"`
	t.Run("what is written is read again", func(t *testing.T) {
		status := v1alpha1.NewControllerInstallationStatus()
		status.Operator, status.Revision, status.TargetRevision, status.Wave = "garden", "0123456789", "abcdef0123", "canary"
		status.Phase, status.AppliedAt, status.HealthySince, status.UnhealthySince = v1alpha1.PhaseUnhealthy, &now, &now, &now
		status.History = []v1alpha1.HistoryEntry{{Revision: "fedcba9876", AppliedAt: &now, EndedAt: &now, Outcome: v1alpha1.PhaseHealthy}}
		status.Gate = &v1alpha1.GateObservation{Assignment: "0123456789 2030-01-31T12:00:00Z", Healthy: metav1.Duration{Duration: time.Minute}, Interruptions: 1}
		status.LastError = &v1alpha1.LastError{Reason: "ValuesInvalid", Message: "correct them", Since: now}
		requireEveryField(t, status)

		encoded, err := v1alpha1.Encode(status)
		require.NoError(t, err)
		read, err := v1alpha1.DecodeControllerInstallationStatus(encoded)
		require.NoError(t, err)
		require.Empty(t, cmp.Diff(status, read))
	})
	for sentence, raw := range map[string]*runtime.RawExtension{
		"none is an empty one":                 {},
		"no field at all is an empty one":      {Raw: []byte(kind + `}`)},
		"fields of later versions are ignored": {Raw: []byte(kind + `,"later":1}`)},
	} {
		t.Run(sentence, func(t *testing.T) {
			read, err := v1alpha1.DecodeControllerInstallationStatus(raw)
			require.NoError(t, err)
			require.Equal(t, v1alpha1.NewControllerInstallationStatus(), read)
		})
	}
	t.Run("somebody else's is an error", func(t *testing.T) {
		_, err := v1alpha1.DecodeControllerInstallationStatus(&runtime.RawExtension{Raw: []byte(`{"apiVersion":"example.org/v1","kind":"Status"}`)})
		require.ErrorContains(t, err, "kind to ControllerInstallationStatus")
	})
}
