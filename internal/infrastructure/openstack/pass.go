package openstack

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"

	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/contract"
)

// pass is one Reconcile or Delete over one shoot. Its tasks read what the tasks before them left in it.
type pass struct {
	*plan
	ledger *ledger
	cloud  *cloudopenstack.Session
	track  contract.Track
	log    logr.Logger
	// untouched is true when nothing of the shoot can exist: nobody ever tried to create it.
	untouched bool
	// fresh is true when nothing of the shoot is recorded.
	fresh bool
	// fulfilled is true when a pass over the shoot succeeded before, here or with the upstream extension.
	fulfilled bool
	// begunByUpstream is true when the upstream extension began to create the shoot and nobody has finished it.
	begunByUpstream bool
	now             func() time.Time
	// started is when the pass began.
	started time.Time

	seen   observation
	doomed doomed

	// What the tasks have ensured so far. Each field but the guarded ones has one writer, and its readers run after it.
	external cloudopenstack.Network
	net      cloudopenstack.Network
	router   cloudopenstack.Router
	// reachable is the router once it has its external address.
	reachable cloudopenstack.Router
	secGroup  cloudopenstack.SecurityGroup
	// floatingSubnetFacts name the external subnet that gave the router its address in this pass.
	floatingSubnetFacts map[string]string

	mutex    sync.Mutex
	held     map[kind]cloudopenstack.Subnet // guarded by mutex
	findings []string                       // guarded by mutex
	saving   sync.Mutex
}

// record changes the ledger and has it saved if that made a difference.
func (p *pass) record(change func(*ledger)) {
	p.saving.Lock()
	defer p.saving.Unlock()
	before := p.ledger.state().Data
	change(p.ledger)
	if after := p.ledger.state(); !maps.Equal(before, after.Data) {
		p.track.Achieved(after)
	}
}

// hold records a resource that is there.
func (p *pass) hold(k kind, id string, owner ownership, facts map[string]string) {
	p.record(func(l *ledger) {
		l.hold(k, id, owner)
		for key, value := range facts {
			l.note(key, value)
		}
	})
}

// intend saves, before anything is created, what this pass is about to create.
func (p *pass) intend(ctx context.Context, names map[kind]string) error {
	if len(names) == 0 {
		return nil
	}
	p.saving.Lock()
	defer p.saving.Unlock()
	for k, name := range names {
		p.ledger.intend(k, name)
	}
	if err := p.track.Intend(ctx, p.ledger.state()); err != nil {
		return fmt.Errorf("saving what is about to be created: %w", err)
	}
	return nil
}

// report adds a finding: a sentence about what differs and is not repaired.
func (p *pass) report(sentences ...string) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.findings = append(p.findings, sentences...)
}

func (p *pass) allFindings() []string {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return slices.Sorted(slices.Values(p.findings))
}

func (p *pass) holdSubnet(k kind, subnet cloudopenstack.Subnet) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.held[k] = subnet
}

func (p *pass) heldSubnet(k kind) cloudopenstack.Subnet {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.held[k]
}

// owns tells whether the recorded resource of a kind is the shoot's own. What the user gave is not; where the ledger does
// not say, since the upstream extension wrote it, the configuration does.
func (p *pass) owns(k kind, givenID string) bool {
	id := p.ledger.id(k)
	if p.isGiven(id) {
		return false
	}
	switch p.ledger.owner(k) {
	case own:
		return true
	case given:
		return false
	default:
		return givenID == ""
	}
}

// inParallel runs the steps at once and joins their errors.
func inParallel(steps ...func() error) error {
	results := make([]error, len(steps))
	var group sync.WaitGroup
	for i, step := range steps {
		group.Go(func() { results[i] = step() })
	}
	group.Wait()
	return errors.Join(results...)
}
