package router

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// iptablesTables are the tables in which kube-proxy has chains in its other modes. Here they are those of iptables-nft, which nft shows.
func iptablesTables() []string { return []string{"nat", "filter", "mangle"} }

// isKubeProxyChain reports whether a chain of iptables is kube-proxy's. The others with that prefix are kubelet's.
func isKubeProxyChain(name string) bool {
	kubelet := []string{"KUBE-KUBELET-CANARY", "KUBE-IPTABLES-HINT", "KUBE-FIREWALL", "KUBE-MARK-DROP"}
	return strings.HasPrefix(name, "KUBE-") && !slices.Contains(kubelet, name)
}

// removeLeftovers removes kube-proxy's chains of iptables and the rules that jump to them, and returns how many chains there were.
func (t tables) removeLeftovers(ctx context.Context, family corev1.IPFamily) (int, error) {
	chains, err := t.list(ctx, "chains", nftFamily(family))
	if err != nil {
		return 0, err
	}
	removed := 0
	for _, table := range iptablesTables() {
		if !hasLeftovers(chains, table) {
			continue
		}
		content, err := t.list(ctx, "table", nftFamily(family), table)
		if err != nil {
			return removed, err
		}
		script, count := leftoversScript(content, nftFamily(family), table)
		if _, err := t.run(ctx, script, "-f", "-"); err != nil {
			return removed, err
		}
		removed += count
	}
	return removed, nil
}

func hasLeftovers(chains objects, table string) bool {
	for _, object := range chains.Nftables {
		if object.Chain != nil && object.Chain.Table == table && isKubeProxyChain(object.Chain.Name) {
			return true
		}
	}
	return false
}

// leftoversScript is one transaction: first the rules of other chains that jump to the chains, then what is in the chains, then these.
func leftoversScript(content objects, family, table string) (script string, chains int) {
	var jumps, flushes, deletes strings.Builder
	for _, object := range content.Nftables {
		if c := object.Chain; c != nil && isKubeProxyChain(c.Name) {
			fmt.Fprintf(&flushes, "flush chain %s %s %s\n", family, table, c.Name)
			fmt.Fprintf(&deletes, "delete chain %s %s %s\n", family, table, c.Name)
			chains++
		}
		if r := object.Rule; r != nil && !isKubeProxyChain(r.Chain) && r.jumpsToKubeProxy() {
			fmt.Fprintf(&jumps, "delete rule %s %s %s handle %d\n", family, table, r.Chain, r.Handle)
		}
	}
	return jumps.String() + flushes.String() + deletes.String(), chains
}

func (r rule) jumpsToKubeProxy() bool {
	for _, expression := range r.Expr {
		for _, jump := range []*target{expression.Jump, expression.Goto} {
			if jump != nil && isKubeProxyChain(jump.Target) {
				return true
			}
		}
	}
	return false
}
