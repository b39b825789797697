package openstack

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/observer"
)

// Who repairs a difference. What the next reconciliation does is taken from the functions by which it decides (networkChange, subnetChange, routerChange,
// diffRules, decideKeyPair), so that a message does not promise what does not happen.
const (
	repairedNext  = "the next reconciliation repairs it"
	recreatedNext = "the next reconciliation creates it again"
	removedNext   = "the next reconciliation removes it"
	reportedNext  = "the next reconciliation reports the new ones as egress addresses: set them back before if others depend on them"
	// byUser is followed by what to do.
	byUser = "no reconciliation changes it: "
	// byUserFirst is followed by what to do.
	byUserFirst = "the next reconciliation fails: "
)

const (
	setBack   = byUser + "set it back"
	immutable = byUser + "the field is immutable, so this is another resource: delete it, and a reconciliation replaces it"
)

// drift compares every field of every resource that the driver creates with what it writes, and given resources with what it requires.
func (s *observedShoot) drift() observer.Finding {
	d := &differences{}
	s.compareNetwork(d)
	for _, wanted := range s.subnets {
		s.compareSubnet(d, wanted)
	}
	s.compareRouter(d)
	s.compareInterfaces(d)
	s.compareGroup(d)
	s.compareKeyPair(d)
	s.compareShareNetwork(d)
	return findingOf(d.sentences, "Network, subnets, router, security group, key pair and share network are as the last reconciliation has written them.")
}

// differences are sentences about fields of resources. Each names the resource, the field, both values, and who repairs it.
type differences struct {
	resource  string
	sentences []string
}

// of begins with another resource.
func (d *differences) of(format string, args ...any) { d.resource = fmt.Sprintf(format, args...) }

// gone adds that the resource does not exist.
func (d *differences) gone(repair string) {
	d.sentences = append(d.sentences, fmt.Sprintf("%s does not exist any more, or the project cannot see it; %s", d.resource, repair))
}

// foundf adds a sentence about the resource.
func (d *differences) foundf(format string, args ...any) {
	d.sentences = append(d.sentences, d.resource+" "+fmt.Sprintf(format, args...))
}

// text compares texts.
func (d *differences) text(field, is, wanted, repair string) {
	if is != wanted {
		d.foundf("has the %s %s, not %s; %s", field, quoted(is), quoted(wanted), repair)
	}
}

// list compares lists.
func (d *differences) list(field string, is, wanted []string, repair string) {
	d.text(field, strings.Join(is, ", "), strings.Join(wanted, ", "), repair)
}

// set compares lists whose order has no meaning.
func (d *differences) set(field string, is, wanted []string, repair string) {
	d.list(field, slices.Sorted(slices.Values(is)), slices.Sorted(slices.Values(wanted)), repair)
}

// on compares a switch that has to be on.
func (d *differences) on(field string, is bool, repair string) {
	if !is {
		d.foundf("has %s switched off, not on; %s", field, repair)
	}
}

// description compares the description of an own resource, which is the shoot's mark, or upstream's if the upstream extension may have created it.
func (s *observedShoot) description(d *differences, is, upstreams string) {
	switch _, uid, marked := parseMark(is); {
	case is == s.mark, s.adopted && is == upstreams:
	case marked && uid != s.uid:
		d.text("description", is, s.mark, byUserFirst+"restore the description, by which the resource is found")
	default:
		d.text("description", is, s.mark, byUser+"restore it, since the resource is found by it if the state is lost")
	}
}

func quoted(text string) string {
	if text == "" {
		return "none"
	}
	return fmt.Sprintf("%q", text)
}

// byID returns the resource with an ID, or nil.
func byID[T any](all []T, id string, idOf func(T) string) *T {
	i := slices.IndexFunc(all, func(one T) bool { return idOf(one) == id })
	if i < 0 || id == "" {
		return nil
	}
	return &all[i]
}

// next returns who repairs a field, by whether the next reconciliation changes it.
func next(changes bool, otherwise string) string {
	if changes {
		return repairedNext
	}
	return otherwise
}
