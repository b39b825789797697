package policy

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
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
	// all are the pods that have an address of their own, byLabel the same by each of their labels.
	all     []*pod
	byLabel map[label][]*pod
	// local are those of the node.
	local []*pod
	// policies are by namespace, sorted.
	policies map[string][]*networkingv1.NetworkPolicy
}

// label is a label with its value.
type label struct{ key, value string }

// pod is a pod with addresses of its own.
type pod struct {
	*corev1.Pod
	labels    labels.Set
	addresses []address
}

// address is an address of a pod, with its text, which is needed often.
type address struct {
	netip.Addr
	text   string
	family family
}

func newIndex(c Cluster) *index {
	idx := &index{
		Cluster: c, namespaces: map[string]labels.Set{}, byLabel: map[label][]*pod{},
		policies: map[string][]*networkingv1.NetworkPolicy{},
	}
	for _, namespace := range c.Namespaces {
		idx.namespaces[namespace.Name] = namespace.Labels
	}
	for _, policy := range c.Policies {
		idx.policies[policy.Namespace] = append(idx.policies[policy.Namespace], policy)
	}
	for _, policies := range idx.policies {
		slices.SortFunc(policies, func(a, b *networkingv1.NetworkPolicy) int { return cmp.Compare(a.Name, b.Name) })
	}
	idx.addPods(c.Pods)
	return idx
}

// addPods adds those that have addresses of their own.
func (idx *index) addPods(all []*corev1.Pod) {
	pods := make([]*corev1.Pod, 0, len(all))
	for _, each := range all {
		if !each.Spec.HostNetwork && each.Status.Phase != corev1.PodSucceeded && each.Status.Phase != corev1.PodFailed {
			pods = append(pods, each)
		}
	}
	slices.SortFunc(pods, newestFirst)
	taken := make(map[netip.Addr]bool, len(pods))
	for _, each := range pods {
		added := &pod{Pod: each, labels: each.Labels}
		for _, parsed := range addressesOf(each) {
			if !taken[parsed] {
				taken[parsed] = true
				added.addresses = append(added.addresses, address{Addr: parsed, text: parsed.String(), family: familyOf(parsed)})
			}
		}
		if len(added.addresses) == 0 {
			continue
		}
		idx.all = append(idx.all, added)
		for key, value := range each.Labels {
			idx.byLabel[label{key, value}] = append(idx.byLabel[label{key, value}], added)
		}
		if each.Spec.NodeName == idx.Node {
			idx.local = append(idx.local, added)
		}
	}
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
