package rollout

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// failure says how installations have shown that the candidate is bad: the first one, and how many there are.
func (p *plan) failure(w *wave, failed []*Installation) string {
	sentence := fmt.Sprintf("wave %s: %s", w.name, p.failureOf(failed[0]))
	if most := p.maxFailures(w); len(failed) > most && most > 0 {
		sentence += fmt.Sprintf(" (%d of %d have failed, and %d may)", len(failed), len(w.members), most)
	}
	return sentence
}

func (p *plan) failureOf(i *Installation) string {
	gate, o := p.Rollout.HealthGate, i.Observed
	switch {
	case i.Failed != "" && !i.works():
		return fmt.Sprintf("revision %s cannot be installed on seed %s: %s", p.Newest, i.Seed, i.Failed)
	case o.Hidden >= gate.Deadline.Duration && i.Unreachable:
		return fmt.Sprintf("seed %s cannot be reached any more since it got revision %s, for %s", i.Seed, p.Newest, gate.Deadline.Duration)
	case o.Hidden >= gate.Deadline.Duration && p.hidden(i):
		return fmt.Sprintf("seed %s does not tell any more how it is since it got revision %s, for %s", i.Seed, p.Newest, gate.Deadline.Duration)
	case !i.wasHealthy():
		return fmt.Sprintf("seed %s is not healthy %s after it got revision %s", i.Seed, gate.Deadline.Duration, p.Newest)
	case o.Unhealthy >= gate.Tolerance.Duration && !i.available():
		return fmt.Sprintf("seed %s is no longer healthy with revision %s, for %s now", i.Seed, p.Newest, gate.Tolerance.Duration)
	case o.Interruptions > int(*gate.MaxInterruptions):
		return fmt.Sprintf("seed %s has become unhealthy with revision %s %d times", i.Seed, p.Newest, o.Interruptions)
	default:
		return fmt.Sprintf("seed %s was unhealthy with revision %s for %s in all", i.Seed, p.Newest, p.mostUnhealthy())
	}
}

// notWaitedFor says who of a wave has the candidate, is not healthy with it, and holds up nobody.
func (p *plan) notWaitedFor(w *wave) string {
	failed := which(p.failed(w), func(*Installation) bool { return true })
	ill := which(w.members, func(i *Installation) bool {
		return p.isJudged(i) && !i.absent() && !i.available() && p.isExcused(i) && i.Failed == ""
	})
	return joined(", ", failed.then("failed and may"), ill.then("not healthy, as before it"))
}

// count says how many installations have a revision and are healthy.
func (p *plan) count(w *wave, revision string) string {
	have, prefix, noun, verb := 0, "", "installations", "have"
	for _, i := range w.members {
		if !i.absent() && i.settled(revision) {
			have++
		}
	}
	if w.name != "" {
		prefix = "wave " + w.name + ": "
	}
	if have == 1 {
		verb = "has"
	}
	if len(w.members) == 1 {
		noun, verb = "installation", "has"
	}
	return fmt.Sprintf("%s%d of %d %s %s revision %s", prefix, have, len(w.members), noun, verb, revision)
}

// ailments says what is wrong where nothing is left to do.
func (p *plan) ailments(w *wave) string {
	refusing := which(w.members, func(i *Installation) bool { return i.Failed != "" })
	ailing := which(w.members, func(i *Installation) bool { return i.Failed == "" && !i.available() })
	return joined(", ", refusing.then("cannot have it"), ailing.are("not healthy"))
}

// missing says of whom nobody knows how they are.
func missing(installations []*Installation) string {
	unseen := which(installations, (*Installation).unseen)
	lost := which(installations, func(i *Installation) bool { return i.Unreachable })
	return joined(", ", lost.then("cannot be reached"), unseen.then("not looked at yet"))
}

// clock is a time of the day, with the day if that is another one.
func (p *plan) clock(moment time.Time) string {
	layout, moment := "15:04:05 MST", moment.UTC()
	if moment.Format(time.DateOnly) != p.Now.UTC().Format(time.DateOnly) {
		layout = "2006-01-02 " + layout
	}
	return moment.Format(layout)
}

// joined leaves out what says nothing.
func joined(separator string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), separator)
}

// seeds are names for a sentence.
type seeds []string

// most is how many seeds are named at least; if there is more than one other, the others are counted.
const most = 3

// which returns the seeds of the installations that it is true of.
func which(installations []*Installation, is func(*Installation) bool) seeds {
	var found seeds
	for _, i := range installations {
		if is(i) && !slices.Contains(found, i.Seed) {
			found = append(found, i.Seed)
		}
	}
	return found
}

// then says something of them that is the same for one and for many; nothing of nobody.
func (s seeds) then(what string) string {
	if len(s) == 0 {
		return ""
	}
	return s.String() + " " + what
}

// are says what they are.
func (s seeds) are(what string) string {
	if len(s) == 1 {
		return s.then("is " + what)
	}
	return s.then("are " + what)
}

// after says what is done with them.
func (s seeds) after(what string) string {
	if len(s) == 0 {
		return ""
	}
	return what + " " + s.String()
}

// String implements fmt.Stringer.
func (s seeds) String() string {
	switch n := len(s); {
	case n == 1:
		return "seed " + s[0]
	case n > most+1:
		return fmt.Sprintf("seeds %s and %d others", strings.Join(s[:most], ", "), n-most)
	default:
		return "seeds " + strings.Join(s[:n-1], ", ") + " and " + s[n-1]
	}
}
