package policy

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/internal/gardenet/nft"
	"github.com/trellis-garden/trellis/internal/gardenet/nft/nfttest"
	"github.com/trellis-garden/trellis/internal/golden"
)

// shop has a client and two servers on node one, and a database on node two.
func shop(t testing.TB, policies ...string) Cluster {
	t.Helper()
	pod := func(namespace, name, node, ipv4, ipv6 string, ports ...corev1.ContainerPort) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": name}},
			Spec:       corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Ports: ports}}},
			Status:     corev1.PodStatus{PodIP: ipv4, PodIPs: []corev1.PodIP{{IP: ipv4}, {IP: ipv6}}},
		}
	}
	c := Cluster{
		Node: "one", LocalRanges: prefixes("10.0.1.0/24", "fd00:10:0:1::/64"),
		Pods: []*corev1.Pod{
			pod("shop", "client", "one", "10.0.1.2", "fd00:10:0:1::2"),
			pod("shop", "web", "one", "10.0.1.3", "fd00:10:0:1::3", corev1.ContainerPort{Name: "http", ContainerPort: 8080}),
			pod("shop", "api", "one", "10.0.1.4", "fd00:10:0:1::4", corev1.ContainerPort{Name: "http", ContainerPort: 8081}),
			pod("data", "db", "two", "10.0.2.2", "fd00:10:0:2::2", corev1.ContainerPort{Name: "sql", ContainerPort: 5432}),
			pod("kube-system", "coredns", "two", "10.0.2.3", "fd00:10:0:2::3",
				corev1.ContainerPort{Name: "dns", ContainerPort: 8053, Protocol: corev1.ProtocolUDP}, corev1.ContainerPort{Name: "dns-tcp", ContainerPort: 8053}),
		},
	}
	for _, name := range []string{"shop", "data", "kube-system"} {
		c.Namespaces = append(c.Namespaces, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelMetadataName: name}}})
	}
	for i, text := range policies {
		c.Policies = append(c.Policies, policyOf(t, fmt.Sprintf("policy-%d", i), text))
	}
	return c
}

// goldenTables are by the name of their file.
func goldenTables(t testing.TB) map[string]nft.Table {
	t.Helper()
	recheck, keep := Options{Recheck: true, Generation: 3}, Options{}
	one := shop(t)
	one.LocalRanges = one.LocalRanges[:1]
	for _, pod := range one.Pods {
		pod.Status.PodIPs = pod.Status.PodIPs[:1]
	}
	return map[string]nft.Table{
		"no-policies.nft":  tableOf(For(one, keep)),
		"default-deny.nft": tableOf(For(shop(t, "shop: podSelector: {}, policyTypes: [Ingress, Egress]"), recheck)),
		"log-denied.nft":   tableOf(For(shop(t, "shop: podSelector: {}, policyTypes: [Ingress, Egress]"), Options{Recheck: true, Generation: 3, LogDenied: 10})),
		"ingress.nft": tableOf(For(shop(t,
			"shop: podSelector: {matchExpressions: [{key: app, operator: In, values: [web, api]}]}, ingress: [{from: [{podSelector: {matchLabels: {app: client}}}, "+
				"{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: data}}}], ports: [{port: http}, {port: 9000, endPort: 9010}, {port: 53, protocol: UDP}]}]",
			"shop: podSelector: {matchLabels: {app: web}}, ingress: [{from: [{ipBlock: {cidr: 192.168.0.0/16, except: [192.168.4.0/22]}}, {ipBlock: {cidr: '::/0'}}]}]",
		), recheck)),
		"egress.nft": tableOf(For(shop(t,
			"shop: podSelector: {}, policyTypes: [Egress], egress: [{to: [{namespaceSelector: {}, podSelector: {matchLabels: {app: db}}}], ports: [{port: sql}]}, "+
				"{to: [{ipBlock: {cidr: 0.0.0.0/0, except: [10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16]}}], ports: [{port: 443}, {port: 9899, protocol: SCTP}]}]",
		), keep)),
		// What Gardener has in kube-system of shoots, where NodeLocalDNS is used.
		"node-local-dns.nft": tableOf(For(shop(t,
			"shop: podSelector: {}, policyTypes: [Ingress, Egress]",
			"shop: podSelector: {matchLabels: {app: client}}, policyTypes: [Egress], egress: [{to: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: kube-system}}, "+
				"podSelector: {matchLabels: {app: coredns}}}], ports: [{port: 8053, protocol: UDP}, {port: 8053}]}, "+
				"{to: [{ipBlock: {cidr: 169.254.20.10/32}}], ports: [{port: 53, protocol: UDP}, {port: 53}]}]",
		), recheck)),
	}
}

func TestFor_GoldenFiles(t *testing.T) {
	folder := golden.Open(t, "testdata/tables")
	for file, table := range goldenTables(t) {
		folder.Check(t, file, table.Text())
	}
}

func TestGenerationIn(t *testing.T) {
	for _, generation := range []uint8{1, 9, 16, 255} {
		assert.Equal(t, generation, GenerationIn(tableOf(For(shop(t), Options{Recheck: true, Generation: generation})).Text()))
	}
	assert.Zero(t, GenerationIn(tableOf(For(shop(t), Options{})).Text()))
	assert.Zero(t, GenerationIn(""))
}

// The kernel takes what is written, and lists it as it was written.
func TestFor_InTheKernel(t *testing.T) {
	if !nfttest.InNamespace(t) {
		return
	}
	tables := slices.Collect(maps.Values(goldenTables(t)))
	for seed := range 40 {
		o := randomCluster(&choices{random: rand.New(rand.NewPCG(uint64(seed), 2))})
		tables = append(tables, tableOf(For(o.on(o.nodes[seed%2]), Options{Recheck: seed%4 > 0, Generation: uint8(seed), LogDenied: seed % 7})))
	}
	for _, table := range tables {
		require.NoError(t, nfttest.Apply(t, table.Text(), true))
	}
	from := nft.Table{}
	for _, to := range tables {
		require.NoError(t, nfttest.Apply(t, nft.Difference(from, to), false))
		listed, err := nfttest.Parse(nfttest.List(t, to.Name))
		require.NoError(t, err)
		written, err := nfttest.Parse(to.Text())
		require.NoError(t, err)
		require.Empty(t, cmp.Diff(written, listed, cmpopts.EquateEmpty()))
		require.Equal(t, GenerationIn(to.Text()), GenerationIn(nfttest.List(t, to.Name)))
		from = to
	}
}
