package v1alpha1_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/apis/installation/v1alpha1"
)

func TestDefault(t *testing.T) {
	const (
		rest    = `{"name":"rest","seedSelector":{},"soakTime":"5m","maxUnavailable":"25%"}`
		gate    = `"maxFailures":0,"healthGate":{"deadline":"10m","tolerance":"1m","maxInterruptions":5,"maxWait":"10m"}`
		others  = `"uninstall":{"whileRequired":"Wait"},"historyLimit":5`
		nothing = `"rollout":{"waves":[` + rest + `],"soakTime":"5m","maxUnavailable":"25%",` + gate + `,"rollback":"Automatic"},` + others
	)
	for sentence, test := range map[string]struct{ given, want string }{
		"nothing given": {``, nothing},
		"empty objects": {`"rollout":{"healthGate":{}},"uninstall":{}`, nothing},
		"empty words":   {`"rollout":{"waves":[],"rollback":""},"uninstall":{"whileRequired":""}`, nothing},
		"chart and values stay": {
			`"chart":"H4sIAAAAAAAA","values":{"a":1},"valuesOverlays":[{"name":"a","seedSelector":{},"values":{}}]`,
			`"chart":"H4sIAAAAAAAA","values":{"a":1},"valuesOverlays":[{"name":"a","seedSelector":{},"values":{}}],` + nothing,
		},
		"waves get what they don't say, and one more comes last": {
			`"rollout":{"waves":[{"name":"a","seedSelector":{"matchLabels":{"b":"c"}}},{"name":"d","seedSelector":{}}]}`,
			`"rollout":{"waves":[
				{"name":"a","seedSelector":{"matchLabels":{"b":"c"}},"soakTime":"5m","maxUnavailable":"25%"},
				{"name":"d","seedSelector":{},"soakTime":"5m","maxUnavailable":"25%"},` + rest + `
			],"soakTime":"5m","maxUnavailable":"25%",` + gate + `,"rollback":"Automatic"},` + others,
		},
		"waves take after the rollout, unless they say otherwise": {
			`"rollout":{"waves":[{"name":"a","seedSelector":{},"soakTime":"1h"},{"name":"b","seedSelector":{},"maxUnavailable":1}],"soakTime":"0s","maxUnavailable":3}`,
			`"rollout":{"waves":[
				{"name":"a","seedSelector":{},"soakTime":"1h","maxUnavailable":3},
				{"name":"b","seedSelector":{},"soakTime":"0s","maxUnavailable":1},
				{"name":"rest","seedSelector":{},"soakTime":"0s","maxUnavailable":3}
			],"soakTime":"0s","maxUnavailable":3,` + gate + `,"rollback":"Automatic"},` + others,
		},
		"what is said stays": {
			`"rollout":{"paused":true,"maxFailures":"10%","healthGate":{"deadline":"1h","tolerance":"0s","maxInterruptions":0,"maxWait":"0s"},"rollback":"Never"},"uninstall":{"whileRequired":"Proceed"},"historyLimit":0`,
			`"rollout":{"paused":true,"waves":[` + rest + `],"soakTime":"5m","maxUnavailable":"25%",
				"maxFailures":"10%","healthGate":{"deadline":"1h","tolerance":"0s","maxInterruptions":0,"maxWait":"0s"},"rollback":"Never"},"uninstall":{"whileRequired":"Proceed"},"historyLimit":0`,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			config := decode(t, test.given)
			v1alpha1.Default(config)
			requireSame(t, decode(t, test.want), config)

			twice := config.DeepCopy()
			v1alpha1.Default(twice)
			require.Empty(t, cmp.Diff(config, twice), "defaulting twice changes nothing")
		})
	}
}

func TestDefault_NotShared(t *testing.T) {
	config := decode(t, `"rollout":{"waves":[{"name":"a","seedSelector":{}},{"name":"b","seedSelector":{}}]}`)
	v1alpha1.Default(config)
	waves := config.Rollout.Waves
	waves[0].SoakTime.Duration, waves[0].MaxUnavailable.StrVal = 0, "1%"
	for _, other := range waves[1:] {
		require.Equal(t, config.Rollout.SoakTime, other.SoakTime)
		require.Equal(t, config.Rollout.MaxUnavailable, other.MaxUnavailable)
	}
	require.Equal(t, "25%", config.Rollout.MaxUnavailable.StrVal)
	require.NotZero(t, config.Rollout.SoakTime.Duration)
}
