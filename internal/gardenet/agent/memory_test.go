package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/rest"

	"github.com/trellis-garden/trellis/internal/gardenet/desired"
	"github.com/trellis-garden/trellis/internal/gardenet/nft"
	"github.com/trellis-garden/trellis/internal/gardenet/policy"
)

const (
	manyNodes, manyNamespaces, manyPods, manyPolicies = 20, 100, 1000, 500
	// heapBudget is what the agent of a cluster with that many objects may keep in use. The rest of the 40 MB that it may take is the program itself,
	// stacks, and garbage.
	heapBudget = 10_000_000
)

// objects generates the objects of a large cluster, with the fields that make real ones large.
func objects(yield func(resource Resource, object metav1.Object)) {
	for i := range manyNodes {
		n := node(fmt.Sprintf("node-%d", i), i)
		for image := range 50 {
			n.Status.Images = append(n.Status.Images, corev1.ContainerImage{Names: []string{fmt.Sprintf("registry.example.org/image-%d@sha256:%064d", image, image)}})
		}
		yield(Nodes, n)
	}
	for i := range manyNamespaces {
		yield(Namespaces, &corev1.Namespace{ObjectMeta: largeMeta("", fmt.Sprintf("namespace-%d", i), map[string]string{"team": fmt.Sprintf("team-%d", i%10)})})
	}
	for i := range manyPods {
		yield(Pods, largePod(i))
	}
	tcp := corev1.ProtocolTCP
	for i := range manyPolicies {
		yield(NetworkPolicies, &networkingv1.NetworkPolicy{
			ObjectMeta: largeMeta(fmt.Sprintf("namespace-%d", i%manyNamespaces), fmt.Sprintf("policy-%d", i), nil),
			Spec: networkingv1.NetworkPolicySpec{
				PodSelector: metav1.LabelSelector{MatchLabels: map[string]string{"app": fmt.Sprintf("app-%d", i%10)}},
				PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress},
				Ingress: []networkingv1.NetworkPolicyIngressRule{{
					From:  []networkingv1.NetworkPolicyPeer{{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": fmt.Sprintf("team-%d", i%10)}}}},
					Ports: []networkingv1.NetworkPolicyPort{{Protocol: &tcp, Port: new(intstr.FromString("http"))}},
				}},
			},
		})
	}
}

func largeMeta(namespace, name string, labels map[string]string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: namespace, Name: name, UID: "0b5f2f2e-6c37-4c93-9f10-0a0a5a0a6f4e", ResourceVersion: "12345", Labels: labels,
		Annotations:   map[string]string{"kubectl.kubernetes.io/last-applied-configuration": strings.Repeat("x", 1500)},
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubectl", FieldsV1: metav1.NewFieldsV1(`{"f:spec": "` + strings.Repeat("x", 2000) + `"}`)}},
	}
}

func largePod(i int) *corev1.Pod {
	ip := fmt.Sprintf("10.96.%d.%d", i%manyNodes, i/manyNodes+2)
	p := &corev1.Pod{
		ObjectMeta: largeMeta(fmt.Sprintf("namespace-%d", i%manyNamespaces), fmt.Sprintf("deployment-5d4f8c7b9d-%05d", i), map[string]string{
			"app": fmt.Sprintf("app-%d", i/manyNamespaces), "app.kubernetes.io/managed-by": "Helm", "pod-template-hash": "5d4f8c7b9d",
		}),
		Spec:   corev1.PodSpec{NodeName: fmt.Sprintf("node-%d", i%manyNodes)},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, PodIP: ip, PodIPs: []corev1.PodIP{{IP: ip}}},
	}
	for c := range 2 {
		container := corev1.Container{Name: fmt.Sprint("container-", c), Image: "registry.example.org/image:1", Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080 + int32(c)}}}
		for e := range 20 {
			container.Env = append(container.Env, corev1.EnvVar{Name: fmt.Sprint("VARIABLE_", e), Value: "some value"})
		}
		container.Resources.Requests = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("100Mi")}
		p.Spec.Containers = append(p.Spec.Containers, container)
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{Name: container.Name, ImageID: "sha256:" + strings.Repeat("0", 64)})
	}
	return p
}

// largeCluster is an API server with these objects. It keeps none of them.
func largeCluster(t testing.TB) *httptest.Server {
	t.Helper()
	kinds := map[Resource]metav1.TypeMeta{
		Nodes: {APIVersion: "v1", Kind: "Node"}, Pods: {APIVersion: "v1", Kind: "Pod"}, Namespaces: {APIVersion: "v1", Kind: "Namespace"},
		NetworkPolicies: {APIVersion: "networking.k8s.io/v1", Kind: "NetworkPolicy"},
	}
	end := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked := Resource(r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:])
		w.Header().Set("Content-Type", "application/json")
		send := func(kind string, object any) {
			content, err := json.Marshal(object)
			if err == nil {
				var fields map[string]any
				err = json.Unmarshal(content, &fields)
				fields["apiVersion"], fields["kind"] = kinds[asked].APIVersion, kinds[asked].Kind
				object = fields
			}
			if err != nil || json.NewEncoder(w).Encode(map[string]any{"type": kind, "object": object}) != nil {
				t.Error("sending an object failed")
			}
		}
		if r.URL.Query().Get("sendInitialEvents") == "true" {
			objects(func(resource Resource, object metav1.Object) {
				if resource == asked {
					send("ADDED", object)
				}
			})
			send("BOOKMARK", &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "12346", Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"}}})
		}
		_ = http.NewResponseController(w).Flush()
		select {
		case <-end:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(end) })
	return server
}

// policyState is the part of desired.Compute that needs most memory.
func policyState(in desired.Input) (desired.State, error) {
	rules := in.Memo.For(in.Cluster, policy.Options{Recheck: true, Generation: in.Generation})
	return desired.State{Conflist: "{}", Table: nft.Table{Name: "gardenet", Counters: rules.Counters, Sets: rules.Sets, Chains: rules.Chains}}, nil
}

func heapInUse() int64 {
	debug.FreeOSMemory()
	debug.FreeOSMemory()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapInuse)
}

func TestMemory(t *testing.T) {
	server := largeCluster(t)
	client, err := NewClient(&rest.Config{Host: server.URL})
	require.NoError(t, err)
	before := heapInUse()
	kernel := &fakeKernel{}
	a, err := New(Options{
		Node: "node-1", Config: exampleConfig(), Client: client, Compute: policyState, Kernel: kernel, Registerer: prometheus.NewRegistry(), Log: logr.Discard(),
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		a.Run(ctx)
	}()
	require.Eventually(t, func() bool { return a.health.ready() == nil }, time.Minute, 20*time.Millisecond, "waiting for %v", a.caches.missing())
	used := heapInUse() - before
	t.Logf("%.1f MB in use", float64(used)/1e6)
	assert.Less(t, used, int64(heapBudget))
	assert.Len(t, a.caches.pods.store.ListKeys(), manyPods)
	assert.Len(t, a.caches.policies.store.ListKeys(), manyPolicies)
	assert.NotEmpty(t, kernel.allowed())
	cancel()
	<-ended
}
