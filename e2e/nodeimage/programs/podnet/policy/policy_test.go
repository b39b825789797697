package policy

import (
	"flag"
	"net/netip"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write golden files anew")

// cluster is two nodes and two namespaces: shop with web and db, whose labels say so, and watch with prober.
func cluster() Cluster {
	namespace := func(name string) *corev1.Namespace {
		return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"kubernetes.io/metadata.name": name}}}
	}
	pod := func(namespace, name, node, address string, ports ...corev1.ContainerPort) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": strings.TrimRight(name, "0123456789")}},
			Spec:       corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "it", Ports: ports}}},
			Status:     corev1.PodStatus{Phase: corev1.PodRunning, PodIP: address},
		}
	}
	c := Cluster{
		Node: "one", NodePods: netip.MustParsePrefix("10.244.0.0/24"), AllPods: netip.MustParsePrefix("10.244.0.0/16"),
		Namespaces: []*corev1.Namespace{namespace("shop"), namespace("watch")},
		Pods: []*corev1.Pod{
			pod("shop", "web1", "one", "10.244.0.2", corev1.ContainerPort{Name: "http", ContainerPort: 8080}),
			pod("shop", "web2", "two", "10.244.1.2", corev1.ContainerPort{Name: "http", ContainerPort: 8081}),
			pod("shop", "db", "one", "10.244.0.3", corev1.ContainerPort{Name: "sql", ContainerPort: 5432, Protocol: corev1.ProtocolTCP}),
			pod("watch", "prober", "two", "10.244.1.3", corev1.ContainerPort{Name: "http", ContainerPort: 9090}),
		},
	}
	host := pod("shop", "web7", "one", "172.18.0.2")
	host.Spec.HostNetwork = true
	ended := pod("shop", "web8", "one", "10.244.0.2")
	ended.Status.Phase = corev1.PodSucceeded
	c.Pods = append(c.Pods, host, ended, pod("shop", "web9", "one", ""))
	return c
}

func TestRuleset_Policies(t *testing.T) {
	for what, test := range map[string]struct {
		// spec is of a policy in namespace shop.
		spec string
		// pod is that of node one that is looked at. In and out are what is allowed, nil where it is not isolated.
		pod     string
		in, out []string
	}{
		"nothing comes in where everything is denied": {
			spec: `{podSelector: {}, policyTypes: [Ingress]}`, pod: "db", in: []string{},
		},
		"nothing goes out where everything is denied": {
			spec: `{podSelector: {}, policyTypes: [Egress]}`, pod: "db", out: []string{},
		},
		"no types are both when something is said of egress": {
			spec: `{podSelector: {}, egress: [{}]}`, pod: "db", in: []string{}, out: []string{""},
		},
		"no types are ingress when nothing is said of egress": {
			spec: `{podSelector: {}, ingress: [{}]}`, pod: "db", in: []string{""},
		},
		"a policy does not concern other pods": {
			spec: `{podSelector: {matchLabels: {app: web}}, policyTypes: [Ingress, Egress]}`, pod: "db",
		},
		"pods of the same namespace, wherever they are": {
			spec: `{podSelector: {matchLabels: {app: db}}, ingress: [{from: [{podSelector: {matchLabels: {app: web}}}]}]}`, pod: "db",
			in: []string{"ip saddr { 10.244.0.2, 10.244.1.2 }"},
		},
		"pods of all namespaces": {
			spec: `{podSelector: {}, ingress: [{from: [{namespaceSelector: {}}]}]}`, pod: "db",
			in: []string{"ip saddr { 10.244.0.2, 10.244.0.3, 10.244.1.2, 10.244.1.3 }"},
		},
		"pods of other namespaces, by name of the namespace and by labels": {
			spec: `{podSelector: {}, ingress: [{from: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: watch}}, podSelector: {matchLabels: {app: prober}}}]}]}`,
			pod:  "db", in: []string{"ip saddr { 10.244.1.3 }"},
		},
		"namespace and pod have to match both": {
			spec: `{podSelector: {}, ingress: [{from: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: watch}}, podSelector: {matchLabels: {app: web}}}]}]}`,
			pod:  "db", in: []string{},
		},
		"several peers are one or the other": {
			spec: `{podSelector: {}, ingress: [{from: [{podSelector: {matchLabels: {app: web}}}, {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: watch}}}, {ipBlock: {cidr: 192.168.1.9/24}}]}]}`,
			pod:  "db", in: []string{"ip saddr 192.168.1.0/24", "ip saddr { 10.244.0.2, 10.244.1.2, 10.244.1.3 }"},
		},
		"blocks with exceptions": {
			spec: `{podSelector: {}, egress: [{to: [{ipBlock: {cidr: 0.0.0.0/0, except: [169.254.169.254/32, 10.0.0.0/8, 10.1.0.0/16]}}]}], policyTypes: [Egress]}`,
			pod:  "db", out: []string{"ip daddr 0.0.0.0/0 ip daddr != { 10.0.0.0/8, 169.254.169.254/32 }"},
		},
		"IPv6 is for somebody else": {
			spec: `{podSelector: {}, ingress: [{from: [{ipBlock: {cidr: "::/0"}}]}]}`, pod: "db", in: []string{},
		},
		"ports, ranges of them, and whole protocols": {
			spec: `{podSelector: {}, ingress: [{ports: [{port: 80}, {port: 53, protocol: UDP}, {port: 8000, endPort: 8100}, {protocol: SCTP}]}]}`, pod: "db",
			in: []string{"meta l4proto sctp", "tcp dport 80", "tcp dport 8000-8100", "udp dport 53"},
		},
		"peers at ports": {
			spec: `{podSelector: {}, ingress: [{from: [{podSelector: {matchLabels: {app: web}}}], ports: [{port: 80}]}]}`, pod: "db",
			in: []string{"ip saddr { 10.244.0.2, 10.244.1.2 } tcp dport 80"},
		},
		"a named port is the pod's own where traffic comes in": {
			spec: `{podSelector: {}, ingress: [{ports: [{port: sql}]}]}`, pod: "db", in: []string{"tcp dport 5432"},
		},
		"a named port that the pod does not have lets nothing in": {
			spec: `{podSelector: {}, ingress: [{ports: [{port: http}]}]}`, pod: "db", in: []string{},
		},
		"a named port of another protocol lets nothing in": {
			spec: `{podSelector: {}, ingress: [{ports: [{port: sql, protocol: UDP}]}]}`, pod: "db", in: []string{},
		},
		"a named port is the other pod's where traffic goes out": {
			spec: `{podSelector: {}, policyTypes: [Egress], egress: [{to: [{podSelector: {matchLabels: {app: web}}}], ports: [{port: http}]}]}`, pod: "db",
			out: []string{"ip daddr { 10.244.0.2 } tcp dport 8080", "ip daddr { 10.244.1.2 } tcp dport 8081"},
		},
		"a named port of anybody": {
			spec: `{podSelector: {}, policyTypes: [Egress], egress: [{ports: [{port: http}]}]}`, pod: "web1",
			out: []string{"ip daddr { 10.244.0.2 } tcp dport 8080", "ip daddr { 10.244.1.2 } tcp dport 8081", "ip daddr { 10.244.1.3 } tcp dport 9090"},
		},
		"nobody that matches lets nothing in": {
			spec: `{podSelector: {}, ingress: [{from: [{podSelector: {matchLabels: {app: nobody}}}]}]}`, pod: "db", in: []string{},
		},
	} {
		t.Run(what, func(t *testing.T) {
			c := cluster()
			c.Policies = []*networkingv1.NetworkPolicy{policyOf(t, "shop", "the-one", test.spec), policyOf(t, "watch", "another", `{podSelector: {}}`)}
			chains, _ := newIndex(c).chains()
			got := map[direction][]string{}
			for _, chain := range chains {
				if chain.pod.Name == test.pod {
					got[chain.direction] = append([]string{}, chain.allowed...)
				}
			}
			assert.Equal(t, test.in, got[in], "in")
			assert.Equal(t, test.out, got[out], "out")
		})
	}
}

