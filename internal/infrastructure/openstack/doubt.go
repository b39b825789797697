package openstack

import (
	"fmt"
	"time"

	"github.com/trellis-garden/trellis/internal/cloud"
)

// A create whose answer got lost may take effect long after: behind a gateway that lost patience, or in the queue of a
// service. Its resource carries the mark, but by then the next pass may have looked for it in vain and made another one. So
// it is remembered per kind that such a create is in doubt. While that stands, every pass looks for marked resources even
// where an ID is recorded, names the superfluous ones, and a deletion removes them.

// doubtPatience is how long after its create a resource may still appear. No service works that long on a request.
const doubtPatience = time.Hour

// notCreated learns from a failed create. A refusal settles that there is nothing, unless an earlier create is in doubt.
func (p *pass) notCreated(k kind, err error) {
	p.record(func(l *ledger) {
		switch {
		case cloud.KindOf(err) == cloud.Unavailable:
			l.doubt(k, p.now())
		case !l.doubted(k):
			l.withdraw(k)
		}
	})
}

// withdrawIntents drops what this pass did not get around to create. Only a pass that was killed leaves intents behind
// without knowing what became of them.
func (p *pass) withdrawIntents() {
	p.record(func(l *ledger) {
		for _, k := range l.intended() {
			if !l.doubted(k) {
				l.withdraw(k)
			}
		}
	})
}

// doubtIntents puts in doubt what a predecessor was about to create when it was killed.
func (p *pass) doubtIntents() {
	for _, k := range p.ledger.intended() {
		if !p.ledger.doubted(k) {
			p.ledger.doubt(k, p.now())
		}
	}
}

// settleDoubt takes notice of all marked resources of a kind, of which one is in use. Superfluous ones are reported and
// remembered for the deletion. When there are none and none can appear any more, the matter is closed.
func (p *pass) settleDoubt(k kind, what string, markedIDs []string, usedID string) {
	superfluous := false
	for _, id := range markedIDs {
		if id != usedID && !p.isGiven(id) {
			superfluous = true
			p.report(fmt.Sprintf("%s %s is marked as this shoot's own, but another one is in use; it is removed with the shoot, or by hand before", what, id))
		}
	}
	since, doubted := p.ledger.doubtedSince(k)
	switch {
	case superfluous && !doubted:
		p.record(func(l *ledger) { l.doubt(k, p.now()) })
	case !superfluous && doubted && p.started.Sub(since) >= doubtPatience:
		p.record(func(l *ledger) { l.trust(k) })
	}
}
