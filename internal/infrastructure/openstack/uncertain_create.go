package openstack

import (
	"fmt"
	"time"

	"github.com/trellis-garden/trellis/internal/cloud"
)

// A creation whose response was lost may take effect long after: behind a gateway that timed out, or in the queue of a service. Its resource has the mark,
// but the next reconciliation may have looked for it too early and created another one. So it is recorded per kind that the result of such a creation is
// unknown. While it is, each reconciliation looks for marked resources even if an ID is recorded and names the superfluous ones, and a deletion removes
// them.

// uncertainCreateTimeout is how long after its creation a resource may still appear. No service takes that long for a request.
const uncertainCreateTimeout = time.Hour

// recordFailedCreate handles a failed creation. A refusal means that there is no resource, unless the result of an earlier creation is unknown.
func (rec *reconciliation) recordFailedCreate(k kind, err error) {
	rec.updateState(func(s *state) {
		switch {
		case cloud.KindOf(err) == cloud.Unavailable:
			s.MarkUncertain(k, rec.now())
		case !s.IsUncertain(k):
			s.Withdraw(k)
		}
	})
}

// withdrawIntents removes intents that this reconciliation has not started to create. Only a killed process leaves intents with an unknown result.
func (rec *reconciliation) withdrawIntents() {
	rec.updateState(func(s *state) {
		for _, k := range s.Intended() {
			if !s.IsUncertain(k) {
				s.Withdraw(k)
			}
		}
	})
}

// markIntentsUncertain records that the effect is unknown of creates that an earlier process intended when it ended.
func (rec *reconciliation) markIntentsUncertain() {
	for _, k := range rec.state.Intended() {
		if !rec.state.IsUncertain(k) {
			rec.state.MarkUncertain(k, rec.now())
		}
	}
}

// resolveUncertainCreate handles all marked resources of a kind, of which one is in use. Superfluous ones are reported and recorded for the deletion. If there
// are none and none can appear any more, the record is removed.
func (rec *reconciliation) resolveUncertainCreate(k kind, what string, markedIDs []string, usedID string) {
	superfluous := false
	for _, id := range markedIDs {
		if id != usedID && !rec.isGiven(id) {
			superfluous = true
			rec.addFindings(fmt.Sprintf("%s %s is marked as this shoot's own, but another one is in use; it is removed with the shoot, or by hand before", what, id))
		}
	}
	since, uncertain := rec.state.UncertainSince(k)
	switch {
	case superfluous && !uncertain:
		rec.updateState(func(s *state) { s.MarkUncertain(k, rec.now()) })
	case !superfluous && uncertain && rec.started.Sub(since) >= uncertainCreateTimeout:
		rec.updateState(func(s *state) { s.ClearUncertain(k) })
	}
}
