package policy

import (
	"fmt"
	"strings"
)

// Table is the name of the table, of family ip, that a ruleset fills. It is nobody else's.
const Table = "podnet"

// Ruleset returns what `nft -f` takes to replace all that the table holds, at once. The same cluster gives the same text.
//
// By the time that these rules see a packet, the address of a Service has been replaced by that of a pod, and the pod's own
// address has not yet been replaced by the node's. Packets that leave the pods' network are given the node's here, too.
func Ruleset(c Cluster) string {
	idx := newIndex(c)
	chains, known := idx.chains()
	var b strings.Builder
	line := func(indent int, format string, args ...any) {
		b.WriteString(strings.Repeat("\t", indent))
		fmt.Fprintf(&b, format+"\n", args...)
	}
	line(0, "table ip %s", Table) // so that there is one to delete
	line(0, "delete table ip %s", Table)
	line(0, "table ip %s {", Table)
	for _, c := range chains {
		line(1, "chain %s { # %s/%s", c.name(), c.pod.Namespace, c.pod.Name)
		line(2, "%s %s return # a pod cannot keep itself out", c.direction.peerField(), c.pod.Status.PodIP)
		for _, allowed := range c.allowed {
			line(2, "%s", join(allowed, "return"))
		}
		line(2, "counter drop")
		line(1, "}")
	}
	for _, d := range []direction{in, out} {
		line(1, "chain pods-%s {", d)
		line(2, "%s", join(d.selfField(), idx.NodePods.String(), unknown(d, known), "counter drop"))
		if jumps := jumps(chains, d); len(jumps) > 0 {
			line(2, "%s vmap %s", d.selfField(), set(jumps))
		}
		line(1, "}")
	}
	line(1, "chain forward {")
	line(2, "type filter hook forward priority filter; policy accept;")
	line(2, "ct state established,related accept")
	line(2, "jump pods-%s", out)
	line(2, "jump pods-%s", in)
	line(1, "}")
	line(1, "chain input { # of the node: what pods send to it")
	line(2, "type filter hook input priority filter; policy accept;")
	line(2, "ct state established,related accept")
	line(2, "jump pods-%s", out)
	line(1, "}")
	line(1, "chain postrouting {")
	line(2, "type nat hook postrouting priority srcnat; policy accept;")
	line(2, "ip saddr %s ip daddr != %s masquerade", idx.NodePods, idx.AllPods)
	line(1, "}")
	line(0, "}")
	return b.String()
}

func (c chain) name() string { return string(c.direction) + "-" + c.pod.Status.PodIP }

// unknown matches pods of the node other than those that are known.
func unknown(d direction, known []string) string {
	if len(known) == 0 {
		return ""
	}
	return d.selfField() + " != " + set(known)
}

func jumps(chains []chain, d direction) []string {
	var jumps []string
	for _, c := range chains {
		if c.direction == d {
			jumps = append(jumps, c.pod.Status.PodIP+" : jump "+c.name())
		}
	}
	return jumps
}
