package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// ports are those that a rule allows. The zero value allows none.
type ports struct {
	// any is true for a rule without ports: it allows all protocols, with ports or without.
	any    bool
	ranges []portRange
	names  []portName
}

// portRange is a range of ports of a protocol in nft's words. A range from 0 is all of the protocol.
type portRange struct {
	protocol    string
	first, last int32
}

type portName struct{ protocol, name string }

func newPorts(allowed []networkingv1.NetworkPolicyPort) ports {
	if len(allowed) == 0 {
		return ports{any: true}
	}
	var p ports
	for _, each := range allowed {
		protocol, known := protocolOf(each.Protocol)
		switch {
		case !known:
		case each.Port == nil:
			p.ranges = append(p.ranges, portRange{protocol, 0, 65535})
		case each.Port.Type == intstr.String:
			p.names = append(p.names, portName{protocol, each.Port.StrVal})
		case each.EndPort == nil:
			p.ranges = append(p.ranges, portRange{protocol, each.Port.IntVal, each.Port.IntVal})
		case *each.EndPort >= each.Port.IntVal:
			p.ranges = append(p.ranges, portRange{protocol, each.Port.IntVal, *each.EndPort})
		}
	}
	p.names = sortedNames(p.names)
	return p
}

func sortedNames(names []portName) []portName {
	slices.SortFunc(names, func(a, b portName) int {
		return cmp.Or(cmp.Compare(a.protocol, b.protocol), cmp.Compare(a.name, b.name))
	})
	return slices.Compact(names)
}

func protocolOf(protocol *corev1.Protocol) (name string, known bool) {
	if protocol == nil || *protocol == "" {
		return "tcp", true
	}
	known = *protocol == corev1.ProtocolTCP || *protocol == corev1.ProtocolUDP || *protocol == corev1.ProtocolSCTP
	return strings.ToLower(string(*protocol)), known
}

// resolve returns the ports with the numbers that their names have in a pod.
func (p ports) resolve(in *pod) ports {
	resolved := ports{any: p.any, ranges: slices.Clone(p.ranges)}
	for _, name := range p.names {
		for _, number := range in.numbers(name) {
			resolved.ranges = append(resolved.ranges, portRange{name.protocol, number, number})
		}
	}
	return resolved
}

// numbers returns those of the pod's ports that have a name, those of sidecars included.
func (p *pod) numbers(name portName) []int32 {
	var numbers []int32
	for _, containers := range [][]corev1.Container{p.Spec.Containers, p.Spec.InitContainers} {
		for i := range containers {
			for _, port := range containers[i].Ports {
				protocol, _ := protocolOf(&port.Protocol)
				if port.Name == name.name && protocol == name.protocol && !slices.Contains(numbers, port.ContainerPort) {
					numbers = append(numbers, port.ContainerPort)
				}
			}
		}
	}
	slices.Sort(numbers)
	return numbers
}

// namedPorts returns the texts of the ports that have one of some names, as they follow an address in an element.
func (p *pod) namedPorts(names []portName) (texts []string) {
	for _, name := range names {
		for _, number := range p.numbers(name) {
			texts = append(texts, " . "+name.protocol+" . "+strconv.Itoa(int(number)))
		}
	}
	return texts
}

// expressions returns one for each protocol, and an empty one if any packet matches.
func (p ports) expressions(s side) []string {
	if p.any {
		return []string{""}
	}
	merged := merge(p.ranges)
	var expressions []string
	for len(merged) > 0 {
		end := 1
		for end < len(merged) && merged[end].protocol == merged[0].protocol {
			end++
		}
		expressions, merged = append(expressions, expression(merged[:end], s)), merged[end:]
	}
	return expressions
}

// expression matches ranges of one protocol.
func expression(ranges []portRange, s side) string {
	protocol := ranges[0].protocol
	if ranges[0].first == 0 && ranges[0].last == 65535 {
		return "meta l4proto " + protocol
	}
	texts := make([]string, 0, len(ranges))
	for _, each := range ranges {
		texts = append(texts, each.text())
	}
	if len(texts) == 1 {
		return fmt.Sprintf("%s %s %s", protocol, s.port(), texts[0])
	}
	return fmt.Sprintf("%s %s { %s }", protocol, s.port(), strings.Join(texts, ", "))
}

func (r portRange) text() string {
	first := strconv.Itoa(int(r.first))
	if r.first == r.last {
		return first
	}
	return first + "-" + strconv.Itoa(int(r.last))
}

// merge sorts ranges, and joins those that overlap or meet: nft refuses overlapping ranges in one set.
func merge(ranges []portRange) []portRange {
	sorted := slices.SortedFunc(slices.Values(ranges), func(a, b portRange) int {
		return cmp.Or(cmp.Compare(a.protocol, b.protocol), cmp.Compare(a.first, b.first))
	})
	var merged []portRange
	for _, next := range sorted {
		if n := len(merged); n > 0 && merged[n-1].protocol == next.protocol && next.first <= merged[n-1].last+1 {
			merged[n-1].last = max(merged[n-1].last, next.last)
			continue
		}
		merged = append(merged, next)
	}
	return merged
}