func TestRuleset_MultiplePolicies(t *testing.T) {
	c := cluster()
	c.Policies = []*networkingv1.NetworkPolicy{
		policyOf(t, "shop", "deny", `{podSelector: {}, policyTypes: [Ingress]}`),
		policyOf(t, "shop", "allow", `{podSelector: {matchLabels: {app: db}}, ingress: [{ports: [{port: 80}]}]}`),
		policyOf(t, "shop", "again", `{podSelector: {matchLabels: {app: db}}, ingress: [{ports: [{port: 80}]}]}`),
	}
	chains, known := newIndex(c).chains()
	require.Len(t, chains, 2, "web1 and db of node one")
	assert.Empty(t, chains[0].allowed)
	assert.Equal(t, []string{"tcp dport 80"}, chains[1].allowed)
	assert.Equal(t, []string{"10.244.0.2", "10.244.0.3"}, known, "not what has ended, is on the host's network or has no address yet")
}

func TestRuleset(t *testing.T) {
	c := cluster()
	c.Policies = []*networkingv1.NetworkPolicy{
		policyOf(t, "shop", "deny", `{podSelector: {}, policyTypes: [Ingress, Egress]}`),
		policyOf(t, "shop", "db", `{podSelector: {matchLabels: {app: db}}, ingress: [{from: [{podSelector: {matchLabels: {app: web}}}], ports: [{port: sql}]}]}`),
	}
	for name, cluster := range map[string]Cluster{
		"policies": c,
		"nothing":  {Node: "one", NodePods: c.NodePods, AllPods: c.AllPods},
	} {
		t.Run(name, func(t *testing.T) {
			golden := "testdata/" + name + ".nft"
			got := Ruleset(cluster)
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			assert.Empty(t, cmp.Diff(string(want), got))
		})
	}
}

func policyOf(t *testing.T, namespace, name, spec string) *networkingv1.NetworkPolicy {
	t.Helper()
	policy := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	require.NoError(t, yaml.UnmarshalStrict([]byte(spec), &policy.Spec))
	return policy
}
