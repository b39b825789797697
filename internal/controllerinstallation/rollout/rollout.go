// Package rollout decides which installation is to have which revision. It is pure: all that it knows it is given, each time anew, and it
// remembers nothing. So an operator that is killed at any moment goes on where it was. It must not know any API server.
package rollout

import (
	"time"

	"k8s.io/apimachinery/pkg/labels"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
)

// Input is everything that a decision depends on.
type Input struct {
	Now time.Time
	// Newest is the revision that the ControllerDeployment asks for. It is empty when it asks for nothing that could be a revision: then nothing
	// changes, but new installations are served with LastGood, and what has a bad revision goes back.
	Newest string
	// NewestGood and NewestBad are what is known of it; it is a candidate when neither is true. NewestSince is since when it is what it is: a
	// candidate that is tried once more has its time once more. NewestReason is why it is bad.
	NewestGood, NewestBad bool
	NewestSince           time.Time
	NewestReason          string
	// LastGood is the revision that was found good last; empty where none ever was. It may be Newest.
	LastGood string
	// Bad are all revisions that failed, Good all that were found good. The others are candidates, of which only Newest is judged.
	Bad, Good []string
	// Rollout is the admin's, with all defaults.
	Rollout installationv1alpha1.Rollout
	// Installations are all of the ControllerDeployment, but those that are being deleted, in any order.
	Installations []Installation
}

// Installation is what is known of one.
type Installation struct {
	Name       string
	Seed       string
	SeedLabels labels.Set
	// Assigned is the revision that it is to have, AssignedAt since when; empty for a new one. Before is how it was then, Trial what NewestSince was then.
	Assigned   string
	AssignedAt time.Time
	Before     Before
	Trial      time.Time
	// Applied is the revision that it has. Healthy and WasHealthy are whether it is healthy with that, and whether it was before.
	Applied             string
	Healthy, WasHealthy bool
	// Observed is what has been observed since it was assigned Assigned, until TriedAt.
	Observed Observed
	// Failed says why Assigned cannot be installed; empty when it can. What is known of another revision that was assigned earlier does not belong
	// here.
	Failed string
	// Unreachable is true while the seed cannot be reached. Everything else is then what was seen last.
	Unreachable bool
	// TriedAt is when somebody looked at it in the seed last, SeenAt when that told how it is. They are zero while that has not happened since the
	// operator began. What is said of it here may be older: no wave passes on that, and nobody fails by it. They, WatchedSince and Situation.Now are of
	// one clock that does not jump.
	TriedAt, SeenAt time.Time
	// WatchedSince is since when it is looked at without a break: since the operator has begun to, or since the seed is back. Health is trusted only when
	// HealthGate.Tolerance has passed since. Zero means that it always was.
	WatchedSince time.Time
}

// Decision is what is to be done now.
type Decision struct {
	// Assign maps installations to the revisions that they get now. Those that keep theirs are not in it, but for those that have the candidate already
	// and are to be observed anew. Before is how they are at that moment; both are to be written down together, with NewestSince.
	Assign map[string]string
	Before map[string]Before
	// Good or Bad is true when that has just become clear of Newest, and Reason says why it is bad. It is to be recorded BEFORE anything is assigned:
	// after a crash in between the same is decided again.
	Good, Bad bool
	Reason    string
	// Waves tells the wave of each installation.
	Waves map[string]string
	// Progress is for people and metrics.
	Progress Progress
	// Check names installations that have to be looked at before more can be decided, now that their time has come.
	Check []string
	// RequeueAfter is when time alone may lead to another decision, at least a second; zero when only events can.
	RequeueAfter time.Duration
}

// Progress is where a rollout is.
type Progress struct {
	// State is one of the constants below.
	State State
	// Wave is the one at work, empty when none is. Updated of Total count its installations that have Newest and are healthy; without a wave, those
	// of all installations.
	Wave           string
	Updated, Total int
	// Message is a sentence: what is waited for, or what went wrong.
	Message string
	// Empty names the waves of the admin's that select no installation, although there are others: nothing is proven there.
	Empty []string
	// DueAt is when the rollout should have gone on, had all been well: it is late after that. Zero while nothing is to go on.
	DueAt time.Time
}

