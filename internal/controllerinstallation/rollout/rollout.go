// Package rollout decides which installation is to have which revision. It is a pure function of its input and keeps no state, so an operator that is
// killed at any moment continues where it was. The package must not know any API server.
package rollout

import (
	"time"

	"k8s.io/apimachinery/pkg/labels"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
)

// Input is everything that a decision depends on.
type Input struct {
	Now time.Time
	// Newest is the revision of the ControllerDeployment's current content. It is empty if that content is invalid: then new installations still get
	// LastGood, bad revisions are still rolled back, and nothing else changes.
	Newest string
	// NewestGood and NewestBad are the result of its evaluation; it is a candidate if neither is true. NewestSince is the time of that result; a
	// retry sets it anew. NewestReason is why it is bad.
	NewestGood, NewestBad bool
	NewestSince           time.Time
	NewestReason          string
	// LastGood is the revision that was evaluated as good last; empty if there is none. It may be Newest.
	LastGood string
	// Bad has all revisions that failed, Good all that were evaluated as good. The others are candidates, of which only Newest is evaluated.
	Bad, Good []string
	// Rollout is the configuration by the admin, with defaults.
	Rollout installationv1alpha1.Rollout
	// Installations has all installations of the ControllerDeployment that are not being deleted, in any order.
	Installations []Installation
}

// Installation is the state of a ControllerInstallation as far as a rollout depends on it.
type Installation struct {
	Name       string
	Seed       string
	SeedLabels labels.Set
	// Assigned is the revision that it was assigned at AssignedAt; empty for a new installation. Before is its health at that moment, Trial the value of NewestSince at that moment.
	Assigned   string
	AssignedAt time.Time
	Before     Before
	Trial      time.Time
	// Applied is the revision that was applied in the seed. Healthy and WasHealthy say whether the installation is healthy with it, and whether it ever was.
	Applied             string
	Healthy, WasHealthy bool
	// Observed has the durations that were observed since the assignment, until TriedAt.
	Observed Observed
	// Failed says why Assigned cannot be installed; empty if it can. Failures of revisions that were assigned earlier do not count.
	Failed string
	// Unreachable is true while the seed cannot be reached. All other fields then have the values of the last successful check.
	Unreachable bool
	// TriedAt is the time of the last check in the seed, SeenAt that of the last successful one. They are zero if there was none since the operator
	// started: then the other fields may be out of date, and neither does a wave pass nor an installation fail by them. TriedAt, SeenAt, WatchedSince
	// and Input.Now are of one monotonic clock.
	TriedAt, SeenAt time.Time
	// WatchedSince is the beginning of uninterrupted checks: the start of the operator, or the moment when the seed became reachable again. Health is
	// trusted only after HealthGate.Tolerance from then on. Zero means that there was no interruption.
	WatchedSince time.Time
}

// Decision is the result of Decide.
type Decision struct {
	// Assign maps installations to the revisions that they must be assigned now. Installations that keep their revision are not in it, except those
	// that have the candidate already and must be observed anew. Before has their present health; the caller must write both together, with
	// NewestSince.
	Assign map[string]string
	Before map[string]Before
	// Good or Bad is true if Newest has just been evaluated as such, and Reason says why it is bad. The caller must record this BEFORE it assigns
	// anything: after a crash in between, the same decision is made again.
	Good, Bad bool
	Reason    string
	// Waves has the wave of each installation.
	Waves map[string]string
	// Progress is for status and metrics; nothing is decided by it.
	Progress Progress
	// Check names the installations that must be checked before the rollout can proceed, because a deadline of theirs has passed since the last check.
	Check []string
	// RequeueAfter is the time after which another decision may result without an event, at least a second; zero if only events can change the decision.
	RequeueAfter time.Duration
}

// Progress describes the state of a rollout.
type Progress struct {
	// State is one of the constants below.
	State State
	// Wave is the wave in progress, empty if there is none. Of the Total installations of that wave, or of all waves if it is empty, Updated have
	// Newest and are healthy.
	Wave           string
	Updated, Total int
	// Message says in one sentence what the rollout waits for, or what failed.
	Message string
	// Empty names the configured waves that select no installation although there are installations: such a wave tests nothing.
	Empty []string
	// DueAt is the time by which the rollout should have proceeded; after that it is late. Zero if it does not have to proceed.
	DueAt time.Time
}

// State is the state of a rollout.
type State string

