package cloud_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud"
)

func TestMetrics_CloudsShareThem(t *testing.T) {
	registry := prometheus.NewRegistry()
	one, other := cloud.NewMetrics(registry, "one"), cloud.NewMetrics(registry, "other")
	again := cloud.NewMetrics(registry, "one")
	one.Request("network", "GET", "200", time.Second)
	again.Request("network", "GET", "200", time.Second)
	other.Request("network", "GET", "none", time.Second)
	one.Login(nil)
	other.Login(errors.New("wrong password"))

	assert.ElementsMatch(t, []string{
		"trellis_cloud_logins_total one success: 1",
		"trellis_cloud_logins_total other failure: 1",
		"trellis_cloud_requests_total one 200 GET network: 2",
		"trellis_cloud_requests_total other none GET network: 1",
	}, counters(t, registry))
}

// counters lists the counters of a registry with the values of their labels, sorted by name of the label.
func counters(t *testing.T, registry *prometheus.Registry) []string {
	t.Helper()
	families, err := registry.Gather()
	require.NoError(t, err)
	var found []string
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			if metric.GetCounter() == nil {
				continue
			}
			line := family.GetName()
			for _, label := range metric.GetLabel() {
				line += " " + label.GetValue()
			}
			found = append(found, fmt.Sprintf("%s: %v", line, metric.GetCounter().GetValue()))
		}
	}
	return found
}

func TestMetrics_NameTaken(t *testing.T) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(prometheus.NewCounter(prometheus.CounterOpts{Name: "trellis_cloud_requests_total", Help: "Something else."}))
	assert.Panics(t, func() { cloud.NewMetrics(registry, "one") })
}

func TestMetrics_WithoutRegisterer(t *testing.T) {
	assert.NotPanics(t, func() { cloud.NewMetrics(nil, "one").Request("network", "GET", "200", time.Second) })
}