// State is where a rollout is.
type State string

const (
	// Idle: everybody has what they are to have.
	Idle State = "Idle"
	// Advancing: installations are being brought to Newest.
	Advancing State = "Advancing"
	// Soaking: a wave has it and is being watched.
	Soaking State = "Soaking"
	// Waiting: nothing goes on before a seed can be reached that cannot be reached now.
	Waiting State = "Waiting"
	// Paused: the admin holds it.
	Paused State = "Paused"
	// RollingBack: Newest has failed and installations get LastGood back.
	RollingBack State = "RollingBack"
	// Stopped: Newest has failed, or there is none, and there is nothing to do but to register something better.
	Stopped State = "Stopped"
)

// Decide decides. The rules, in this order of importance:
//
//  1. An installation without a revision gets LastGood at once, whatever its wave and even while paused. It gets a candidate that all others of its wave
//     have and are healthy with; and Newest where no revision was ever good, even if it is bad: whoever waits for it has nothing to lose. In a wave that had
//     others before the candidate came it is not waited for.
//  2. An installation whose revision is bad gets LastGood, at once, unless Rollback is Never or there is no LastGood. So does one that is not well with a
//     revision that neither is nor was to be judged any more; where nothing is rolled back it gets the candidate instead.
//  3. An installation has failed with a candidate when it cannot be installed there, unless what the installation had could not be either; or when it was
//     out of sight for HealthGate.Deadline although it was there when it was assigned; or when it was healthy before, or had nothing, and was then observed:
//     not healthy for HealthGate.Deadline, unhealthy again for HealthGate.Tolerance, or as often as HealthGate.MaxInterruptions allows and once more, or in
//     all for Deadline (Tolerance, where that is longer). What was observed of interruptions counts until the installation has been healthy for SteadyAfter.
//     One that was unsteady before has not failed by being unhealthy again, and a newcomer never fails. A candidate is bad when more than MaxFailures of a wave have failed, or all that could. Rule 2 then applies in
//     the same decision. What is good does not fail any more.
//  4. While Newest is a candidate, its rollout goes wave by wave: to the first one that has not passed. In a wave at most MaxUnavailable installations
//     may be changing or unhealthy at the same time. A wave has passed when all that it waits for have been healthy with Newest for SoakTime, and were seen
//     so at its end and not only tried in vain since. It waits for all but those that were unreachable already when the others got the candidate, those that
//     were not healthy when they got it and have been observed for HealthGate.MaxWait since, newcomers (unless there are only such), and those that have failed.
//     At least one is reachable, or there is none in it. A wave that has passed and has become unhealthy again holds back the next ones.
//  5. When all waves have passed, and any installation that is waited for, or has soaked, is healthy with it, Newest is good.
//  6. While Newest is good, everybody else gets it within MaxUnavailable, all waves at once. While Newest is bad, everybody else gets LastGood in the
//     same way, under the conditions of rule 2: nobody is left on a candidate that was given up.
//  7. While paused, rules 4 and 6 assign nothing.
//
// What rules 4 and 6 understand by unavailable:
//
//   - An installation that is not healthy with what it has costs nobody anything when it gets something else. It counts as unavailable, but may
//     be chosen however many are, and so never stands in its own way. Unless it has LastGood, or was healthy a moment ago: then it is given the time of
//     rule 3 to become healthy. Of a candidate, a healthy one is the first of its wave, and one at a time may always change, however many are ill.
//   - An unreachable installation, and one that nobody has looked at yet, is not chosen: whether it changes could not be seen. It gets its revision by rule 4 or 6 when it is back, within
//     MaxUnavailable like everybody, and until then counts as unavailable only if it was lost since it was assigned, and no longer than by rule 3.
//     So a revision that cuts seeds off does not eat its way through a wave, and a seed that stays away holds up nobody for ever.
//
// No rule compares times that were written down: durations are observed, and a clock that jumps changes nothing.
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
