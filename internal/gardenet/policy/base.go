package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/trellis-garden/trellis/internal/gardenet/nft"
)

// Names of the chains that packets enter, and of the one for replies that are checked.
const (
	chainForward = "forward"
	chainInput   = "input"
	chainReplies = "replies"
)

// addBase adds the chains that packets enter. Nothing in them depends on pods or policies.
func (r *renderer) addBase() {
	forward := slices.Concat(r.accepted(), r.unknown("saddr"), r.unknown("daddr"), r.selves())
	// What pods send to their node. What the node sends passes the hook output, where no chain is; replies to that are free.
	input := slices.Concat([]string{`iifname "lo" accept`}, r.accepted())
	if r.Recheck {
		forward = append(forward, "ct direction reply goto "+chainReplies)
		input = append(input, "ct direction reply accept")
		r.addBaseChain(chainReplies, "", slices.Concat(r.check(egress, replies), r.check(ingress, replies), r.mark()))
	}
	forward = slices.Concat(forward, r.check(egress, requests), r.check(ingress, requests), r.mark())
	input = slices.Concat(input, r.unknown("saddr"), r.check(egress, requests), r.mark())
	r.addBaseChain(chainForward, "type filter hook forward priority filter; policy accept;", forward)
	r.addBaseChain(chainInput, "type filter hook input priority filter; policy accept;", input)
}

// logChain is the name of the chain that logs packets of isolated pods that are denied.
func logChain(d direction) string { return "log-" + string(d) }

// addLog adds the chains that log. All packets of a direction share one limit.
func (r *renderer) addLog() {
	if r.LogDenied == 0 {
		return
	}
	for _, d := range []direction{ingress, egress} {
		r.addBaseChain(logChain(d), "", []string{
			fmt.Sprintf("limit rate %d/second log prefix %q group %d", r.LogDenied, d.logPrefix(), LogGroup),
		})
	}
}

func (r *renderer) addBaseChain(name, base string, rules []string) {
	r.memo.chains[name] = &chain{Chain: nft.Chain{Name: name, Base: base, Rules: rules}, round: r.memo.round}
}

// accepted are the rules for what passes without a check.
func (r *renderer) accepted() []string {
	rules := []string{"ct state established,related accept"}
	if r.Recheck {
		rules = []string{
			fmt.Sprintf("%s0x%08x accept", acceptedMark(), r.generation()),
			// nft reads these words of its own without /etc/protocols, which the agent's image does not have; ipv6-icmp it would look up there.
			"ct state related meta l4proto { icmp, icmpv6 } accept",
		}
	}
	return append(rules, "icmpv6 type { nd-router-solicit, nd-router-advert, nd-neighbor-solicit, nd-neighbor-advert, nd-redirect } accept")
}

// acceptedMark is the beginning of the rule that accepts what has the generation in its mark.
func acceptedMark() string {
	return fmt.Sprintf("ct state established,related ct mark & 0x%08x == ", MarkMask)
}

// GenerationIn returns the generation of the rules in a text as nft lists it, and 0 if there is none. A process that has just started needs it: rules of the same
// generation would let pass what those before it have accepted.
func GenerationIn(listing string) uint8 {
	_, rest, _ := strings.Cut(listing, acceptedMark())
	text, _, _ := strings.Cut(rest, " ")
	mark, err := strconv.ParseUint(text, 0, 16)
	if err != nil {
		return 0
	}
	return uint8(mark >> 8)
}

// mark is the rule that records the generation. It is written as nft lists it.
func (r *renderer) mark() []string {
	if !r.Recheck {
		return nil
	}
	return []string{fmt.Sprintf("ct mark set ct mark & 0x%08x | 0x%08x", ^uint32(MarkMask)|r.generation(), r.generation())}
}

// generation is the part of the conntrack mark. It is never 0: connections without a mark have not been checked.
func (r *renderer) generation() uint32 {
	return uint32(max(r.Generation, 1)) << 8
}

// unknown are the rules that drop packets of pods of the node that are not known, or to them.
func (r *renderer) unknown(field string) (rules []string) {
	for _, local := range r.LocalRanges {
		family := familyOf(local.Addr())
		address := family.ip() + " " + field
		rules = append(rules, fmt.Sprintf("%s %s %s != @%s counter name %q drop", address, prefixText(local.Masked()), address, known(family), CounterUnknown))
	}
	return rules
}

// selves are the rules that let a pod reach itself, by way of a Service.
func (r *renderer) selves() (rules []string) {
	for _, family := range r.families {
		rules = append(rules, fmt.Sprintf("%s saddr . %s daddr @%s accept", family.ip(), family.ip(), self(family)))
	}
	return rules
}

// check are the rules that send packets of isolated pods to the chains of their policies.
func (r *renderer) check(d direction, s side) (rules []string) {
	for _, family := range r.families {
		rules = append(rules, fmt.Sprintf("%s %s vmap @%s", family.ip(), d.self(s), isolated(d, s, family)))
	}
	return rules
}
