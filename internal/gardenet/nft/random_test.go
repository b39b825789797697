package nft_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/trellis-garden/trellis/internal/gardenet/nft"
)

// Random tables have few names, so that two of them have many in common.
const (
	randomSets   = 6
	randomChains = 6
	// lastWithMaps is the last chain that uses verdict maps. Those have jumps to later chains only: the kernel refuses loops.
	lastWithMaps = 2
)

func randomTable(random *rand.Rand) nft.Table {
	t := nft.Table{Name: "example"}
	for i := range 2 {
		if random.IntN(2) == 0 {
			t.Counters = append(t.Counters, fmt.Sprintf("counter-%d", i))
		}
	}
	// Chains use those with higher numbers. Base chains are used by none.
	present, base := map[int]bool{}, map[int]bool{}
	for i := range randomChains {
		if random.IntN(3) > 0 {
			present[i], base[i] = true, random.IntN(3) == 0
		}
	}
	jump := func(above int) string {
		for range 4 {
			if i := random.IntN(randomChains); i > above && present[i] && !base[i] {
				return fmt.Sprintf("jump chain-%d", i)
			}
		}
		return "accept"
	}
	for i := range randomSets {
		if random.IntN(4) > 0 {
			t.Sets = append(t.Sets, randomSet(random, fmt.Sprintf("set-%d", i), jump))
		}
	}
	for i := range randomChains {
		if present[i] {
			t.Chains = append(t.Chains, randomChain(random, i, base[i], t, jump))
		}
	}
	random.Shuffle(len(t.Sets), func(i, j int) { t.Sets[i], t.Sets[j] = t.Sets[j], t.Sets[i] })
	random.Shuffle(len(t.Chains), func(i, j int) { t.Chains[i], t.Chains[j] = t.Chains[j], t.Chains[i] })
	return t
}

func randomSet(random *rand.Rand, name string, jump func(above int) string) nft.Set {
	s := nft.Set{Name: name, Type: "ipv4_addr"}
	elements := map[string]bool{}
	number := func() int { return random.IntN(12) }
	switch random.IntN(8) {
	case 0:
		s.Type = "ipv4_addr . inet_proto . inet_service"
		for range random.IntN(8) {
			elements[fmt.Sprintf("10.0.0.%d . %s . %d", number(), []string{"tcp", "udp", "sctp"}[random.IntN(3)], 80+number())] = true
		}
	case 1, 2:
		s.Interval = true
		for i := range 4 {
			switch random.IntN(4) {
			case 0:
				elements[fmt.Sprintf("10.%d.0.0/16", i)] = true
			case 1:
				elements[fmt.Sprintf("10.%d.0.0/17", i)], elements[fmt.Sprintf("10.%d.128.0/17", i)] = true, true
			case 2:
				elements[fmt.Sprintf("10.%d.0.%d", i, number())] = true
			}
		}
	case 3, 4:
		s.Verdicts = true
		for i := range 12 {
			if random.IntN(3) == 0 {
				elements[fmt.Sprintf("10.0.0.%d : %s", i, jump(lastWithMaps))] = true
			}
		}
	case 5:
		s.Type = "ipv6_addr"
		for range random.IntN(12) {
			elements[fmt.Sprintf("fd00::%x", 1+number())] = true
		}
	default:
		for range random.IntN(12) {
			elements[fmt.Sprintf("10.0.0.%d", number())] = true
		}
	}
	s.Elements = slices.Sorted(maps.Keys(elements))
	return s
}

func randomChain(random *rand.Rand, number int, base bool, t nft.Table, jump func(above int) string) nft.Chain {
	c := nft.Chain{Name: fmt.Sprintf("chain-%d", number)}
	if base {
		c.Base = []string{
			"type filter hook forward priority filter; policy accept;", "type filter hook input priority filter; policy accept;",
		}[random.IntN(2)]
	}
	for range random.IntN(5) {
		c.Rules = append(c.Rules, randomRule(random, t, number <= lastWithMaps, jump(number)))
	}
	return c
}

func randomRule(random *rand.Rand, t nft.Table, maps bool, action string) string {
	if len(t.Counters) > 0 && random.IntN(4) == 0 {
		return fmt.Sprintf("counter name %q drop", t.Counters[random.IntN(len(t.Counters))])
	}
	if len(t.Sets) == 0 || random.IntN(3) == 0 {
		return fmt.Sprintf("tcp dport %d %s", 80+random.IntN(3), action)
	}
	s := t.Sets[random.IntN(len(t.Sets))]
	switch {
	case s.Verdicts && !maps:
		return action
	case s.Verdicts:
		return "ip saddr vmap @" + s.Name
	case s.Type == "ipv6_addr":
		return fmt.Sprintf("ip6 daddr @%s %s", s.Name, action)
	case s.Type == "ipv4_addr":
		return fmt.Sprintf("ip daddr @%s %s", s.Name, action)
	}
	return fmt.Sprintf("ip daddr . meta l4proto . th dport @%s %s", s.Name, action)
}
