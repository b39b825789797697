package validation_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestValidateRollout(t *testing.T) {
	const name, selector = "c.rollout.waves[0].name", `"seedSelector":{}`
	for sentence, test := range map[string]struct {
		rollout string
		want    []string
	}{
		"none":                 {``, nil},
		"paused":               {`"paused":true`, nil},
		"automatic rollback":   {`"rollback":"Automatic"`, nil},
		"no rollback":          {`"rollback":"Never"`, nil},
		"a rollback by hand":   {`"rollback":"Manual"`, []string{"c.rollout.rollback", `Unsupported value: "Manual": write Automatic or Never, or remove the field`}},
		"a gate by default":    {`"healthGate":{}`, nil},
		"waves":                {`"waves":[{"name":"a",` + selector + `},{"name":"1-b",` + selector + `}]`, nil},
		"no waves":             {`"waves":[]`, nil},
		"a wave of null":       {`"waves":[null]`, []string{name, "Required", "c.rollout.waves[0].seedSelector", "Required"}},
		"a wave without name":  {`"waves":[{` + selector + `}]`, []string{name, "Required value: give a name that no other has"}},
		"a name in words":      {`"waves":[{"name":"first seeds",` + selector + `}]`, []string{name, `"first seeds": use at most 63 lower-case letters, digits and dashes`}},
		"a name with a dot":    {`"waves":[{"name":"a.b",` + selector + `}]`, []string{name, "use at most 63"}},
		"a name that is long":  {`"waves":[{"name":"` + strings.Repeat("a", 63) + `",` + selector + `}]`, nil},
		"one that is too long": {`"waves":[{"name":"` + strings.Repeat("a", 64) + `",` + selector + `}]`, []string{name, "use at most 63"}},
		"the rest by name":     {`"waves":[{"name":"rest",` + selector + `}]`, []string{name, `"rest": that is the wave of all seeds that no other one selects`}},
		"the rest in between": {
			`"waves":[{"name":"a",` + selector + `},{"name":"rest",` + selector + `},{"name":"b",` + selector + `}]`,
			[]string{"c.rollout.waves[1].name", "choose another name, or remove the wave"},
		},
		"a name twice": {
			`"waves":[{"name":"a",` + selector + `},{"name":"a",` + selector + `}]`,
			[]string{"c.rollout.waves[1].name", `Duplicate value: "a": rename or remove one of the two`},
		},
		"a wave and an overlay of one name": {`"waves":[{"name":"a",` + selector + `}]},"valuesOverlays":[{"name":"a",` + selector + `,"values":{}}],"uninstall":{`, nil},
		"a wave without seeds":              {`"waves":[{"name":"a"}]`, []string{"c.rollout.waves[0].seedSelector", "Required value: say by their labels which seeds are meant"}},
		"a wave with all errors": {
			`"waves":[{"name":"A","soakTime":"-1s","maxUnavailable":0}]`,
			[]string{name, "", "c.rollout.waves[0].seedSelector", "", "c.rollout.waves[0].soakTime", "", "c.rollout.waves[0].maxUnavailable", ""},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			requireErrors(t, test.want, refused(t, `"rollout":{`+test.rollout+`}`))
		})
	}
}

func TestValidateRollout_Durations(t *testing.T) {
	for path, test := range map[string]struct {
		fields           string // around the duration
		accepted, beyond []string
		bounds           string
	}{
		"c.rollout.soakTime": {`"soakTime":X`, []string{"0s", "5m", "168h"}, []string{"-1ns", "168h1s", "1000h"}, "from 0s to 168h"},
		"c.rollout.waves[0].soakTime": {
			`"waves":[{"name":"a","seedSelector":{},"soakTime":X}]`, []string{"0s", "5m", "168h"}, []string{"-5m", "168h0m1s"}, "from 0s to 168h",
		},
		"c.rollout.healthGate.deadline":  {`"healthGate":{"deadline":X}`, []string{"1ms", "10m", "24h"}, []string{"0s", "-10m", "24h1s"}, "from 1ms to 24h"},
		"c.rollout.healthGate.tolerance": {`"healthGate":{"tolerance":X}`, []string{"0s", "1m", "24h"}, []string{"-1s", "24h1s"}, "from 0s to 24h"},
		"c.rollout.healthGate.maxWait":   {`"healthGate":{"maxWait":X}`, []string{"0s", "10m", "24h"}, []string{"-1s", "24h1s"}, "from 0s to 24h"},
	} {
		try := func(duration string) []string {
			var got []string
			for _, err := range refused(t, `"rollout":{`+strings.ReplaceAll(test.fields, "X", `"`+duration+`"`)+`}`) {
				got = append(got, err.Field, err.Detail)
			}
			return got
		}
		for _, duration := range test.accepted {
			t.Run(path+" "+duration, func(t *testing.T) {
				require.Empty(t, try(duration))
			})
		}
		for _, duration := range test.beyond {
			t.Run(path+" "+duration, func(t *testing.T) {
				require.Equal(t, []string{path, "write a duration " + test.bounds + ", or remove the field"}, try(duration))
			})
		}
	}
}

