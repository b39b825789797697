package rollout

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// failure says how an installation has shown that the candidate is bad.
func (p *plan) failure(w *wave, i *Installation) string {
	gate := p.Rollout.HealthGate
	switch {
	case i.Failed != "":
		return fmt.Sprintf("wave %s: revision %s cannot be installed on seed %s: %s", w.name, p.Newest, i.Seed, i.Failed)
	case i.Applied == p.Newest && !i.UnhealthySince.IsZero():
		return fmt.Sprintf("wave %s: seed %s is no longer healthy with revision %s, for %s now", w.name, i.Seed, p.Newest, gate.Tolerance.Duration)
	default:
		return fmt.Sprintf("wave %s: seed %s is not healthy %s after it got revision %s", w.name, i.Seed, gate.Deadline.Duration, p.Newest)
	}
}

// count says how many installations have a revision and are healthy.
func (p *plan) count(w *wave, revision string) string {
	have, prefix, noun, verb := 0, "", "installations", "have"
	for _, i := range w.members {
		if i.settled(revision) {
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
