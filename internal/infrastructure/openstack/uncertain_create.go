package openstack

import (
	"fmt"
	"time"

	"github.com/trellis-garden/trellis/internal/cloud"
)

// A create whose answer got lost may take effect long after: behind a gateway that timed out, or in the queue of a
// service. Its resource carries the mark, but by then the next pass may have looked for it in vain and made another one. So
// it is remembered per kind that the effect of such a create is unknown. While that stands, every pass looks for marked resources even
// where an ID is recorded, names the superfluous ones, and a deletion removes them.

// uncertainCreateTimeout is how long after its create a resource may still appear. No service works that long on a request.
const uncertainCreateTimeout = time.Hour

// recordFailedCreate learns from a failed create. A refusal settles that there is nothing, unless the effect of an earlier create is unknown.
func (rec *reconciliation) recordFailedCreate(k kind, err error) {
	rec.updateState(func(s *state) {
		switch {
		case cloud.KindOf(err) == cloud.Unavailable:
			s.markUncertain(k, rec.now())
		case !s.isUncertain(k):
			s.withdraw(k)
		}
	})
}

// withdrawIntents drops what this pass did not get around to create. Only a pass that was killed leaves intents behind
// without knowing what became of them.
func (rec *reconciliation) withdrawIntents() {
	rec.updateState(func(s *state) {
		for _, k := range s.intended() {
			if !s.isUncertain(k) {
				s.withdraw(k)
			}
		}
	})
}

// markIntentsUncertain records that the effect is unknown of creates that an earlier process intended when it ended.
func (rec *reconciliation) markIntentsUncertain() {
	for _, k := range rec.state.intended() {
		if !rec.state.isUncertain(k) {
			rec.state.markUncertain(k, rec.now())
		}
	}
}

// resolveUncertainCreate takes notice of all marked resources of a kind, of which one is in use. Superfluous ones are reported and
// remembered for the deletion. When there are none and none can appear any more, the matter is closed.
func (rec *reconciliation) resolveUncertainCreate(k kind, what string, markedIDs []string, usedID string) {
	superfluous := false
	for _, id := range markedIDs {
		if id != usedID && !rec.isGiven(id) {
			superfluous = true
			rec.addFindings(fmt.Sprintf("%s %s is marked as this shoot's own, but another one is in use; it is removed with the shoot, or by hand before", what, id))
		}
	}
	since, uncertain := rec.state.uncertainSince(k)
	switch {
	case superfluous && !uncertain:
		rec.updateState(func(s *state) { s.markUncertain(k, rec.now()) })
	case !superfluous && uncertain && rec.started.Sub(since) >= uncertainCreateTimeout:
		rec.updateState(func(s *state) { s.clearUncertain(k) })
	}
}