const (
	// Idle: all installations have the revision that they should have.
	Idle State = "Idle"
	// Advancing: installations of a wave are being updated to Newest.
	Advancing State = "Advancing"
	// Soaking: all installations of a wave have Newest and are being observed.
	Soaking State = "Soaking"
	// Waiting: the rollout proceeds only after an unreachable seed becomes reachable.
	Waiting State = "Waiting"
	// Paused: an admin has paused it.
	Paused State = "Paused"
	// RollingBack: Newest has failed and installations get LastGood back.
	RollingBack State = "RollingBack"
	// Stopped: Newest has failed, or there is none, and all installations have what they can have. An admin must register another revision.
	Stopped State = "Stopped"
)

// Decide decides by these rules; an earlier rule takes precedence:
//
//  1. An installation without a revision gets LastGood immediately, in every wave and even while the rollout is paused. It gets the candidate instead if all
//     other installations of its wave have the candidate and are healthy; and Newest, even a bad one, if no revision was ever good. A wave does not wait for
//     such a newcomer if it had installations before the candidate was recorded.
//  2. An installation with a bad revision gets LastGood immediately, unless Rollback is Never or there is no LastGood. So does an unhealthy installation with
//     a superseded candidate; if rollback is off, it gets the newest candidate in its wave.
//  3. An installation fails with a candidate if one of these holds:
//     - The candidate cannot be installed there, but the installation's former revision could be.
//     - The seed was reachable at or after the assignment, and has been unreachable for HealthGate.Deadline.
//     - The installation was healthy before, or had no revision, and since the assignment was observed to be not healthy for HealthGate.Deadline, unhealthy
//     again for HealthGate.Tolerance, unhealthy again more often than HealthGate.MaxInterruptions, or unhealthy again for Deadline in total (Tolerance if
//     that is longer). Interruptions are forgotten when it has been healthy for SteadyAfter. One that was unsteady before does not fail by interruptions.
//     A newcomer never fails. A candidate is bad if more than MaxFailures installations of a wave have failed, or all that could fail; rule 2 applies in the
//     same decision. A good revision cannot become bad.
//  4. While Newest is a candidate, it is rolled out wave by wave: only the first wave that has not passed is updated. In a wave at most MaxUnavailable
//     installations may be changing or unhealthy at the same time. A wave passes if all required installations have been healthy with Newest for SoakTime,
//     confirmed by a check at its end, and at least one installation is reachable, or the wave is empty. Not required are installations that were
//     unreachable before the others got the candidate, those that were not healthy when they got it and have been observed for HealthGate.MaxWait since,
//     newcomers (unless the wave has only newcomers), and those that have failed. A wave that has passed and becomes unhealthy again blocks the next waves.
//  5. Newest becomes good if all waves have passed, and at least one installation that is required, or has soaked, is healthy with it.
//  6. While Newest is good, all other installations get it within MaxUnavailable, in all waves at once. While Newest is bad, all other installations get
//     LastGood in the same way, under the conditions of rule 2, so that none keeps a candidate that was given up.
//  7. While paused, rules 4 and 6 assign nothing.
//
// Rules 4 and 6 count unavailable installations as follows:
//
//   - An installation that is not healthy with its revision counts as unavailable, but may be updated even if MaxUnavailable is reached, since that takes
//     nothing from its users. Exceptions are an installation with LastGood and one that was healthy a moment ago: these get the time of rule 3 to become
//     healthy. The first installation of a wave that gets a candidate is a healthy one, and one at a time may always change, however many are unhealthy.
//   - An unreachable installation, and one that has not been checked yet, is not updated, because the effect could not be observed. It gets its revision by
//     rule 4 or 6 when it is reachable again, within MaxUnavailable. Until then it counts as unavailable only if it became unreachable after its
//     assignment, and no longer than by rule 3. So a revision that cuts seeds off does not spread through a wave, and a seed that remains unreachable does
//     not block the rollout for ever.
//
// No rule compares recorded points in time. Durations are observed, so changes of the system clock have no effect.
func Decide(s Input) Decision {
	p := newPlan(s)
	p.restartTrials()
	p.evaluate()
	p.assignNew()
	p.rollBackBad()
	p.replaceSuperseded()
	p.advance()
	p.decision.Check = p.overdue()
	p.decision.Progress = p.progress()
	p.decision.RequeueAfter = p.requeueAfter()
	return p.decision
}
