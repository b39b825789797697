package aws

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"

	"github.com/trellis-garden/trellis/internal/cloud"
	cloudaws "github.com/trellis-garden/trellis/internal/cloud/aws"
	"github.com/trellis-garden/trellis/internal/cloud/record"
	"github.com/trellis-garden/trellis/internal/contract"
)

// reconciliation is one Reconcile or Delete of one shoot. Tasks read the results of earlier tasks in it.
type reconciliation struct {
	plan     *plan
	state    *state
	cloud    *cloudaws.Session
	recorder contract.StateRecorder
	log      logr.Logger
	now      func() time.Time
	// visibleAfter is Options.VisibleAfter.
	visibleAfter time.Duration
	// nothingExists is true if no resource of the shoot can exist: no creation was ever attempted.
	nothingExists bool

	observed observation
	toDelete toDelete

	// Results of tasks. Each has one writer, and its readers run after it.
	vpcID, dhcpOptionsID, gatewayID, nodesGroupID string
	egressOnlyGatewayID, serviceCIDR, roleARN     string
	vpcIPv6                                       netip.Prefix
	mainTable                                     cloudaws.RouteTable
	fileSystem                                    cloudaws.FileSystem
	// formerFileSystemID is the shoot's own file system that the user's replaces.
	formerFileSystemID string
	// givenRanges are the IPv4 ranges of the user's subnets for load balancers.
	givenRanges []string
	zones       map[string]*zoneResources // by the zone's name; made before the graph runs

	mutex       sync.Mutex
	findings    []string              // guarded by mutex
	takenIPv6   map[netip.Prefix]bool // guarded by mutex: ranges of subnets in the VPC
	workersIPv6 map[string]string     // guarded by mutex: ranges of the nodes' subnets by their IDs
	saving      sync.Mutex
}

// zoneResources are the results of the tasks of one zone.
type zoneResources struct {
	subnets                 map[role]string
	addressID, natID, table string
	natPublicIPs            []string
	mutex                   sync.Mutex
}

func (z *zoneResources) setSubnet(r role, id string) {
	z.mutex.Lock()
	defer z.mutex.Unlock()
	z.subnets[r] = id
}

func (z *zoneResources) subnet(r role) string {
	z.mutex.Lock()
	defer z.mutex.Unlock()
	return z.subnets[r]
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

// recordOwn records a resource of the shoot, whose creation has a known result.
func (rec *reconciliation) recordOwn(k kind, id string) {
	rec.updateState(func(s *state) {
		s.RecordResource(k, id, record.Own)
		s.ClearUncertain(k)
	})
}

// recordGiven records a resource of the user.
func (rec *reconciliation) recordGiven(k kind, id string) {
	rec.updateState(func(s *state) { s.RecordResource(k, id, record.Given) })
}

// saveIntents saves, before anything is created, what this reconciliation is about to create, and that the result is unknown of what an earlier process was
// about to create when it ended.
func (rec *reconciliation) saveIntents(ctx context.Context, names map[kind]string) error {
	rec.saving.Lock()
	defer rec.saving.Unlock()
	for _, k := range rec.state.Intended() {
		if !rec.state.IsUncertain(k) {
			rec.state.MarkUncertain(k, rec.now())
		}
	}
	rec.state.SetFact(keyNothingCreated, "")
	if len(names) == 0 {
		return nil
	}
	for k, name := range names {
		rec.state.RecordIntent(k, name)
	}
	if err := rec.recorder.RecordIntent(ctx, rec.state.infrastructureState()); err != nil {
		return fmt.Errorf("saving what is about to be created: %w", err)
	}
	return nil
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

// create creates a resource and records its ID. While it is not known whether the resource exists, it creates none, and the caller has to come again. Requests
// that are repeatable have a client token or a unique name: their repetition returns the same resource.
func (rec *reconciliation) create(k kind, what string, repeatable bool, request func() (id string, err error)) (string, error) {
	if left := rec.untilKnown(k, repeatable); left > 0 {
		return "", notListedYet(what, left)
	}
	id, err := request()
	if err != nil {
		rec.recordFailedCreate(k, err)
		return "", fmt.Errorf("creating the %s: %w", what, err)
	}
	rec.recordCreated(k, id)
	rec.log.Info("Created a resource", "resource", what, "id", id)
	return id, nil
}

// recordFailedCreate handles a failed creation. A refusal means that there is no resource, unless the result of an earlier creation is unknown.
func (rec *reconciliation) recordFailedCreate(k kind, err error) {
	rec.updateState(func(s *state) {
		switch kindOfError := cloud.KindOf(err); {
		case kindOfError == cloud.Unavailable, kindOfError == cloud.Unknown:
			s.MarkUncertain(k, rec.now())
		case !s.IsUncertain(k):
			s.Withdraw(k)
		}
	})
}

// token returns the client token for the creation of a resource: the same until one has been recorded, and another one for its successor.
func (rec *reconciliation) token(k kind) string {
	hash := sha256.Sum256([]byte(strings.Join([]string{rec.plan.uid, string(k), rec.state.ID(k)}, "\x00")))
	return hex.EncodeToString(hash[:16])
}

// recordedEndpoints are the recorded gateway endpoints by the full names of their services.
func (rec *reconciliation) recordedEndpoints() map[string]string {
	all := map[string]string{}
	for service, id := range rec.state.infrastructureState().VPCEndpoints() {
		if id != "" {
			all[servicePrefix(rec.plan.region)+service] = id
		}
	}
	return all
}

// repairTags gives a resource of the shoot its tags, and removes those of others.
func (rec *reconciliation) repairTags(ctx context.Context, id string, wanted, observed cloudaws.Tags) error {
	return rec.repairTagsBy(ctx, id, wanted, observed,
		func(ctx context.Context, id string, tags cloudaws.Tags) error {
			return rec.cloud.SetTags(ctx, []string{id}, tags)
		},
		func(ctx context.Context, id string, keys []string) error {
			return rec.cloud.RemoveTags(ctx, []string{id}, keys)
		})
}

// repairTagsBy repairs tags by the requests of a service.
func (rec *reconciliation) repairTagsBy(
	ctx context.Context, id string, wanted, observed cloudaws.Tags, set func(context.Context, string, cloudaws.Tags) error,
	remove func(context.Context, string, []string) error,
) error {
	missing, superfluous := rec.plan.tagChanges(wanted, observed)
	if len(missing) > 0 {
		if err := set(ctx, id, missing); err != nil {
			return fmt.Errorf("setting tags of %s: %w", id, err)
		}
	}
	if len(superfluous) > 0 {
		if err := remove(ctx, id, superfluous); err != nil {
			return fmt.Errorf("removing tags of %s: %w", id, err)
		}
	}
	return nil
}

// addFindings adds sentences about differences that are not repaired.
func (rec *reconciliation) addFindings(sentences ...string) {
	rec.mutex.Lock()
	defer rec.mutex.Unlock()
	rec.findings = append(rec.findings, sentences...)
}

func (rec *reconciliation) allFindings() []string {
	rec.mutex.Lock()
	defer rec.mutex.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(rec.findings)))
}

// zone returns the results of a zone.
func (rec *reconciliation) zone(name string) *zoneResources { return rec.zones[name] }
