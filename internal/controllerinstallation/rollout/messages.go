package rollout

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// failure describes the failure of the first failed installation, and adds the number of others.
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
		return fmt.Sprintf("seed %s was unhealthy with revision %s for %s in all", i.Seed, p.Newest, p.maxUnhealthy())
	}
}

// notRequired names the members of a wave that are not healthy with the candidate and that the wave does not wait for.
func (p *plan) notRequired(w *wave) string {
	failed := seedsOf(p.failed(w), func(*Installation) bool { return true })
	unhealthy := seedsOf(w.members, func(i *Installation) bool {
		return p.isInTrial(i) && !i.isUnknown() && !i.available() && p.isAsBefore(i) && i.Failed == ""
	})
	return joinNonEmpty(", ", failed.withSuffix("failed and may"), unhealthy.withSuffix("not healthy, as before it"))
}

// count describes how many installations have a revision and are healthy.
func (p *plan) count(w *wave, revision string) string {
	have, prefix, noun, verb := 0, "", "installations", "have"
	for _, i := range w.members {
		if !i.isUnknown() && i.isUpToDate(revision) {
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

// problems describes the problems of installations that are up to date.
func (p *plan) problems(w *wave) string {
	failed := seedsOf(w.members, func(i *Installation) bool { return i.Failed != "" })
	unhealthy := seedsOf(w.members, func(i *Installation) bool { return i.Failed == "" && !i.available() })
	return joinNonEmpty(", ", failed.withSuffix("cannot have it"), unhealthy.withVerb("not healthy"))
}

// unknownSeeds names the seeds whose installations have an unknown health.
func unknownSeeds(installations []*Installation) string {
	unseen := seedsOf(installations, (*Installation).isUnchecked)
	lost := seedsOf(installations, func(i *Installation) bool { return i.Unreachable })
	return joinNonEmpty(", ", lost.withSuffix("cannot be reached"), unseen.withSuffix("not looked at yet"))
}

// formatTime returns the time of day, with the date if that is not today.
func (p *plan) formatTime(moment time.Time) string {
	layout, moment := "15:04:05 MST", moment.UTC()
	if moment.Format(time.DateOnly) != p.Now.UTC().Format(time.DateOnly) {
		layout = "2006-01-02 " + layout
	}
	return moment.Format(layout)
}

// joinNonEmpty joins the texts that are not empty.
func joinNonEmpty(separator string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), separator)
}

// seeds is a list of names in a sentence.
type seeds []string

// maxNamedSeeds is how many seeds a sentence names. If there is more than one other, the others are counted.
const maxNamedSeeds = 3

// seedsOf returns the seeds of the installations for which a condition holds.
func seedsOf(installations []*Installation, matches func(*Installation) bool) seeds {
	var found seeds
	for _, i := range installations {
		if matches(i) && !slices.Contains(found, i.Seed) {
			found = append(found, i.Seed)
		}
	}
	return found
}

// withSuffix appends a text that is the same for one seed and for many; it returns nothing for an empty list.
func (s seeds) withSuffix(what string) string {
	if len(s) == 0 {
		return ""
	}
	return s.String() + " " + what
}

// withVerb appends a predicate in singular or plural.
func (s seeds) withVerb(what string) string {
	if len(s) == 1 {
		return s.withSuffix("is " + what)
	}
	return s.withSuffix("are " + what)
}

// withPrefix prepends a text; it returns nothing for an empty list.
func (s seeds) withPrefix(what string) string {
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
	case n > maxNamedSeeds+1:
		return fmt.Sprintf("seeds %s and %d others", strings.Join(s[:maxNamedSeeds], ", "), n-maxNamedSeeds)
	default:
		return "seeds " + strings.Join(s[:n-1], ", ") + " and " + s[n-1]
	}
}
