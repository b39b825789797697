package policy

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What depends on more than addresses and ports.
func TestFor_Packets(t *testing.T) {
	const (
		denyAll = "shop: podSelector: {}, policyTypes: [Ingress, Egress]"
		dns     = "shop: podSelector: {}, policyTypes: [Egress], egress: [{to: [{ipBlock: {cidr: 169.254.20.10/32}}], ports: [{port: 53, protocol: UDP}]}]"
	)
	web := func(state string, mark uint32) packet {
		return between("10.0.1.2", "10.0.1.3", packet{protocol: "tcp", sport: 40000, dport: 8080, state: state, mark: mark})
	}
	recheck, keep := Options{Recheck: true, Generation: generation}, Options{}
	for sentence, test := range map[string]struct {
		options  Options
		policies []string
		hook     string
		packet   packet
		want     bool
		mark     uint32
		counter  string
	}{
		"a new connection is dropped":                      {recheck, []string{denyAll}, chainForward, web("new", 0), false, 0, CounterEgress},
		"a new connection is dropped at the server":        {recheck, []string{denyWeb}, chainForward, web("new", 0), false, 0, CounterIngress},
		"a new connection is marked":                       {recheck, nil, chainForward, web("new", 0), true, newMark, ""},
		"other bits of the mark stay":                      {recheck, nil, chainForward, web("new", otherMark), true, otherMark | newMark, ""},
		"an established connection is checked again":       {recheck, []string{denyAll}, chainForward, web("established", oldMark), false, oldMark, CounterEgress},
		"an established connection is checked once":        {recheck, []string{denyAll}, chainForward, web("established", newMark), true, newMark, ""},
		"an established connection stays without Recheck":  {keep, []string{denyAll}, chainForward, web("established", 0), true, 0, ""},
		"a new connection is dropped without Recheck":      {keep, []string{denyAll}, chainForward, web("new", 0), false, 0, CounterEgress},
		"nothing is marked without Recheck":                {keep, nil, chainForward, web("new", otherMark), true, otherMark, ""},
		"a reply is checked again":                         {recheck, []string{denyWeb}, chainForward, replyTo(web("new", oldMark)), false, oldMark, CounterIngress},
		"a reply is free without Recheck":                  {keep, []string{denyAll}, chainForward, replyTo(web("new", 0)), true, 0, ""},
		"an error about a connection passes":               {recheck, []string{denyAll}, chainForward, between("10.0.1.2", "10.0.1.3", packet{protocol: "icmp", state: "related", mark: oldMark}), true, oldMark, ""},
		"an error about a connection passes, unmarked":     {keep, []string{denyAll}, chainForward, between("10.0.1.2", "10.0.1.3", packet{protocol: "icmp", state: "related"}), true, 0, ""},
		"a packet that is not tracked is checked":          {recheck, []string{denyAll}, chainForward, web("untracked", 0), false, 0, CounterEgress},
		"a packet that is not tracked is not marked":       {recheck, nil, chainForward, web("untracked", 0), true, 0, ""},
		"NodeLocalDNS is allowed":                          {recheck, []string{denyAll, dns}, chainInput, between("10.0.1.2", "169.254.20.10", packet{protocol: "udp", dport: 53, state: "untracked"}), true, 0, ""},
		"NodeLocalDNS is not allowed":                      {recheck, []string{denyAll}, chainInput, between("10.0.1.2", "169.254.20.10", packet{protocol: "udp", dport: 53, state: "untracked"}), false, 0, CounterEgress},
		"a pod finds its node by neighbour discovery":      {recheck, []string{denyAll}, chainInput, between("fd00:10:0:1::2", "fd00:10:0:1::1", packet{protocol: "icmpv6", icmpType: "nd-neighbor-solicit", state: "untracked"}), true, 0, ""},
		"a pod pings its node":                             {recheck, []string{denyAll}, chainInput, between("fd00:10:0:1::2", "fd00:10:0:1::1", packet{protocol: "icmpv6", icmpType: "echo-request", state: "new"}), false, 0, CounterEgress},
		"a pod answers its node":                           {recheck, []string{denyAll}, chainInput, between("10.0.1.2", "172.16.0.1", packet{protocol: "tcp", sport: 80, state: "established", reply: true}), true, 0, ""},
		"a pod that is not known answers its node":         {recheck, nil, chainInput, between("10.0.1.77", "172.16.0.1", packet{protocol: "tcp", sport: 80, state: "established", reply: true}), true, 0, ""},
		"a pod that is not known connects to its node":     {recheck, nil, chainInput, between("10.0.1.77", "172.16.0.1", packet{protocol: "tcp", dport: 80, state: "new"}), false, 0, CounterUnknown},
		"a pod that is not known sends":                    {keep, nil, chainForward, between("10.0.1.77", "8.8.8.8", packet{protocol: "tcp", dport: 80, state: "new"}), false, 0, CounterUnknown},
		"a pod that is not known is sent to":               {keep, nil, chainForward, between("8.8.8.8", "fd00:10:0:1::77", packet{protocol: "tcp", dport: 80, state: "new"}), false, 0, CounterUnknown},
		"the node talks to itself from an address of pods": {recheck, nil, chainInput, between("10.0.1.1", "10.0.1.1", packet{protocol: "tcp", dport: 80, state: "new", device: "lo"}), true, 0, ""},
		"a pod reaches itself":                             {recheck, []string{denyAll}, chainForward, between("10.0.1.2", "10.0.1.2", packet{protocol: "tcp", dport: 80, state: "new"}), true, 0, ""},
		"two pods that are not here":                       {recheck, []string{denyAll}, chainForward, between("10.0.2.2", "10.0.2.3", packet{protocol: "tcp", dport: 80, state: "new"}), true, newMark, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			s, err := simulate(tableOf(For(shop(t, test.policies...), test.options)).Text())
			require.NoError(t, err)
			p := test.packet
			assert.Equal(t, test.want, s.passes(test.hook, &p))
			assert.Equal(t, test.mark, p.mark)
			want := map[string]int{}
			if test.counter != "" {
				want[test.counter] = 1
			}
			assert.Equal(t, want, s.counters)
		})
	}
}

