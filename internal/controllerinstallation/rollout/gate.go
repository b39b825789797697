package rollout

import (
	"slices"
	"time"
)

// isInTrial reports whether an installation was assigned the candidate in the present trial of it.
func (p *plan) isInTrial(i *Installation) bool {
	return p.result == candidate && i.Assigned == p.Newest && i.Trial.Equal(p.NewestSince)
}

// isLost reports whether the seed of an installation was reachable when the candidate was assigned, or later, and is unreachable now.
func (p *plan) isLost(i *Installation) bool {
	return i.Unreachable && p.isInTrial(i) && p.wasReachable(i)
}

func (p *plan) wasReachable(i *Installation) bool {
	switch i.Before {
	case WasHealthy, WasUnsteady, WasUnhealthy, WasRefused:
		return true
	case WasUnreachable:
		return i.Observed.Progressing > 0 || i.Observed.Healthy > 0 || i.Observed.UnhealthyTotal > 0
	case WasNew:
		return i.Observed.Progressing > 0 || i.Applied == p.Newest
	default:
		return i.Applied == p.Newest
	}
}

// isNewcomer reports whether an installation is newer than the candidate, and its wave has older ones: then the wave does not wait for it. If a wave
// has only newcomers, it waits for them.
func (p *plan) isNewcomer(w *wave, i *Installation) bool {
	return p.isNew(i) && slices.ContainsFunc(w.members, func(other *Installation) bool { return !p.isNew(other) && !p.isSkipped(other) })
}

func (p *plan) isNew(i *Installation) bool {
	return p.result == candidate && (i.Assigned == "" || i.Before == WasLate || i.Before == WasNew && i.Assigned != p.Newest && i.Trial.Equal(p.NewestSince))
}

// isAsBefore reports whether an installation with the candidate has the same health as before it.
func (p *plan) isAsBefore(i *Installation) bool {
	wasInterrupted := i.Observed.Interruptions > 0 || i.wasHealthy() && !i.Healthy
	if i.Before.Inconclusive() {
		return !p.isLost(i)
	}
	return i.Before == WasUnsteady && !i.Unreachable && wasInterrupted
}

// isSkipped reports whether a wave does not wait for an installation that is older than the candidate: its seed was unreachable before, or its health
// is the same as before and was observed for HealthGate.MaxWait.
func (p *plan) isSkipped(i *Installation) bool {
	return i.Unreachable && !p.isLost(i) || p.isInTrial(i) && p.isAsBefore(i) && p.waitLeft(i) <= 0
}

// isConclusive reports whether an installation with the candidate can prove that the candidate is bad. A candidate that cannot be installed is bad if
// the former revision could be installed, whatever its health; but not if the candidate was installed there before, because then something else has
// changed.
func (p *plan) isConclusive(w *wave, i *Installation) bool {
	if !p.isInTrial(i) || i.isUnchecked() || i.Unreachable && !p.isLost(i) {
		return false
	}
	if p.isNewcomer(w, i) {
		return false
	}
	isRefused := i.Failed != "" && i.Before != WasRefused && !i.works()
	return isRefused || !p.isAsBefore(i)
}

// onTrial reports whether an installation may still fail with the candidate by a deadline.
func (p *plan) onTrial(w *wave, i *Installation) bool {
	return p.isConclusive(w, i) && (i.Unreachable || !i.available() || p.hidden(i))
}

// hasFailed reports whether an installation has failed with the candidate. Observed durations end with the last check.
func (p *plan) hasFailed(w *wave, i *Installation) bool {
	return p.isConclusive(w, i) && (p.onTrial(w, i) && p.timeLeft(i) <= 0 || p.isFlapping(i))
}

func (p *plan) failed(w *wave) []*Installation {
	return w.filter(func(i *Installation) bool { return p.hasFailed(w, i) })
}

// maxFailures returns how many installations of a wave may fail; it is always less than all.
func (p *plan) maxFailures(w *wave) int {
	return max(0, min(scaled(p.Rollout.MaxFailures, len(w.members), 0), len(w.members)-1))
}

// tooManyFailed reports whether more than maxFailures installations of a wave have failed, or all that can fail while no other one is healthy.
func (p *plan) tooManyFailed(w *wave) bool {
	failed := len(p.failed(w))
	return failed > p.maxFailures(w) || failed > 0 && len(p.requiredMembers(w)) == 0 && !p.isProven(w)
}

// isRequired reports whether an installation must be healthy before its wave passes.
func (p *plan) isRequired(w *wave, i *Installation) bool {
	return !p.isNewcomer(w, i) && !p.isSkipped(i) && !p.hasFailed(w, i)
}

// overdue names the installations that must be checked before the next decision: a deadline of theirs has passed since the last check.
func (p *plan) overdue() []string {
	if p.result != candidate {
		return nil
	}
	var due []*Installation
	for _, w := range p.waves {
		due = append(due, w.filter(func(i *Installation) bool { return p.isOverdue(w, i) })...)
	}
	if w := p.firstIncomplete(); w != nil && p.updated(w) && !p.Now.Before(p.soakedAt(w)) {
		due = append(due, p.unconfirmed(w)...)
	}
	names := make([]string, 0, len(due))
	for _, i := range due {
		if !slices.Contains(names, i.Name) {
			names = append(names, i.Name)
		}
	}
	return names
}

func (p *plan) isOverdue(w *wave, i *Installation) bool {
	if p.hasFailed(w, i) || i.isUnchecked() {
		return false
	}
	return p.onTrial(w, i) && !p.hasTimeLeft(i) || p.isWaitLimited(w, i) && !p.Now.Before(p.after(i, p.waitLeft(i)))
}

// isWaitLimited reports whether a wave waits for an installation no longer than HealthGate.MaxWait.
func (p *plan) isWaitLimited(w *wave, i *Installation) bool {
	return p.isInTrial(i) && p.isAsBefore(i) && p.isRequired(w, i)
}

func (p *plan) waitLeft(i *Installation) time.Duration {
	return p.Rollout.HealthGate.MaxWait.Duration - i.Observed.Total
}
