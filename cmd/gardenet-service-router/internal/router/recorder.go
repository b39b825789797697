package router

import (
	"fmt"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
)

// logRecorder logs Events instead of creating them, for which a router has no rights: that a port for health checks could not be opened.
type logRecorder struct{ log logr.Logger }

var _ events.EventRecorder = logRecorder{}

// Eventf implements events.EventRecorder.
func (r logRecorder) Eventf(_, _ runtime.Object, eventType, reason, action, note string, args ...any) {
	r.log.Info(fmt.Sprintf(note, args...), "type", eventType, "reason", reason, "action", action)
}
