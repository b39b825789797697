package gardenet

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/trellis-garden/trellis/internal/golden"
	"github.com/trellis-garden/trellis/internal/network/monitoring"
)

// agentMetrics are those of the agent's --list-metrics. Without NetworkPolicies it has no gardenet_pod_addresses_free.
func agentMetrics() []string {
	return []string{
		"gardenet_dropped_packets_total", "gardenet_generation", "gardenet_last_success_timestamp_seconds", "gardenet_pod_addresses_free", "gardenet_policies", "gardenet_repairs_total",
		"gardenet_set_elements", "gardenet_sync_duration_seconds", "gardenet_sync_errors_total", "gardenet_unreachable_nodes",
	}
}

func TestMonitoring(t *testing.T) {
	folder := golden.Open(t, "testdata/monitoring")
	objects, err := decided(t, shootOn(t, "aws", "")).monitoringObjects()
	require.NoError(t, err)
	for _, object := range objects {
		if dashboards, ok := object.(*corev1.ConfigMap); ok {
			for file, content := range dashboards.Data {
				// A line for each panel is still JSON, and can be read.
				dashboards.Data[file] = strings.ReplaceAll(content, `,{"id":`, ",\n{\"id\":") + "\n"
			}
		}
	}
	folder.Check(t, "seed.yaml", golden.Manifest(t, objects))
}

// Alerts and dashboards have metrics of the agent, and all of them.
func TestMonitoring_MetricsExist(t *testing.T) {
	s := decided(t, shootOn(t, "aws", ""))
	var expressions []string
	for _, alert := range alerts() {
		assert.Regexp(t, `^Gardenet[A-Z]`, alert.Name)
		expressions = append(expressions, alert.Expression)
	}
	dashboards, err := s.monitoringObjects()
	require.NoError(t, err)
	var shown monitoring.PlutonoDashboard
	require.NoError(t, json.Unmarshal([]byte(find[*corev1.ConfigMap](t, dashboards).Data["gardenet-dashboard.json"]), &shown))
	for _, panel := range shown.Panels {
		for _, target := range panel.Targets {
			expressions = append(expressions, target.Expression)
		}
	}
	used := map[string]bool{}
	for _, expression := range expressions {
		for _, name := range regexp.MustCompile(`gardenet_\w+`).FindAllString(expression, -1) {
			name = strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_count")
			assert.Contains(t, agentMetrics(), name, expression)
			used[name] = true
		}
	}
	assert.Len(t, used, len(agentMetrics()))
}
