package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/trellis-garden/trellis/internal/gardenet/config"
	"github.com/trellis-garden/trellis/internal/gardenet/desired"
	"github.com/trellis-garden/trellis/internal/gardenet/policy"
)

func TestMain(m *testing.M) {
	// The usual handlers delay errors by comparing times, which is endless with the times of synctest.
	utilruntime.ErrorHandlers = nil //nolint:reassign // there is no other way
	os.Exit(m.Run())
}

// environment is an agent with a fake API server and a fake node.
type environment struct {
	t        *testing.T
	client   *fakeClient
	kernel   *fakeKernel
	config   config.Config
	denied   func(context.Context, func(DeniedPacket)) error
	agent    *Agent
	registry *prometheus.Registry

	mutex sync.Mutex
	logs  []string

	cancel context.CancelFunc
	ended  chan struct{}
}

func exampleConfig() config.Config {
	return config.Config{
		PodRanges: []netip.Prefix{netip.MustParsePrefix("10.96.0.0/11")}, Routes: config.RoutesNodes,
		NetworkPolicy: &config.NetworkPolicy{Recheck: true},
	}
}

func newEnvironment(t *testing.T, objects ...runtime.Object) *environment {
	t.Helper()
	return &environment{t: t, client: newFakeClient(objects...), kernel: &fakeKernel{}, config: exampleConfig()}
}

// start starts an agent, which runs until the test ends or it is stopped.
func (e *environment) start() {
	e.t.Helper()
	e.registry = prometheus.NewRegistry()
	a, err := New(Options{
		Node: "own", Config: e.config, Client: e.client, Compute: exampleState, Kernel: e.kernel, Denied: e.denied, Registerer: e.registry,
		Log: funcr.New(func(_, args string) {
			e.mutex.Lock()
			defer e.mutex.Unlock()
			e.logs = append(e.logs, args)
		}, funcr.Options{}),
	})
	require.NoError(e.t, err)
	a.generation.narrows = func(from, to policy.Rules) bool {
		now := elementsOf(to.Sets)
		for element := range elementsOf(from.Sets) {
			if !now[element] {
				return true
			}
		}
		return false
	}
	ctx, cancel := context.WithCancel(e.t.Context())
	ended := make(chan struct{})
	e.agent, e.cancel, e.ended = a, cancel, ended
	go func() {
		defer close(ended)
		a.Run(ctx)
	}()
	e.t.Cleanup(e.stop)
}

func (e *environment) stop() {
	e.cancel()
	<-e.ended
}

// wait lets time pass, and what happens in it.
func (e *environment) wait(d time.Duration) {
	e.kernel.handOver()
	time.Sleep(d)
	synctest.Wait()
	e.kernel.handOver()
}

// get returns the answer to a probe.
func (e *environment) get(path string) (int, string) {
	recorder := httptest.NewRecorder()
	e.agent.Handler().ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, path, nil))
	return recorder.Code, strings.TrimSpace(recorder.Body.String())
}

func (e *environment) assertReady() {
	e.t.Helper()
	code, body := e.get("/readyz")
	assert.Equal(e.t, http.StatusOK, code, body)
}

func (e *environment) assertNotReady(reason string) {
	e.t.Helper()
	code, body := e.get("/readyz")
	assert.Equal(e.t, http.StatusServiceUnavailable, code)
	assert.Contains(e.t, body, reason)
}

// metric returns the value of a metric, with its labels as in name{label="value"}.
func (e *environment) metric(name string) int {
	e.t.Helper()
	family, label, _ := strings.Cut(strings.TrimSuffix(name, `"}`), "{")
	families, err := e.registry.Gather()
	require.NoError(e.t, err)
	for _, f := range families {
		if f.GetName() != family {
			continue
		}
		for _, m := range f.GetMetric() {
			if label == "" || label == m.GetLabel()[0].GetName()+`="`+m.GetLabel()[0].GetValue() {
				return int(m.GetGauge().GetValue()+m.GetCounter().GetValue()) + int(m.GetHistogram().GetSampleCount())
			}
		}
	}
	e.t.Errorf("there is no metric %s", name)
	return 0
}

