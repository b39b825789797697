package network

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCheckStage(t *testing.T) {
	now := time.Date(2026, time.June, 1, 12, 0, 0, 0, time.UTC)
	form := json.RawMessage(`"vxlan"`)
	stage := &pendingStage{Name: "bringing up tunnels", Gate: Gate{Workloads: []Workload{{Kind: "DaemonSet", Namespace: "kube-system", Name: "agent"}}, Routes: true}}
	for sentence, test := range map[string]struct {
		recorded state
		since    time.Duration
		healthy  bool
		want     string
	}{
		"no change":                            {recorded: state{Form: form}, since: 24 * time.Hour, healthy: true, want: "No change of the network is in progress."},
		"a change that has just begun":         {recorded: state{Form: form, Stage: stage}, since: 59 * time.Minute, healthy: true, want: "The network is being changed: bringing up tunnels."},
		"a change that has taken too long":     {recorded: state{Form: form, Stage: stage}, since: time.Hour, want: `The change "bringing up tunnels" has not been completed for more than an hour.`},
		"what the change waits for":            {recorded: state{Form: form, Stage: stage}, since: 2 * time.Hour, want: "until DaemonSet kube-system/agent runs in its newest version, until the cloud has a route"},
		"another extension is the primary one": {since: 24 * time.Hour},
	} {
		t.Run(sentence, func(t *testing.T) {
			finding := checkStage(test.recorded, now.Add(-test.since), now)
			require.Equal(t, test.want != "", finding != nil)
			if finding != nil {
				assert.Equal(t, test.healthy, finding.Healthy)
				assert.Contains(t, finding.Message, test.want)
			}
		})
	}
}
