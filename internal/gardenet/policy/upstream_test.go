package policy

import (
	"fmt"
	"maps"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// upstreamCase is one of the cases of Kubernetes' own end-to-end tests of NetworkPolicies: what k8s.io/kubernetes v1.36.3 has in
// test/e2e/network/netpol/network_policy.go, as data.
type upstreamCase struct {
	// pods are "namespace/name".
	pods  string
	steps []upstreamStep
}

// upstreamStep is a state of the cluster, and what is expected then.
type upstreamStep struct {
	// policies are specs, each with its namespace before it.
	policies []string
	// labels are more labels of a namespace ("y") or a pod ("x/a").
	labels map[string]map[string]string
	probes []upstreamProbe
}

// upstreamProbe is what is expected at a port. Everything is allowed but what "deny from to" says, unless a later "allow from to" says otherwise. A star is for
// all pods, "x/*" for those of a namespace.
type upstreamProbe struct {
	protocol corev1.Protocol
	port     int32
	expected []string
}

func tcp(port int32, expected ...string) upstreamProbe {
	return upstreamProbe{corev1.ProtocolTCP, port, expected}
}

// once is a case with one state.
func once(pods string, policies []string, probes ...upstreamProbe) upstreamCase {
	return upstreamCase{pods, []upstreamStep{{policies: policies, probes: probes}}}
}

func TestFor_UpstreamCases(t *testing.T) {
	cases := upstreamCases()
	maps.Copy(cases, upstreamCasesOfPorts())
	maps.Copy(cases, upstreamCasesOfProtocols())
	assert.Len(t, cases, 48)
	for name, each := range cases {
		t.Run(name, func(t *testing.T) {
			for i, step := range each.steps {
				// All pods on one node, or by turns on two.
				for nodes := 1; nodes <= 2; nodes++ {
					o := upstreamCluster(t, each.pods, step, nodes)
					n, err := newNetwork(o, true, nil)
					require.NoError(t, err)
					for _, probe := range step.probes {
						probe.check(t, o, n, fmt.Sprintf("step %d, %d nodes", i+1, nodes))
					}
				}
			}
		})
	}
}

func (p upstreamProbe) check(t *testing.T, o oracle, n network, where string) {
	t.Helper()
	for _, from := range o.Pods {
		for _, to := range o.Pods {
			if from == to { // upstream expects nothing
				continue
			}
			for i := range from.Status.PodIPs {
				c := connection{netip.MustParseAddr(from.Status.PodIPs[i].IP), netip.MustParseAddr(to.Status.PodIPs[i].IP), p.protocol, p.port}
				want, what := p.allows(from, to), fmt.Sprintf("%s: %s %d from %s to %s", where, p.protocol, p.port, from.Namespace+"/"+from.Name, to.Namespace+"/"+to.Name)
				assert.Equal(t, want, o.allows(c), "the oracle, %s", what)
				assert.Equal(t, want, n.passes(n.way(c.from, c.to), c.first()), "the rules, %s", what)
			}
		}
	}
}

func (p upstreamProbe) allows(from, to *corev1.Pod) bool {
	allowed := true
	for _, line := range p.expected {
		words := strings.Fields(line)
		if means(words[1], from) && means(words[2], to) {
			allowed = words[0] == "allow"
		}
	}
	return allowed
}

func means(pattern string, pod *corev1.Pod) bool {
	namespace, name, _ := strings.Cut(pattern, "/")
	return pattern == "*" || namespace == pod.Namespace && (name == "*" || name == pod.Name)
}

func upstreamCluster(t *testing.T, pods string, step upstreamStep, nodes int) oracle {
	t.Helper()
	o := oracle{nodes: twoNodes()}
	for _, name := range []string{"x", "y", "z"} {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelMetadataName: name}}}
		maps.Copy(namespace.Labels, step.labels[name])
		o.Namespaces = append(o.Namespaces, namespace)
	}
	for i, full := range strings.Fields(pods) {
		namespace, name, _ := strings.Cut(full, "/")
		node := i % nodes
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"pod": name}},
			Spec:       corev1.PodSpec{NodeName: o.nodes[node].name},
			Status: corev1.PodStatus{PodIPs: []corev1.PodIP{
				{IP: fmt.Sprintf("10.0.%d.%d", node+1, i+10)}, {IP: fmt.Sprintf("fd00:10:0:%d::%x", node+1, i+10)},
			}},
		}
		maps.Copy(pod.Labels, step.labels[full])
		for _, protocol := range []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP} {
			for _, port := range []int32{80, 81} {
				pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Ports: []corev1.ContainerPort{
					{Name: fmt.Sprintf("serve-%d-%s", port, strings.ToLower(string(protocol))), ContainerPort: port, Protocol: protocol},
				}})
			}
		}
		o.Pods = append(o.Pods, pod)
	}
	for i, text := range step.policies {
		o.Policies = append(o.Policies, policyOf(t, fmt.Sprintf("policy-%d", i), o.replaceAddresses(text)))
	}
	return o
}

// replaceAddresses puts the addresses of pods where a policy says "4(x/a)" or "6(x/a)".
func (o oracle) replaceAddresses(text string) string {
	for _, pod := range o.Pods {
		for i, family := range []string{"4", "6"} {
			text = strings.ReplaceAll(text, fmt.Sprintf("%s(%s/%s)", family, pod.Namespace, pod.Name), pod.Status.PodIPs[i].IP)
		}
	}
	return text
}

// policyOf reads "namespace: spec".
func policyOf(t testing.TB, name, text string) *networkingv1.NetworkPolicy {
	t.Helper()
	namespace, spec, _ := strings.Cut(text, ": ")
	policy := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}}
	require.NoError(t, yaml.UnmarshalStrict([]byte("{"+spec+"}"), &policy.Spec), spec)
	return policy
}
