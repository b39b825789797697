// Package metriclist lists the metrics that a program registers, with all that a reader of them has to know. It must not know any program.
package metriclist

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// Metric describes one metric.
type Metric struct {
	Name string `json:"name"`
	// Type is counter, gauge, histogram or summary.
	Type string `json:"type"`
	// Labels are the names of its labels, in alphabetical order.
	Labels []string `json:"labels"`
	// Help says what it measures.
	Help string `json:"help"`
}

// Recorder is a Registerer that remembers what is registered.
type Recorder struct {
	registry *prometheus.Registry

	mutex      sync.Mutex
	collectors []prometheus.Collector
}

var _ prometheus.Registerer = (*Recorder)(nil)

// NewRecorder returns a Recorder in which nothing is registered.
func NewRecorder() *Recorder { return &Recorder{registry: prometheus.NewRegistry()} }

// Register implements prometheus.Registerer.
func (r *Recorder) Register(collector prometheus.Collector) error {
	if err := r.registry.Register(collector); err != nil {
		return err
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.collectors = append(r.collectors, collector)
	return nil
}

// MustRegister implements prometheus.Registerer.
func (r *Recorder) MustRegister(collectors ...prometheus.Collector) {
	for _, collector := range collectors {
		if err := r.Register(collector); err != nil {
			panic(err) //nolint:forbidigo // the interface requires it
		}
	}
}

// Unregister implements prometheus.Registerer.
func (r *Recorder) Unregister(collector prometheus.Collector) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.collectors = slices.DeleteFunc(r.collectors, func(known prometheus.Collector) bool { return known == collector })
	return r.registry.Unregister(collector)
}

// List returns the metrics of all collectors, in the order of their names. It adds a series to vectors, since Prometheus' library tells the type of a
// metric with a series only: the program must not serve the collectors afterwards. It fails if a collector of another type has no series.
func (r *Recorder) List() ([]Metric, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	var all []description
	for _, collector := range r.collectors {
		of, err := describe(collector)
		if err != nil {
			return nil, err
		}
		all = append(all, of...)
		if err := addSeries(collector, of); err != nil {
			return nil, err
		}
	}
	metrics, err := Gather(r.registry)
	if err != nil {
		return nil, err
	}
	for _, d := range all {
		if !slices.ContainsFunc(metrics, func(m Metric) bool { return m.Name == d.name }) {
			return nil, fmt.Errorf("metric %s has no series, so its type is unknown: register a metric or a vector of metrics", d.name)
		}
	}
	return metrics, nil
}

// Gather returns the metrics that have a series, in the order of their names.
func Gather(gatherer prometheus.Gatherer) ([]Metric, error) {
	families, err := gatherer.Gather()
	if err != nil {
		return nil, fmt.Errorf("reading registered metrics: %w", err)
	}
	metrics := make([]Metric, 0, len(families))
	for _, family := range families {
		metric := Metric{Name: family.GetName(), Type: strings.ToLower(family.GetType().String()), Labels: []string{}, Help: family.GetHelp()}
		for _, series := range family.GetMetric() {
			for _, label := range series.GetLabel() {
				metric.Labels = append(metric.Labels, label.GetName())
			}
		}
		slices.Sort(metric.Labels)
		metric.Labels = slices.Compact(metric.Labels)
		metrics = append(metrics, metric)
	}
	return metrics, nil
}

// Write writes the metrics as JSON, which Read reads.
func Write(out io.Writer, metrics []Metric) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(metrics); err != nil {
		return fmt.Errorf("writing the list of metrics: %w", err)
	}
	return nil
}

// Read reads what Write has written.
func Read(in io.Reader) ([]Metric, error) {
	var metrics []Metric
	if err := json.NewDecoder(in).Decode(&metrics); err != nil {
		return nil, fmt.Errorf("reading a list of metrics: %w", err)
	}
	return metrics, nil
}

// description is what a collector says about one of its metrics.
type description struct {
	name   string
	labels []string
}

// describe parses the texts of a collector's descriptions: Prometheus' library has no other way to read them.
func describe(collector prometheus.Collector) ([]description, error) {
	descriptions := make(chan *prometheus.Desc)
	go func() {
		defer close(descriptions)
		collector.Describe(descriptions)
	}()
	var all []description
	var errs []error
	format := regexp.MustCompile(`^Desc\{fqName: "([^"]+)", help: .*, variableLabels: \{(.*)\}\}$`)
	for d := range descriptions {
		match := format.FindStringSubmatch(d.String())
		if match == nil {
			errs = append(errs, fmt.Errorf("the description %s has another form than expected", d))
			continue
		}
		one := description{name: match[1]}
		if match[2] != "" {
			one.labels = strings.Split(match[2], ",")
		}
		all = append(all, one)
	}
	return all, errors.Join(errs...)
}

// addSeries adds a series to a vector.
func addSeries(collector prometheus.Collector, descriptions []description) error {
	if len(descriptions) != 1 {
		return nil // no vector
	}
	labels := prometheus.Labels{}
	for _, name := range descriptions[0].labels {
		labels[name] = ""
	}
	var err error
	switch vector := collector.(type) {
	case *prometheus.CounterVec:
		_, err = vector.GetMetricWith(labels)
	case *prometheus.GaugeVec:
		_, err = vector.GetMetricWith(labels)
	case *prometheus.HistogramVec:
		_, err = vector.GetMetricWith(labels)
	case *prometheus.SummaryVec:
		_, err = vector.GetMetricWith(labels)
	}
	if err != nil {
		return fmt.Errorf("adding a series to %s: %w", descriptions[0].name, err)
	}
	return nil
}
