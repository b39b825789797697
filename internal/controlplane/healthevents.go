package controlplane

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/contract/managedresource"
	"github.com/trellis-garden/trellis/internal/contract/shootclient"
	"github.com/trellis-garden/trellis/internal/truncate"
)

// annotationEventReporters on the ManagedResource of the seed has the plan's EventReporters as JSON, so that a health check knows those that are deployed.
const annotationEventReporters = "controlplane.trellis.garden/event-reporters"

// maxEventAge is how long an Event counts. It is twice the longest pause between two health checks: a component that repeats its Event until the problem is
// solved does not look healthy in between.
const maxEventAge = 10 * time.Minute

// encodeEventReporters returns the annotation's value, empty without reporters.
func encodeEventReporters(reporters []EventReporter) (string, error) {
	if len(reporters) == 0 {
		return "", nil
	}
	encoded, err := json.Marshal(reporters)
	if err != nil {
		return "", fmt.Errorf("encoding the reporters of Events: %w", err)
	}
	return string(encoded), nil
}

// reportedProblems returns what the components report that the ManagedResource of the seed contains. Without such components it makes no request.
func reportedProblems(ctx context.Context, reader client.Reader, seed *resourcesv1alpha1.ManagedResource, now time.Time) ([]managedresource.Problem, error) {
	if seed == nil || seed.Annotations[annotationEventReporters] == "" {
		return nil, nil
	}
	var reporters []EventReporter
	if err := json.Unmarshal([]byte(seed.Annotations[annotationEventReporters]), &reporters); err != nil {
		return nil, fmt.Errorf("reading annotation %s of ManagedResource %s: %w", annotationEventReporters, seed.Name, err)
	}
	shoot, err := shootclient.New(ctx, reader, seed.Namespace)
	if err != nil {
		return nil, err
	}
	var problems []managedresource.Problem
	for _, reporter := range reporters {
		newest, at, err := reporter.newestEvent(ctx, shoot)
		if err != nil {
			return problems, err
		}
		if newest != nil && newest.Type == corev1.EventTypeWarning && now.Sub(at) <= maxEventAge {
			problems = append(problems, reporter.problem(newest))
		}
	}
	return problems, nil
}

// newestEvent returns the last Event that is about the component's ServiceAccount, and its time; nil if there is none. One that is no warning says that the
// problem is solved.
func (r EventReporter) newestEvent(ctx context.Context, shoot client.Reader) (*corev1.Event, time.Time, error) {
	var newest *corev1.Event
	var at time.Time
	options := client.ListOptions{
		Namespace:     metav1.NamespaceSystem,
		FieldSelector: fields.SelectorFromSet(fields.Set{"involvedObject.kind": "ServiceAccount", "involvedObject.name": r.Account}),
	}
	err := shootclient.EachEvent(ctx, shoot, options, func(event *corev1.Event) error {
		if last := lastTime(event); newest == nil || last.After(at) {
			newest, at = event, last
		}
		return nil
	})
	return newest, at, err
}

// lastTime returns when an Event was reported last. Which field has it depends on the version of the API that it was created with.
func lastTime(event *corev1.Event) time.Time {
	last := event.CreationTimestamp.Time
	times := []time.Time{event.LastTimestamp.Time, event.EventTime.Time}
	if event.Series != nil {
		times = append(times, event.Series.LastObservedTime.Time)
	}
	for _, each := range times {
		if each.After(last) {
			last = each
		}
	}
	return last
}

func (r EventReporter) problem(event *corev1.Event) managedresource.Problem {
	codes := []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorRetryableInfraDependencies}
	for _, text := range slices.Sorted(maps.Keys(r.Codes)) {
		if strings.Contains(event.Message, text) {
			codes = []gardencorev1beta1.ErrorCode{r.Codes[text]}
			break
		}
	}
	return managedresource.Problem{
		Description: fmt.Sprintf("component %q reports %s: %s", r.Account, truncate.Line(event.Reason, truncate.MaxExternal),
			truncate.Line(withoutRequestID(event.Message), truncate.MaxExternal)),
		Codes: codes,
	}
}

// withoutRequestID removes the ID that each response of a cloud has: with it, each repetition of an error would be a change.
func withoutRequestID(message string) string {
	return regexp.MustCompile(`(?i)\s*request ?id: ?[0-9a-z-]+,?`).ReplaceAllString(message, "")
}
