package agent

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/internal/truncate"
)

const (
	eventReason     = "NodesUnreachable"
	eventAction     = "SetRoutes"
	eventController = "trellis.garden/gardenet-agent"
	// maxNote is the longest note that the API server accepts, in bytes.
	maxNote = 1024
	// maxInstance is the longest name of a reporter that it accepts.
	maxInstance = 128
)

// eventReporter writes an Event on the own Node when its pods cannot reach those of other nodes: somebody has to change the network or the configuration.
type eventReporter struct {
	client Client
	node   string
	// reported are the nodes of the last Event, with the reason.
	reported map[string]string
}

// report writes an Event if a node has become unreachable, or for another reason.
func (r *eventReporter) report(ctx context.Context, own *corev1.Node, unreachable map[string]string) error {
	isNew := false
	for name, reason := range unreachable {
		if known, ok := r.reported[name]; !ok || known != reason {
			isNew = true
		}
	}
	if isNew {
		if err := r.client.CreateEvent(ctx, r.event(own, unreachable)); err != nil {
			return fmt.Errorf("creating an Event for Node %s: %w", own.Name, err)
		}
	}
	r.reported = maps.Clone(unreachable)
	return nil
}

func (r *eventReporter) event(own *corev1.Node, unreachable map[string]string) *eventsv1.Event {
	now := metav1.NowMicro()
	var notes []string
	for _, name := range slices.Sorted(maps.Keys(unreachable)) {
		notes = append(notes, name+": "+unreachable[name])
	}
	return &eventsv1.Event{
		ObjectMeta:          metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: fmt.Sprintf("%s.%x", own.Name, now.UnixNano())},
		EventTime:           now,
		ReportingController: eventController,
		ReportingInstance:   r.node[:min(len(r.node), maxInstance)],
		Type:                corev1.EventTypeWarning,
		Reason:              eventReason,
		Action:              eventAction,
		Regarding:           corev1.ObjectReference{APIVersion: "v1", Kind: "Node", Name: own.Name, UID: own.UID},
		Note:                truncate.Text(fmt.Sprintf("pods of this node cannot reach those of %d nodes: %s", len(unreachable), strings.Join(notes, "; ")), maxNote),
	}
}
