package examplenet

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/apis/examplenet/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
)

const (
	ipip  = v1alpha1.EncapsulationIPIP
	vxlan = v1alpha1.EncapsulationVXLAN
	none  = v1alpha1.EncapsulationNone
)

func one(encapsulation v1alpha1.Encapsulation) form {
	return form{Accepts: []v1alpha1.Encapsulation{encapsulation}, Sends: encapsulation}
}

func both(sends v1alpha1.Encapsulation) form {
	return form{Accepts: []v1alpha1.Encapsulation{ipip, vxlan}, Sends: sends}
}

func routed(f form) form {
	f.Routes = true
	return f
}

func waiting(f form) form {
	f.WaitsForRoutes = true
	return f
}

func TestNextStep(t *testing.T) {
	for sentence, test := range map[string]struct {
		deployed, goal form
		rolledOut      bool
		want           *form
	}{
		"nothing to change":                                      {deployed: one(vxlan), goal: one(vxlan)},
		"another encapsulation: accept both":                     {deployed: one(vxlan), goal: one(ipip), want: new(both(vxlan))},
		"accept both until it is rolled out":                     {deployed: both(vxlan), goal: one(ipip), want: new(both(vxlan))},
		"then send the new one":                                  {deployed: both(vxlan), goal: one(ipip), rolledOut: true, want: new(both(ipip))},
		"send the new one until it is rolled out":                {deployed: both(ipip), goal: one(ipip), want: new(both(ipip))},
		"then accept the new one only":                           {deployed: both(ipip), goal: one(ipip), rolledOut: true},
		"back to the old one, which nodes may not send any more": {deployed: both(ipip), goal: one(vxlan), want: new(both(ipip))},

		"routes: wait":                              {deployed: one(vxlan), goal: routed(one(vxlan)), want: new(waiting(one(vxlan)))},
		"wait until they exist":                     {deployed: waiting(one(vxlan)), goal: routed(one(vxlan)), want: new(waiting(one(vxlan)))},
		"then use them":                             {deployed: waiting(one(vxlan)), goal: routed(one(vxlan)), rolledOut: true},
		"do not use them any more":                  {deployed: routed(one(vxlan)), goal: one(vxlan)},
		"keep them while the encapsulation changes": {deployed: routed(one(vxlan)), goal: routed(one(ipip)), want: new(routed(both(vxlan)))},

		"routes and another encapsulation: wait when it is rolled out": {deployed: both(ipip), goal: routed(one(ipip)), rolledOut: true, want: new(waiting(both(ipip)))},
		"wait without starting again":                                  {deployed: waiting(both(ipip)), goal: routed(one(ipip)), want: new(waiting(both(ipip)))},
		"then complete both":                                           {deployed: waiting(both(ipip)), goal: routed(one(ipip)), rolledOut: true},
	} {
		t.Run(sentence, func(t *testing.T) {
			next, err := nextStep(test.deployed, test.goal, test.rolledOut)
			require.NoError(t, err)
			if test.want == nil {
				assert.Nil(t, next)
				return
			}
			require.NotNil(t, next)
			assert.Equal(t, *test.want, next.form)
			assert.NotEmpty(t, next.name)
		})
	}
}

func TestNextStep_Refused(t *testing.T) {
	for sentence, test := range map[string]struct {
		deployed, goal form
		want           string
	}{
		"from none": {one(none), one(vxlan), "encapsulation: it cannot be changed, set it to none again"},
		"to none":   {one(ipip), one(none), "encapsulation: it cannot become none, set it to ipip again"},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := nextStep(test.deployed, test.goal, true)
			require.ErrorContains(t, err, test.want)
			assert.Equal(t, cloud.Configuration, cloud.KindOf(err))
		})
	}
}
