package fleet

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"slices"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Metrics are a process's metrics at one moment, by their names.
type Metrics map[string]*dto.MetricFamily

// Metrics reads the replica's metrics.
func (r *Replica) Metrics(ctx context.Context) (Metrics, error) {
	body, err := get(ctx, r.MetricsURL)
	if err != nil {
		return nil, err
	}
	defer func() { _ = body.Close() }()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(body)
	if err != nil {
		return nil, fmt.Errorf("reading metrics: %w", err)
	}
	return families, nil
}

func get(ctx context.Context, url string) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		_ = response.Body.Close()
		return nil, fmt.Errorf("reading %s: %s", url, response.Status)
	}
	return response.Body, nil
}

// Sum adds all values of a counter or gauge.
func (m Metrics) Sum(name string) float64 {
	return m.SumOf(name, "", nil)
}

// SumOf adds the values of a counter or gauge whose label matches.
func (m Metrics) SumOf(name, label string, match func(value string) bool) float64 {
	sum := 0.0
	for _, metric := range m[name].GetMetric() {
		if match != nil && !hasLabel(metric, label, match) {
			continue
		}
		sum += metric.GetCounter().GetValue() + metric.GetGauge().GetValue() + metric.GetUntyped().GetValue()
	}
	return sum
}

// Histogram adds up the histograms of a name whose labels match, by their upper bounds.
func (m Metrics) Histogram(name, label string, match func(value string) bool) Histogram {
	h := Histogram{}
	for _, metric := range m[name].GetMetric() {
		if !hasLabel(metric, label, match) {
			continue
		}
		for _, bucket := range metric.GetHistogram().GetBucket() {
			h[bucket.GetUpperBound()] += bucket.GetCumulativeCount()
		}
	}
	return h
}

func hasLabel(metric *dto.Metric, label string, match func(string) bool) bool {
	return slices.ContainsFunc(metric.GetLabel(), func(pair *dto.LabelPair) bool { return pair.GetName() == label && match(pair.GetValue()) })
}

// Histogram has the number of observations up to each bound.
type Histogram map[float64]uint64

// Minus returns the observations that were made since an earlier moment.
func (h Histogram) Minus(earlier Histogram) Histogram {
	since := Histogram{}
	for bound, n := range h {
		since[bound] = n - earlier[bound]
	}
	return since
}

// Plus adds the observations of another process.
func (h Histogram) Plus(other Histogram) Histogram {
	sum := maps.Clone(h)
	if sum == nil {
		sum = Histogram{}
	}
	for bound, n := range other {
		sum[bound] += n
	}
	return sum
}

// Count is the number of observations.
func (h Histogram) Count() uint64 { return h[math.Inf(1)] }

// Quantile estimates a quantile as Prometheus' histogram_quantile does: within a bucket, observations are taken as evenly distributed.
func (h Histogram) Quantile(q float64) float64 {
	var bounds []float64
	for bound := range h {
		bounds = append(bounds, bound)
	}
	slices.Sort(bounds)
	rank := q * float64(h.Count())
	lower, below := 0.0, uint64(0)
	for _, bound := range bounds {
		if count := h[bound]; float64(count) >= rank && count > below {
			if math.IsInf(bound, 1) {
				return lower
			}
			return lower + (bound-lower)*(rank-float64(below))/float64(count-below)
		}
		lower, below = bound, h[bound]
	}
	return 0
}
