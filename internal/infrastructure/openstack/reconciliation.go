package openstack

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"

	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/record"
	"github.com/trellis-garden/trellis/internal/contract"
)

// reconciliation is one Reconcile or Delete of one shoot. Tasks read the results of earlier tasks in it.
type reconciliation struct {
	recordedShoot
	cloud    *cloudopenstack.Session
	recorder contract.StateRecorder
	log      logr.Logger
	// nothingExists is true if no resource of the shoot can exist: no creation was ever attempted.
	nothingExists bool
	// nothingRecorded is true if nothing of the shoot is recorded.
	nothingRecorded bool
	// succeededBefore is true if a reconciliation of the shoot has succeeded, here or by the upstream extension.
	succeededBefore bool
	// startedByUpstream is true if the upstream extension began to create the shoot and did not finish.
	startedByUpstream bool
	now               func() time.Time
	// started is the start of the reconciliation.
	started time.Time

	observed observation
	toDelete toDelete

	// Results of tasks. Each field except the guarded ones has one writer, and its readers run after it.
	external cloudopenstack.Network
	// externalIsRecent is true if the external network was not read in this reconciliation.
	externalIsRecent bool
	net              cloudopenstack.Network
	router           cloudopenstack.Router
	// readyRouter is the router once it has its external address.
	readyRouter cloudopenstack.Router
	secGroup    cloudopenstack.SecurityGroup
	// floatingSubnetFacts name the external subnet of the router's address in this reconciliation.
	floatingSubnetFacts map[string]string

	mutex          sync.Mutex
	ensuredSubnets map[kind]cloudopenstack.Subnet // guarded by mutex
	findings       []string                       // guarded by mutex
	saving         sync.Mutex
}

// updateState changes the recorded state and saves it if that made a difference.
func (rec *reconciliation) updateState(change func(*state)) {
	rec.saving.Lock()
	defer rec.saving.Unlock()
	before := rec.state.infrastructureState().Data
	change(rec.state)
	if after := rec.state.infrastructureState(); !maps.Equal(before, after.Data) {
		rec.recorder.RecordState(after)
	}
}

// recordResource records an existing resource.
func (rec *reconciliation) recordResource(k kind, id string, owner record.Owner, facts map[string]string) {
	rec.updateState(func(s *state) {
		s.recordResource(k, id, owner)
		for key, value := range facts {
			s.SetFact(key, value)
		}
	})
}

// recordIntents saves, before anything is created, what this reconciliation is about to create.
func (rec *reconciliation) recordIntents(ctx context.Context, names map[kind]string) error {
	if len(names) == 0 {
		return nil
	}
	rec.saving.Lock()
	defer rec.saving.Unlock()
	for k, name := range names {
		rec.state.RecordIntent(k, name)
	}
	if err := rec.recorder.RecordIntent(ctx, rec.state.infrastructureState()); err != nil {
		return fmt.Errorf("saving what is about to be created: %w", err)
	}
	return nil
}

// addFindings adds a finding: a sentence about a difference that is not repaired.
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
