package policy

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/internal/gardenet/nft"
)

// largeCluster has 1,000 pods in 20 namespaces, 100 of them local and isolated, each by 5 of 500 policies, which have selectors of their own that find
// 50 pods.
func largeCluster(b testing.TB) Cluster {
	b.Helper()
	c := Cluster{Node: "one", LocalRanges: prefixes("10.0.0.0/16", "fd00:10::/64")}
	for i := range 20 {
		c.Namespaces = append(c.Namespaces, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n%d", i), Labels: map[string]string{"n": fmt.Sprint(i)}}})
	}
	for i := range 1000 {
		c.Pods = append(c.Pods, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Name: fmt.Sprintf("p%d", i), Namespace: fmt.Sprintf("n%d", i%20),
				Labels: map[string]string{"app": fmt.Sprint(i / 20 % 25), "track": "stable", "pod-template-hash": fmt.Sprint(i / 20), "group": fmt.Sprint(i / 50)},
			},
			Spec: corev1.PodSpec{
				NodeName:   map[bool]string{true: "one", false: "two"}[i < 500 && i/20%5 == 0],
				Containers: []corev1.Container{{Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}, {Name: "metrics", ContainerPort: 9090}}}},
			},
			Status: corev1.PodStatus{PodIPs: []corev1.PodIP{{IP: fmt.Sprintf("10.0.%d.%d", i%10, 10+i/10)}, {IP: fmt.Sprintf("fd00:10::%x", i+16)}}},
		})
	}
	for i := range 500 {
		peer := fmt.Sprintf("namespaceSelector: {}, podSelector: {matchExpressions: [{key: group, operator: In, values: ['%d', 'x%d']}]}", i%20, i)
		c.Policies = append(c.Policies, policyOf(b, fmt.Sprintf("policy-%d", i), fmt.Sprintf(
			"n%d: podSelector: {matchExpressions: [{key: app, operator: In, values: ['%d', '%d', '%d', '%d', '%d']}]}, policyTypes: [Ingress, Egress], ingress: [{from: [{%s}], ports: [{port: http}, {port: 443}]}], "+
				"egress: [{to: [{%s}, {ipBlock: {cidr: 0.0.0.0/0, except: [10.0.0.0/8]}}], ports: [{port: 5432}, {port: metrics}]}]", i%20, i/20, (i/20+1)%25, (i/20+2)%25, (i/20+3)%25, (i/20+4)%25, peer, peer)))
	}
	return c
}

func BenchmarkFor(b *testing.B) {
	c := largeCluster(b)
	rules := For(c, Options{Recheck: true, Generation: 1})
	elements, lines := 0, 0
	for _, set := range rules.Sets {
		elements += len(set.Elements)
	}
	for _, chain := range rules.Chains {
		lines += len(chain.Rules)
	}
	for b.Loop() {
		For(c, Options{Recheck: true, Generation: 1})
	}
	b.ReportMetric(float64(len(rules.Sets)), "sets")
	b.ReportMetric(float64(elements), "elements")
	b.ReportMetric(float64(lines), "rules")
}

func addedPod(c Cluster) *corev1.Pod {
	added := c.Pods[7].DeepCopy()
	added.Name, added.Status.PodIPs = "added", []corev1.PodIP{{IP: "10.0.7.250"}, {IP: "fd00:10::fffa"}}
	return added
}

// What an agent does when one pod comes, and when it goes, which makes rules narrower.
func BenchmarkMemo_DifferenceOfOnePod(b *testing.B) {
	without, memo := largeCluster(b), &Memo{}
	with := without
	with.Pods = append(slices.Clone(without.Pods), addedPod(without))
	generation := uint8(1)
	before := memo.For(without, Options{Recheck: true, Generation: generation})
	size := 0
	for b.Loop() {
		after := memo.For(with, Options{Recheck: true, Generation: generation})
		if Narrows(before, after) {
			b.Fatal("a pod more is reported as less")
		}
		size = len(nft.Difference(tableOf(before), tableOf(after)))
		before = memo.For(without, Options{Recheck: true, Generation: generation})
		if !Narrows(after, before) {
			b.Fatal("a pod less is not reported")
		}
		generation++
		before = memo.For(without, Options{Recheck: true, Generation: generation})
		size = max(size, len(nft.Difference(tableOf(after), tableOf(before))))
	}
	b.ReportMetric(float64(size), "bytes")
}
