// Package timeline records what the objects of a Gardener landscape do, and shows it: which object was at work when, what gardenlet waited for, and
// how much of a step's time our controllers were at work. It must not depend on the steps, nor change an object.
//
// A Recorder watches objects, and samples each change. Spans are made of samples by a pure function; so are the pictures (SVG, HTML) of spans.
package timeline

import (
	"cmp"
	"slices"
	"time"
)

// State is what an object does.
type State string

// The states.
const (
	// Settled objects have nothing to do.
	Settled State = "Settled"
	// Requested objects have an operation annotation that no controller has removed yet.
	Requested State = "Requested"
	// Processing objects are reconciled or deleted, or wait for others.
	Processing State = "Processing"
	// Failing objects report an error. It is retried.
	Failing State = "Failing"
	// Gone objects are deleted.
	Gone State = "Gone"
)

// IsBusy reports whether somebody has to act for an object.
func (s State) IsBusy() bool { return s != Settled && s != Gone }

// Object names an object.
type Object struct {
	Cluster   string `json:"cluster"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// Sample is what an object does from a time on.
type Sample struct {
	Time time.Time `json:"time"`
	Object
	State State `json:"state"`
	// Operation is the type of the last operation, such as Create; empty for objects without one.
	Operation string `json:"operation,omitempty"`
	// Description is the object's own.
	Description string `json:"description,omitempty"`
}

// isLike reports whether two samples tell the same.
func (s Sample) isLike(other Sample) bool {
	s.Time = other.Time
	return s == other
}

// Span is a time in which an object was busy, in one state and operation.
type Span struct {
	Object
	State     State     `json:"state"`
	Operation string    `json:"operation,omitempty"`
	From      time.Time `json:"from"`
	To        time.Time `json:"to"`
	// Descriptions are those of the object meanwhile, each once.
	Descriptions []string `json:"descriptions,omitempty"`
}

// Spans returns the times in which objects were busy, by their begin. What is not over yet ends at the end.
func Spans(samples []Sample, end time.Time) []Span {
	samples = slices.Clone(samples)
	slices.SortStableFunc(samples, func(a, b Sample) int { return a.Time.Compare(b.Time) })
	open, spans := map[Object]*Span{}, []Span{}
	finish := func(object Object, at time.Time) {
		if span := open[object]; span != nil {
			span.To = at
			spans = append(spans, *span)
			delete(open, object)
		}
	}
	for _, sample := range samples {
		span := open[sample.Object]
		if span != nil && (span.State != sample.State || span.Operation != sample.Operation) {
			finish(sample.Object, sample.Time)
			span = nil
		}
		if !sample.State.IsBusy() {
			continue
		}
		if span == nil {
			span = &Span{Object: sample.Object, State: sample.State, Operation: sample.Operation, From: sample.Time}
			open[sample.Object] = span
		}
		if sample.Description != "" && !slices.Contains(span.Descriptions, sample.Description) {
			span.Descriptions = append(span.Descriptions, sample.Description)
		}
	}
	for object := range open {
		finish(object, end)
	}
	slices.SortStableFunc(spans, func(a, b Span) int {
		return cmp.Or(a.From.Compare(b.From), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return spans
}

// Busy returns how much of a time at least one of the matching spans lasted.
func Busy(spans []Span, from, to time.Time, match func(Span) bool) time.Duration {
	type interval struct{ from, to time.Time }
	var intervals []interval
	for _, span := range spans {
		i := interval{from: latest(span.From, from), to: earliest(span.To, to)}
		if match(span) && i.from.Before(i.to) {
			intervals = append(intervals, i)
		}
	}
	slices.SortFunc(intervals, func(a, b interval) int { return a.from.Compare(b.from) })
	var sum time.Duration
	covered := from
	for _, i := range intervals {
		begin := latest(i.from, covered)
		if begin.Before(i.to) {
			sum += i.to.Sub(begin)
			covered = i.to
		}
	}
	return sum
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
