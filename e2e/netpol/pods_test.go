//go:build netpol

package netpol

import (
	"context"
	"encoding/json"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/trellis-garden/trellis/e2e/internal/repo"
	"github.com/trellis-garden/trellis/images"
)

const (
	probeImage = "localhost/trellis/probe:test"
	// controlPort is for requests of tests, echoPort returns what it receives.
	controlPort, echoPort = "9000", "7000"
)

// pods are two pods on two nodes in a namespace of their own, and a Service for the server.
type pods struct {
	env                *environment
	namespace          string
	clientNode, server string
}

// newPods creates them, and deletes them after the test.
func newPods(t *testing.T, namespace string) *pods {
	t.Helper()
	env := getEnvironment(t)
	loadProbe(t, env)
	p := &pods{env: env, namespace: namespace, clientNode: env.Name + "-worker", server: env.Name + "-worker2"}
	_, err := env.clients.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, env.clients.CoreV1().Namespaces().Delete(context.WithoutCancel(t.Context()), namespace, metav1.DeleteOptions{}))
	})
	require.Eventually(t, func() bool {
		_, err := env.clients.CoreV1().ServiceAccounts(namespace).Get(t.Context(), "default", metav1.GetOptions{})
		return err == nil
	}, timeout, interval, "pods need a ServiceAccount")
	for name, node := range map[string]string{"client": p.clientNode, "server": p.server} {
		_, err := env.clients.CoreV1().Pods(namespace).Create(t.Context(), probePod(name, node), metav1.CreateOptions{})
		require.NoError(t, err)
	}
	_, err = env.clients.CoreV1().Services(namespace).Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "server"},
		Spec: corev1.ServiceSpec{
			IPFamilyPolicy: new(corev1.IPFamilyPolicyPreferDualStack),
			Selector:       map[string]string{"app": "server"}, Ports: []corev1.ServicePort{{Port: 7000}},
		},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	p.awaitReady(t)
	return p
}

func probePod(name, node string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": name}},
		Spec: corev1.PodSpec{NodeName: node, TerminationGracePeriodSeconds: new(int64(0)), Containers: []corev1.Container{{
			Name: "probe", Image: probeImage, ImagePullPolicy: corev1.PullNever, Args: []string{controlPort, "echo=" + echoPort},
			ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/", Port: intstr.Parse(controlPort)}}, PeriodSeconds: 1},
		}}},
	}
}

func loadProbe(t *testing.T, env *environment) {
	t.Helper()
	binary, archive := filepath.Join(t.TempDir(), "probe"), filepath.Join(t.TempDir(), "probe.tar")
	_, err := repo.Go(t.Context(), ".", nil, "build", "-trimpath", "-buildvcs=false", "-o", binary, "../kind/probe")
	require.NoError(t, err)
	program, err := images.Program(binary, images.Config{})
	require.NoError(t, err)
	_, err = images.WriteArchive(archive, map[string][]images.Image{probeImage: {program}})
	require.NoError(t, err)
	require.NoError(t, env.Load(t.Context(), archive))
}

// awaitReady waits until both pods are ready, with the addresses that they have now.
func (p *pods) awaitReady(t *testing.T) {
	t.Helper()
	for _, name := range []string{"client", "server"} {
		require.Eventually(t, func() bool {
			pod, err := p.env.clients.CoreV1().Pods(p.namespace).Get(t.Context(), name, metav1.GetOptions{})
			return err == nil && isReady(pod)
		}, timeout, interval, "pod %s is ready", name)
	}
}

func isReady(pod *corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// targets are all addresses and ports at which the server returns what it receives: its own and those of its Service.
func (p *pods) targets(t *testing.T) []string {
	t.Helper()
	pod, err := p.env.clients.CoreV1().Pods(p.namespace).Get(t.Context(), "server", metav1.GetOptions{})
	require.NoError(t, err)
	service, err := p.env.clients.CoreV1().Services(p.namespace).Get(t.Context(), "server", metav1.GetOptions{})
	require.NoError(t, err)
	var targets []string
	for _, ip := range pod.Status.PodIPs {
		targets = append(targets, net.JoinHostPort(ip.IP, echoPort))
	}
	for _, ip := range service.Spec.ClusterIPs {
		targets = append(targets, net.JoinHostPort(ip, echoPort))
	}
	return targets
}

// connects makes the client connect to an address.
func (p *pods) connects(ctx context.Context, to string) bool {
	return p.env.clients.CoreV1().RESTClient().Get().Namespace(p.namespace).Resource("pods").Name("client:"+controlPort).SubResource("proxy").
		Param("to", to).Do(ctx).Error() == nil
}

// become waits until connections to all targets are possible, or impossible.
func (p *pods) become(t *testing.T, want bool) {
	t.Helper()
	for _, to := range p.targets(t) {
		require.Eventually(t, func() bool { return p.connects(t.Context(), to) == want }, timeout, interval, "the client connects to %s: want %t", to, want)
	}
}

// flow is what the probe reports of a connection that it kept busy.
type flow struct {
	Sent, Received int
	Longest        time.Duration
	Error          string
}

// keepBusy keeps a connection to each target busy, and returns how they were.
func (p *pods) keepBusy(t *testing.T, duration time.Duration) (wait func() map[string]flow) {
	t.Helper()
	type result struct {
		to   string
		flow flow
		err  error
	}
	targets, results := p.targets(t), make(chan result)
	for _, to := range targets {
		go func() {
			r := result{to: to}
			var content []byte
			content, r.err = p.env.clients.CoreV1().RESTClient().Get().Namespace(p.namespace).Resource("pods").Name("client:"+controlPort).SubResource("proxy").
				Param("to", to).Param("for", duration.String()).Do(t.Context()).Raw()
			if r.err == nil {
				r.err = json.Unmarshal(content, &r.flow)
			}
			results <- r
		}()
	}
	return func() map[string]flow {
		flows := map[string]flow{}
		for range targets {
			r := <-results
			require.NoError(t, r.err, r.to)
			flows[r.to] = r.flow
		}
		return flows
	}
}

// deny lets nothing in at the server but requests of tests and of the kubelet.
func (p *pods) deny(t *testing.T) {
	t.Helper()
	_, err := p.env.clients.NetworkingV1().NetworkPolicies(p.namespace).Create(t.Context(), &networkingv1.NetworkPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "deny"},
		Spec:       networkingv1.NetworkPolicySpec{PodSelector: metav1.LabelSelector{MatchLabels: map[string]string{"app": "server"}}, PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
}

func (p *pods) allow(t *testing.T) {
	t.Helper()
	require.NoError(t, p.env.clients.NetworkingV1().NetworkPolicies(p.namespace).Delete(t.Context(), "deny", metav1.DeleteOptions{}))
}

// podsOf lists the pods of a DaemonSet of gardenet.
func (p *pods) podsOf(t *testing.T, daemonSet string) []corev1.Pod {
	t.Helper()
	list, err := p.env.clients.CoreV1().Pods(metav1.NamespaceSystem).List(t.Context(), metav1.ListOptions{LabelSelector: labels.SelectorFromSet(labels.Set{"app": daemonSet}).String()})
	require.NoError(t, err)
	return list.Items
}
