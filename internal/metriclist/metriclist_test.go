package metriclist

import (
	"bytes"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRecorder_List(t *testing.T) {
	r := NewRecorder()
	r.MustRegister(
		prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "duration_seconds", Help: `Says "so", {braces} and | bars.`, ConstLabels: prometheus.Labels{"contract": "worker"},
		}, []string{"operation", "code"}),
		prometheus.NewSummaryVec(prometheus.SummaryOpts{Name: "summary", Help: "A summary."}, []string{"a"}),
		prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "state", Help: "A state."}, nil),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "now", Help: "A function."}, func() float64 { return 1 }),
		prometheus.NewCounterVec(prometheus.CounterOpts{Name: "cloud_total", Help: "A vector with a series."}, []string{"cloud", "service"}),
	)
	removed := prometheus.NewCounter(prometheus.CounterOpts{Name: "removed_total", Help: "Not any more."})
	require.NoError(t, r.Register(removed))
	require.Error(t, r.Register(removed), "it is registered already")
	assert.True(t, r.Unregister(removed))

	metrics, err := r.List()
	require.NoError(t, err)
	want := []Metric{
		{Name: "cloud_total", Type: "counter", Labels: []string{"cloud", "service"}, Help: "A vector with a series."},
		{Name: "duration_seconds", Type: "histogram", Labels: []string{"code", "contract", "operation"}, Help: `Says "so", {braces} and | bars.`},
		{Name: "now", Type: "gauge", Labels: []string{}, Help: "A function."},
		{Name: "state", Type: "gauge", Labels: []string{}, Help: "A state."},
		{Name: "summary", Type: "summary", Labels: []string{"a"}, Help: "A summary."},
	}
	assert.Equal(t, want, metrics)

	var written bytes.Buffer
	require.NoError(t, Write(&written, metrics))
	read, err := Read(&written)
	require.NoError(t, err)
	assert.Equal(t, want, read)
}

// empty is a collector without a series.
type empty struct{}

func (empty) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- prometheus.NewDesc("own_total", "Of a collector of its own.", []string{"a"}, nil)
}

func (empty) Collect(chan<- prometheus.Metric) {}

func TestRecorder_UnknownType(t *testing.T) {
	r := NewRecorder()
	r.MustRegister(empty{})
	_, err := r.List()
	assert.EqualError(t, err, "metric own_total has no series, so its type is unknown: register a metric or a vector of metrics")
}

func TestRead_Invalid(t *testing.T) {
	_, err := Read(bytes.NewBufferString("usage: ..."))
	assert.ErrorContains(t, err, "reading a list of metrics: ")
}
