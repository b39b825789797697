package rollout

import (
	"slices"
	"time"
)

// isInTrial reports whether an installation has the candidate, in the present attempt at it.
func (p *plan) isInTrial(i *Installation) bool {
	return p.result == candidate && i.Assigned == p.Newest && i.Trial.Equal(p.NewestSince)
}

// isLost reports whether the seed of an installation was there when it was assigned the candidate, or since, and is unreachable now.
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

// isNewcomer reports whether an installation came after the candidate, and others that were there already can show what that is like: then nobody waits for it.
// Where there are none, newcomers are the wave.
func (p *plan) isNewcomer(w *wave, i *Installation) bool {
	return p.isNew(i) && slices.ContainsFunc(w.members, func(other *Installation) bool { return !p.isNew(other) && !p.isSkipped(other) })
}

func (p *plan) isNew(i *Installation) bool {
	return p.result == candidate && (i.Assigned == "" || i.Before == WasLate || i.Before == WasNew && i.Assigned != p.Newest && i.Trial.Equal(p.NewestSince))
}

// isAsBefore reports whether an installation that has the candidate is as it was before it.
func (p *plan) isAsBefore(i *Installation) bool {
	wasInterrupted := i.Observed.Interruptions > 0 || i.wasHealthy() && !i.Healthy
	if i.Before.Inconclusive() {
		return !p.isLost(i)
	}
	return i.Before == WasUnsteady && !i.Unreachable && wasInterrupted
}

// isSkipped reports whether nobody waits for an installation that was there before the candidate: its seed was away already, or it is as it was, and that
// for long enough.
func (p *plan) isSkipped(i *Installation) bool {
	return i.Unreachable && !p.isLost(i) || p.isInTrial(i) && p.isAsBefore(i) && p.waitLeft(i) <= 0
}

// isConclusive reports whether an installation that has the candidate can prove that it is bad. That the candidate cannot be installed is proof wherever something
// else could, however healthy that was; but not where the candidate has been installed already, since then something else has changed.
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

// onTrial reports whether time alone may prove by an installation that the candidate is bad.
func (p *plan) onTrial(w *wave, i *Installation) bool {
	return p.isConclusive(w, i) && (i.Unreachable || !i.available() || p.hidden(i))
}

// hasFailed reports whether an installation has proven that the candidate is bad. What was observed ends with a look.
func (p *plan) hasFailed(w *wave, i *Installation) bool {
	return p.isConclusive(w, i) && (p.onTrial(w, i) && p.timeLeft(i) <= 0 || p.isFlapping(i))
}

func (p *plan) failed(w *wave) []*Installation {
	return w.filter(func(i *Installation) bool { return p.hasFailed(w, i) })
}

// maxFailures is how many installations of a wave may fail. Never all of them.
func (p *plan) maxFailures(w *wave) int {
	return max(0, min(scaled(p.Rollout.MaxFailures, len(w.members), 0), len(w.members)-1))
}

// tooManyFailed reports whether more installations of a wave have failed than may, or all of which anything is still expected, and no other one does well.
func (p *plan) tooManyFailed(w *wave) bool {
	failed := len(p.failed(w))
	return failed > p.maxFailures(w) || failed > 0 && len(p.requiredMembers(w)) == 0 && !p.isProven(w)
}

// isRequired reports whether a wave does not pass without an installation.
func (p *plan) isRequired(w *wave, i *Installation) bool {
	return !p.isNewcomer(w, i) && !p.isSkipped(i) && !p.hasFailed(w, i)
}

// overdue names the installations that a decision waits for: their time is up, and nobody has looked since.
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

// isWaitLimited reports whether an installation is waited for only until it has been observed for some time.
func (p *plan) isWaitLimited(w *wave, i *Installation) bool {
	return p.isInTrial(i) && p.isAsBefore(i) && p.isRequired(w, i)
}

func (p *plan) waitLeft(i *Installation) time.Duration {
	return p.Rollout.HealthGate.MaxWait.Duration - i.Observed.Total
}
