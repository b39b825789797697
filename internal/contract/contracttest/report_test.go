package contracttest

import (
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTooManyMissed(t *testing.T) {
	deletion := Call{Target: KubeAPI, Method: http.MethodDelete, Path: "/secrets/one"}
	progress := Call{Target: KubeAPI, Method: http.MethodPatch, Path: "/workers/one/status", Nth: 2}
	success := Call{Target: KubeAPI, Method: http.MethodPatch, Path: "/workers/one/status to Succeeded"}
	single := func(call Call) Case { return Case{Phase: Create, Fault: &Fault{Call: call, Type: KillAfter}} }
	merged := Case{Phase: Create, Fault: &Fault{All: []Call{deletion, success}, Type: KillAfter}}

	tests := map[string]struct {
		unreached []Case
		want      bool
	}{
		"nothing missed":                  {nil, false},
		"two of a hundred":                {slices.Repeat([]Case{single(deletion)}, 2), false},
		"three of a hundred":              {slices.Repeat([]Case{single(deletion)}, 3), true},
		"writes of progress do not count": {slices.Repeat([]Case{single(progress)}, 3), false},
		"writes of a new state count":     {slices.Repeat([]Case{single(success)}, 3), true},
		"cases of many calls do not":      {slices.Repeat([]Case{merged}, 3), false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			report := &Report{Cases: map[Phase]int{Create: 100}, Unreached: test.unreached}
			assert.Equal(t, test.want, report.TooManyMissed())
		})
	}
}
