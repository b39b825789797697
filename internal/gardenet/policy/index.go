package policy

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// family is an address family: "4" or "6".
type family string

const (
	v4 family = "4"
	v6 family = "6"
)

func familyOf(address netip.Addr) family {
	if address.Is4() {
		return v4
	}
	return v6
}

// index is a Cluster in a form that is fast to search.
type index struct {
	Cluster
	namespaces map[string]labels.Set
	// pods are those that have an address of their own, byLabel the same by each of their labels, nil before they are searched.
	pods    []*pod
	byLabel map[label][]*pod
	// local are those of the node.
	local []*pod
	// policies are by namespace, sorted.
	policies map[string][]*compiled
	// found are the pods in a scope, by its key.
	found map[string][]*pod
}

// label is a label with its value.
type label struct{ key, value string }

// pod is a pod with addresses of its own. Another one stands for the pod when anything but round and isolations is different.
type pod struct {
	*corev1.Pod
	labels labels.Set
	// claimed are all of its addresses, addresses those that no pod has got since.
	claimed, addresses []address
	// round is that of the last computation in which it was there.
	round int
	// isolations are what policies mean for it, if it is on the node.
	isolations map[direction]isolation
}

// address is an address of a pod, with its text, which is needed often.
type address struct {
	netip.Addr
	text   string
	family family
}

// HasOwnAddresses reports whether the addresses in a pod's status are the pod's: not the node's, nor those of a pod that has ended, which others may have got.
func HasOwnAddresses(pod *corev1.Pod) bool {
	return !pod.Spec.HostNetwork && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
}

func newPod(object *corev1.Pod) *pod {
	p := &pod{Pod: object, labels: object.Labels}
	for _, parsed := range addressesOf(object) {
		p.claimed = append(p.claimed, address{Addr: parsed, text: parsed.String(), family: familyOf(parsed)})
	}
	p.addresses = p.claimed
	return p
}

// owners decides which pod has an address that several have in their status: the one that was created last.
type owners struct {
	pods      []*pod
	byAddress map[netip.Addr]*pod
}

func newOwners(pods int) *owners {
	return &owners{pods: make([]*pod, 0, pods), byAddress: make(map[netip.Addr]*pod, pods)}
}

func (o *owners) add(p *pod) {
	o.pods = append(o.pods, p)
	for _, each := range p.claimed {
		if other := o.byAddress[each.Addr]; other == nil || newestFirst(p.Pod, other.Pod) < 0 {
			o.byAddress[each.Addr] = p
		}
	}
}

// of returns the addresses of a pod.
func (o *owners) of(p *pod) []address {
	isOthers := func(a address) bool { return o.byAddress[a.Addr] != p }
	if !slices.ContainsFunc(p.claimed, isOthers) {
		return p.claimed
	}
	return slices.DeleteFunc(slices.Clone(p.claimed), isOthers)
}

// newestFirst is an order of pods that does not depend on that of a list.
func newestFirst(a, b *corev1.Pod) int {
	return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

func addressesOf(pod *corev1.Pod) []netip.Addr {
	texts := []string{pod.Status.PodIP}
	for _, ip := range pod.Status.PodIPs {
		texts = append(texts, ip.IP)
	}
	var addresses []netip.Addr
	for _, text := range texts {
		if address, err := netip.ParseAddr(text); err == nil && !slices.Contains(addresses, address.Unmap()) {
			addresses = append(addresses, address.Unmap())
		}
	}
	return addresses
}

// families are those of the node's pods. Nothing is written for another one.
func (idx *index) families() []family {
	found := map[family]bool{}
	for _, local := range idx.LocalRanges {
		found[familyOf(local.Addr())] = true
	}
	for _, pod := range idx.local {
		for _, address := range pod.addresses {
			found[address.family] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// in reports whether an address is in a range.
func (a address) in(r netip.Prefix) bool { return r.Contains(a.Addr) }