func TestValidateRollout_MaxUnavailable(t *testing.T) {
	for text, right := range map[string]bool{
		`1`: true, `2147483647`: true, `"1%"`: true, `"25%"`: true, `"100%"`: true,
		`0`: false, `-1`: false, `"0%"`: false, `"101%"`: false, `"-5%"`: false, `"+5%"`: false, `"5"`: false, `"5.5%"`: false,
		`""`: false, `"%"`: false, `"5 %"`: false, `"all"`: false, `"99999999999999999999%"`: false,
	} {
		for path, fields := range map[string]string{
			"c.rollout.maxUnavailable":          `"maxUnavailable":` + text,
			"c.rollout.waves[0].maxUnavailable": `"waves":[{"name":"a","seedSelector":{},"maxUnavailable":` + text + `}]`,
		} {
			t.Run(path+" "+text, func(t *testing.T) {
				var want []string
				if !right {
					want = []string{path, text + ": write a number of at least 1, without quotes, or a percentage from 1% to 100%, or remove the field"}
				}
				requireErrors(t, want, refused(t, `"rollout":{`+fields+`}`))
			})
		}
	}
}

func TestValidateRollout_MaxFailures(t *testing.T) {
	for text, right := range map[string]bool{
		`0`: true, `1`: true, `2147483647`: true, `"0%"`: true, `"25%"`: true, `"100%"`: true,
		`-1`: false, `"101%"`: false, `"-5%"`: false, `"5"`: false, `""`: false, `"all"`: false,
	} {
		t.Run(text, func(t *testing.T) {
			var want []string
			if !right {
				want = []string{"c.rollout.maxFailures", text + ": write a number of at least 0, without quotes, or a percentage from 0% to 100%, or remove the field"}
			}
			requireErrors(t, want, refused(t, `"rollout":{"maxFailures":`+text+`}`))
		})
	}
}

func TestValidateRollout_MaxInterruptions(t *testing.T) {
	for text, right := range map[string]bool{`0`: true, `5`: true, `100`: true, `-1`: false, `101`: false} {
		t.Run(text, func(t *testing.T) {
			var want []string
			if !right {
				want = []string{"c.rollout.healthGate.maxInterruptions", text + ": write a number from 0 to 100, or remove the field"}
			}
			requireErrors(t, want, refused(t, `"rollout":{"healthGate":{"maxInterruptions":`+text+`}}`))
		})
	}
}

func TestValidateRollout_SeedSelectors(t *testing.T) {
	for sentence, test := range map[string]struct {
		selector string
		want     []string
	}{
		"all":               {``, nil},
		"by labels":         {`"matchLabels":{"example.org/stage":"dev","b":""}`, nil},
		"by expressions":    {`"matchExpressions":[{"key":"a","operator":"In","values":["b"]},{"key":"c","operator":"NotIn","values":["d",""]}]`, nil},
		"by presence":       {`"matchExpressions":[{"key":"a","operator":"Exists"},{"key":"b","operator":"DoesNotExist","values":[]}]`, nil},
		"a bad key":         {`"matchLabels":{"a b":"c"}`, []string{".matchLabels[a b]", `"a b": is not a label key: use letters`}},
		"a bad value":       {`"matchLabels":{"a":"b c"}`, []string{".matchLabels[a]", `"b c": is not a label value: use at most 63 letters`}},
		"both, and another": {`"matchLabels":{"b b":"c c","a":"d d"}`, []string{".matchLabels[a]", "is not a label value", ".matchLabels[b b]", "is not a label key", ".matchLabels[b b]", "is not a label value"}},
		"no key":            {`"matchExpressions":[{"operator":"Exists"}]`, []string{".matchExpressions[0].key", "is not a label key"}},
		"no operator":       {`"matchExpressions":[{"key":"a"}]`, []string{".matchExpressions[0].operator", `Unsupported value: "": write In, NotIn, Exists or DoesNotExist`}},
		"another operator":  {`"matchExpressions":[{"key":"a","operator":"Gt","values":["1"]}]`, []string{".matchExpressions[0].operator", `"Gt": write In`}},
		"in nothing":        {`"matchExpressions":[{"key":"a","operator":"In"}]`, []string{".matchExpressions[0].values", "Required value: give the values that In is about"}},
		"not in nothing":    {`"matchExpressions":[{"key":"a","operator":"NotIn","values":[]}]`, []string{".matchExpressions[0].values", "that NotIn is about"}},
		"exists as a value": {
			`"matchExpressions":[{"key":"a","operator":"Exists","values":["b"]}]`,
			[]string{".matchExpressions[0].values", "Exists asks for no value: remove them, or use In or NotIn"},
		},
		"in a bad value": {
			`"matchExpressions":[{"key":"a","operator":"In","values":["b"]},{"key":"a","operator":"In","values":["c","d e"]}]`,
			[]string{".matchExpressions[1].values[1]", `"d e": is not a label value`},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			for path, fields := range map[string]string{
				"c.rollout.waves[0].seedSelector":  `"rollout":{"waves":[{"name":"a","seedSelector":{` + test.selector + `}}]}`,
				"c.valuesOverlays[0].seedSelector": `"valuesOverlays":[{"name":"a","values":{},"seedSelector":{` + test.selector + `}}]`,
			} {
				var want []string
				for i, text := range test.want {
					if i%2 == 0 {
						text = path + text
					}
					want = append(want, text)
				}
				requireErrors(t, want, refused(t, fields))
			}
		})
	}
}
