// Package rollout decides which installation is to have which revision. It is pure: all that it knows it is given, each time anew, and it
// remembers nothing. So an operator that is killed at any moment goes on where it was. It must not know any API server.
package rollout

import (
	"time"

	"k8s.io/apimachinery/pkg/labels"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
)

// Situation is everything that a decision depends on.
type Situation struct {
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
	// Bad are all revisions that failed.
	Bad []string
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
	// Assigned is the revision that it is to have, AssignedAt since when; empty for a new one.
	Assigned   string
	AssignedAt time.Time
	// Applied is the revision that it has, AppliedAt since when. Without AppliedAt it counts as applied when it was assigned.
	Applied   string
	AppliedAt time.Time
	// HealthySince is since when it is healthy with Applied, zero while it is not. UnhealthySince is since when it is not any more, zero when it
	// never was healthy with Applied.
	HealthySince, UnhealthySince time.Time
	// Failed says why Assigned cannot be installed; empty when it can. What is known of another revision that was assigned earlier does not belong
	// here.
	Failed string
	// Unreachable is true while the seed cannot be reached. Everything else is then what was seen last.
	Unreachable bool
	// TriedAt is when somebody looked at it in the seed last, SeenAt when that told how it is. They are zero while that has not happened since the
	// operator began, or since the seed is back. What is said of it here may be older: no wave passes on that, and nobody fails by it.
	TriedAt, SeenAt time.Time
	// WatchedSince is since when it is looked at without a break: since the operator has begun to, or since the seed is back. Nobody is late before
	// that, and health is trusted only when HealthGate.Tolerance has passed since. Zero means that it always was.
	WatchedSince time.Time
}

// Decision is what is to be done now.
type Decision struct {
	// Assign maps installations to the revisions that they get now. Those that keep theirs are not in it.
	Assign map[string]string
	// Good or Bad is true when that has just become clear of Newest, and Reason says why it is bad. It is to be recorded BEFORE anything is assigned:
	// after a crash in between the same is decided again.
	Good, Bad bool
	Reason    string
	// Waves tells the wave of each installation.
	Waves map[string]string
	// Progress is for people and metrics.
	Progress Progress
	// Look names installations that have to be looked at before more can be decided, now that their time has come.
	Look []string
	// Again is when time alone may lead to another decision, at least a second; zero when only events can.
	Again time.Duration
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
//  1. An installation without a revision gets LastGood at once, whatever its wave and even while paused; Newest where no revision was ever good, even
//     if it is bad: whoever waits for it has nothing to lose.
//  2. An installation whose revision is bad gets LastGood, at once, unless Rollback is Never or there is no LastGood.
//  3. A candidate fails when an installation that was assigned it has Failed, is not healthy HealthGate.Deadline after it got it (after it was assigned,
//     as long as it is not applied), or has been unhealthy with it for HealthGate.Tolerance; and somebody has looked since. Unreachable installations don't
//     count. Rule 2 then applies in the same decision. What is good does not fail any more.
//  4. While Newest is a candidate, its rollout goes wave by wave: to the first one that has not passed. In a wave at most MaxUnavailable installations
//     may be changing or unhealthy at the same time. A wave has passed when all reachable installations in it have been healthy with Newest for
//     SoakTime, were seen so at its end and not only tried in vain since, and at least one of them is reachable, or there is none in it. A wave that has passed and has become unhealthy again holds back the
//     next ones, and so does one that has got a new installation.
//  5. When all waves have passed, and there is any installation, Newest is good.
//  6. While Newest is good, everybody else gets it within MaxUnavailable, all waves at once. While Newest is bad, everybody else gets LastGood in the
//     same way, under the conditions of rule 2: nobody is left on a candidate that was given up.
//  7. While paused, rules 4 and 6 assign nothing.
//
// What rules 4 and 6 understand by unavailable:
//
//   - An installation that is not healthy with what it has costs nobody anything when it gets something else. It counts as unavailable, but may
//     be chosen however many are, and so never stands in its own way. Unless it has LastGood: then it is given the time of rule 3 to become healthy,
//     since shoots may wait for it, and a candidate would only put it off.
//   - An unreachable installation, and one that nobody has looked at yet, is not chosen: whether it changes could not be seen. It gets its revision by rule 4 or 6 when it is back, within
//     MaxUnavailable like everybody, and until then counts as unavailable only if it was lost while it was changing, and no longer than by rule 3.
//     So a revision that cuts seeds off does not eat its way through a wave, and a seed that stays away holds up nobody for ever.
func Decide(s Situation) Decision {
	p := newPlan(s)
	p.judge()
	p.serveNew()
	p.takeBack()
	p.advance()
	p.decision.Look = p.overdue()
	p.decision.Progress = p.progress()
	p.decision.Again = p.again()
	return p.decision
}