func (e *environment) logged(message string) int {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	count := 0
	for _, line := range e.logs {
		if strings.Contains(line, message) {
			count++
		}
	}
	return count
}

func (e *environment) create(objects ...runtime.Object) {
	e.t.Helper()
	for _, object := range objects {
		var err error
		switch object := object.(type) {
		case *corev1.Node:
			_, err = e.client.CoreV1().Nodes().Create(e.t.Context(), object, metav1.CreateOptions{})
		case *corev1.Pod:
			_, err = e.client.CoreV1().Pods(object.Namespace).Create(e.t.Context(), object, metav1.CreateOptions{})
		case *networkingv1.NetworkPolicy:
			_, err = e.client.NetworkingV1().NetworkPolicies(object.Namespace).Create(e.t.Context(), object, metav1.CreateOptions{})
		default:
			err = fmt.Errorf("unexpected %T", object)
		}
		require.NoError(e.t, err)
	}
}

// changeNode changes a Node.
func (e *environment) changeNode(name string, change func(*corev1.Node)) {
	e.t.Helper()
	node, err := e.client.CoreV1().Nodes().Get(e.t.Context(), name, metav1.GetOptions{})
	require.NoError(e.t, err)
	change(node)
	_, err = e.client.CoreV1().Nodes().Update(e.t.Context(), node, metav1.UpdateOptions{})
	require.NoError(e.t, err)
}

func (e *environment) deletePod(name string) {
	e.t.Helper()
	require.NoError(e.t, e.client.CoreV1().Pods("default").Delete(e.t.Context(), name, metav1.DeleteOptions{}))
}

// conditions returns the conditions NetworkUnavailable of the own Node.
func (e *environment) conditions() []string {
	e.t.Helper()
	node, err := e.client.CoreV1().Nodes().Get(e.t.Context(), "own", metav1.GetOptions{})
	require.NoError(e.t, err)
	var conditions []string
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeNetworkUnavailable {
			conditions = append(conditions, fmt.Sprintf("%s %s", c.Status, c.Reason))
		}
	}
	return conditions
}

// events returns the notes of all Events.
func (e *environment) events() []string {
	e.t.Helper()
	list, err := e.client.EventsV1().Events("").List(e.t.Context(), metav1.ListOptions{})
	require.NoError(e.t, err)
	var notes []string
	for _, event := range list.Items {
		notes = append(notes, event.Note)
	}
	return notes
}

// node returns a Node with an address and a range that end with a number.
func node(name string, number int) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: "uid-of-own"},
		Spec:       corev1.NodeSpec{PodCIDR: fmt.Sprintf("10.96.%d.0/24", number), PodCIDRs: []string{fmt.Sprintf("10.96.%d.0/24", number)}},
		Status: corev1.NodeStatus{Addresses: []corev1.NodeAddress{
			{Type: corev1.NodeHostName, Address: name}, {Type: corev1.NodeInternalIP, Address: fmt.Sprintf("10.250.0.%d", number)},
		}},
	}
}

// pod returns a pod on the own node, with an address that ends with a number.
func pod(name string, number int) *corev1.Pod {
	ip := fmt.Sprintf("10.96.1.%d", number)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec:       corev1.PodSpec{NodeName: "own"},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning, PodIP: ip, PodIPs: []corev1.PodIP{{IP: ip}}},
	}
}

func networkPolicy(name string) *networkingv1.NetworkPolicy {
	return &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
}

func decode(t *testing.T, text string) map[string]any {
	t.Helper()
	var content map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &content))
	return content
}

func text(n desired.Node) string { return fmt.Sprint(n.Name, " ", n.Addresses, " ", n.PodRanges) }