// Denied packets are logged once, by the pod's node, in the direction that forbids them. Packets of pods that are not known are not.
func TestFor_LogDenied(t *testing.T) {
	const denyAll = "shop: podSelector: {}, policyTypes: [Ingress, Egress]"
	options := Options{Recheck: true, Generation: generation, LogDenied: 10}
	for sentence, test := range map[string]struct {
		policy   string
		from, to string
		want     map[string]int
	}{
		"sent":     {denyAll, "10.0.1.2", "10.0.1.3", map[string]int{CounterEgress: 1, "logged-egress": 1}},
		"received": {denyWeb, "10.0.1.2", "10.0.1.3", map[string]int{CounterIngress: 1, "logged-ingress": 1}},
		"allowed":  {denyWeb, "10.0.1.2", "10.0.1.4", map[string]int{}},
		"unknown":  {denyAll, "10.0.1.77", "10.0.1.3", map[string]int{CounterUnknown: 1}},
	} {
		t.Run(sentence, func(t *testing.T) {
			s, err := simulate(tableOf(For(shop(t, test.policy), options)).Text())
			require.NoError(t, err)
			p := between(test.from, test.to, packet{protocol: "tcp", dport: 8080, state: "new"})
			s.passes(chainForward, &p)
			assert.Equal(t, test.want, s.counters)
		})
	}
}

// What cannot be read allows nothing.
func TestFor_Unreadable(t *testing.T) {
	for sentence, policy := range map[string]string{
		"a block":             "ingress: [{from: [{ipBlock: {cidr: 010.0.0.0/8}}]}]",
		"an exception":        "ingress: [{from: [{ipBlock: {cidr: 0.0.0.0/0, except: [010.0.0.0/8]}}]}]",
		"a selector of pods":  "ingress: [{from: [{podSelector: {matchExpressions: [{key: app, operator: Like, values: [a]}]}}]}]",
		"a protocol":          "ingress: [{ports: [{protocol: ICMP}]}]",
		"a range of ports":    "ingress: [{ports: [{port: 8080, endPort: 80}]}]",
		"a name of no port":   "ingress: [{ports: [{port: other}]}]",
		"a name and no peers": "policyTypes: [Ingress], ingress: [{from: [], ports: [{port: other, protocol: UDP}]}]",
	} {
		t.Run(sentence, func(t *testing.T) {
			rules := For(shop(t, "shop: podSelector: {matchLabels: {app: web}}, "+policy), Options{})
			s, err := simulate(tableOf(rules).Text())
			require.NoError(t, err)
			p := between("10.0.1.2", "10.0.1.3", packet{protocol: "tcp", dport: 8080, state: "new"})
			assert.False(t, s.passes(chainForward, &p))
		})
	}
}

// between returns a packet with addresses.
func between(from, to string, p packet) packet {
	p.from, p.to, p.fromText, p.toText = netip.MustParseAddr(from), netip.MustParseAddr(to), from, to
	return p
}

func replyTo(p packet) packet { return p.answer() }

func TestSubtract(t *testing.T) {
	for sentence, test := range map[string]struct{ from, except, want []string }{
		"nothing":              {[]string{"10.0.0.0/8"}, nil, []string{"10.0.0.0/8"}},
		"another family":       {[]string{"10.0.0.0/8"}, []string{"::/0"}, []string{"10.0.0.0/8"}},
		"what is outside":      {[]string{"10.0.0.0/8"}, []string{"11.0.0.0/8"}, []string{"10.0.0.0/8"}},
		"a half":               {[]string{"10.0.0.0/8"}, []string{"10.0.0.0/9"}, []string{"10.128.0.0/9"}},
		"all":                  {[]string{"10.0.0.0/8"}, []string{"10.0.0.0/8"}, nil},
		"more than all":        {[]string{"10.0.0.0/8"}, []string{"0.0.0.0/0"}, nil},
		"both halves":          {[]string{"10.0.0.0/8"}, []string{"10.0.0.0/9", "10.128.0.0/9"}, nil},
		"an address":           {[]string{"10.0.0.0/30"}, []string{"10.0.0.1/32"}, []string{"10.0.0.0/32", "10.0.0.2/31"}},
		"an address of itself": {[]string{"10.0.0.1/32"}, []string{"10.0.0.1/32"}, nil},
		"one in another":       {[]string{"fd00::/126"}, []string{"fd00::1/128", "fd00::/127"}, []string{"fd00::2/127"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			assert.Equal(t, prefixes(test.want...), subtract(prefixes(test.from...)[0], prefixes(test.except...)))
		})
	}
}
