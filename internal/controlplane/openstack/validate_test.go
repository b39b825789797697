package openstack

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestValidatePodRanges(t *testing.T) {
	for sentence, tc := range map[string]struct {
		routes bool
		ranges []string
		want   string
	}{
		"a network that wraps packets needs no range": {ranges: nil},
		"one range":                  {routes: true, ranges: []string{"100.96.0.0/11"}},
		"one of each family":         {routes: true, ranges: []string{"100.96.0.0/11", "2001:db8::/56"}},
		"none where pods are routed": {routes: true, want: "give the range of the pods"},
		"two of one family":          {routes: true, ranges: []string{"100.96.0.0/11", "10.0.0.0/8"}, want: "one range of each IP family"},
		"something else":             {routes: true, ranges: []string{"pods"}, want: "CIDR notation"},
	} {
		t.Run(sentence, func(t *testing.T) {
			errs := (&inputs{routesPods: tc.routes, podRanges: tc.ranges}).validatePodRanges()
			if tc.want == "" {
				assert.Empty(t, errs)
				return
			}
			assert.ErrorContains(t, errs.ToAggregate(), tc.want)
		})
	}
}
