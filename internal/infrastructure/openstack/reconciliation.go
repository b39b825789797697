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

// reconciliation is one Reconcile or Delete over one shoot. Its tasks read what the tasks before them left in it.
type reconciliation struct {
	*plan
	state    *state
	cloud    *cloudopenstack.Session
	recorder contract.StateRecorder
	log      logr.Logger
	// nothingExists is true when nothing of the shoot can exist: nobody ever tried to create it.
	nothingExists bool
	// nothingRecorded is true when nothing of the shoot is recorded.
	nothingRecorded bool
	// succeededBefore is true when a pass over the shoot succeeded before, here or with the upstream extension.
	succeededBefore bool
	// startedByUpstream is true when the upstream extension began to create the shoot and nobody has finished it.
	startedByUpstream bool
	now               func() time.Time
	// started is when the pass began.
	started time.Time

	observed observation
	toDelete toDelete

	// What the tasks have ensured so far. Each field but the guarded ones has one writer, and its readers run after it.
	external cloudopenstack.Network
	net      cloudopenstack.Network
	router   cloudopenstack.Router
	// readyRouter is the router once it has its external address.
	readyRouter cloudopenstack.Router
	secGroup    cloudopenstack.SecurityGroup
	// floatingSubnetFacts name the external subnet that gave the router its address in this pass.
	floatingSubnetFacts map[string]string

	mutex          sync.Mutex
	ensuredSubnets map[kind]cloudopenstack.Subnet // guarded by mutex
	findings       []string                       // guarded by mutex
	saving         sync.Mutex
}

// updateState changes the recorded state and has it saved if that made a difference.
func (rec *reconciliation) updateState(change func(*state)) {
	rec.saving.Lock()
	defer rec.saving.Unlock()
	before := rec.state.infrastructureState().Data
	change(rec.state)
	if after := rec.state.infrastructureState(); !maps.Equal(before, after.Data) {
		rec.recorder.RecordState(after)
	}
}

// recordResource records a resource that is there.
func (rec *reconciliation) recordResource(k kind, id string, owner ownership, facts map[string]string) {
	rec.updateState(func(s *state) {
		s.recordResource(k, id, owner)
		for key, value := range facts {
			s.setFact(key, value)
		}
	})
}

// recordIntents saves, before anything is created, what this pass is about to create.
func (rec *reconciliation) recordIntents(ctx context.Context, names map[kind]string) error {
	if len(names) == 0 {
		return nil
	}
	rec.saving.Lock()
	defer rec.saving.Unlock()
	for k, name := range names {
		rec.state.recordIntent(k, name)
	}
	if err := rec.recorder.RecordIntent(ctx, rec.state.infrastructureState()); err != nil {
		return fmt.Errorf("saving what is about to be created: %w", err)
	}
	return nil
}

// addFindings adds a finding: a sentence about what differs and is not repaired.
func (rec *reconciliation) addFindings(sentences ...string) {
	rec.mutex.Lock()
	defer rec.mutex.Unlock()
	rec.findings = append(rec.findings, sentences...)
}

func (rec *reconciliation) allFindings() []string {
	rec.mutex.Lock()
	defer rec.mutex.Unlock()
	return slices.Sorted(slices.Values(rec.findings))
}

func (rec *reconciliation) setEnsuredSubnet(k kind, subnet cloudopenstack.Subnet) {
	rec.mutex.Lock()
	defer rec.mutex.Unlock()
	rec.ensuredSubnets[k] = subnet
}

func (rec *reconciliation) ensuredSubnet(k kind) cloudopenstack.Subnet {
	rec.mutex.Lock()
	defer rec.mutex.Unlock()
	return rec.ensuredSubnets[k]
}

// owns tells whether the recorded resource of a kind is the shoot's own. What the user gave is not; where the recorded state does
// not say, since the upstream extension wrote it, the configuration does.
func (rec *reconciliation) owns(k kind, givenID string) bool {
	id := rec.state.id(k)
	if rec.isGiven(id) {
		return false
	}
	switch rec.state.owner(k) {
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
