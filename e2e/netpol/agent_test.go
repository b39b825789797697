//go:build netpol

package netpol

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// agentName is the name of gardenet's DaemonSet in shoots.
const agentName = "gardenet-agent"

// TestAgentUpdate replaces the agents of all nodes twice while connections between two nodes are busy, and the service routers where there are some.
func TestAgentUpdate(t *testing.T) {
	p := newPods(t, "update")
	daemonSets, duration := []string{agentName}, 50*time.Second
	if p.env.withoutKubeProxy {
		daemonSets, duration = append(daemonSets, routerName), 2*duration
	}
	p.become(t, true)
	wait := p.keepBusy(t, duration)
	start := time.Now()
	for i := range 2 {
		for _, daemonSet := range daemonSets {
			p.update(t, daemonSet, fmt.Sprint(i))
			p.become(t, true)
		}
	}
	updated := time.Since(start)
	require.Less(t, updated, duration, "the connections are busy all the time")
	for to, flow := range wait() {
		assert.Empty(t, flow.Error, to)
		assert.Equal(t, flow.Sent, flow.Received, to)
		assert.Greater(t, flow.Received, 100, to)
		t.Logf("%s: %d of %d messages came back during two updates in %.0f s, the latest after %s", to, flow.Received, flow.Sent, updated.Seconds(), flow.Longest.Round(time.Millisecond))
	}
	p.deny(t)
	p.become(t, false)
	p.allow(t)
	p.become(t, true)
}

// update replaces all pods of a DaemonSet, and waits until the new ones are ready.
func (p *pods) update(t *testing.T, daemonSet, revision string) {
	t.Helper()
	sets := p.env.clients.AppsV1().DaemonSets(metav1.NamespaceSystem)
	before := map[types.UID]bool{}
	for _, pod := range p.podsOf(t, daemonSet) {
		before[pod.UID] = true
	}
	patch := fmt.Sprintf(`{"spec": {"template": {"metadata": {"annotations": {"revision": %q}}}}}`, revision)
	set, err := sets.Patch(t.Context(), daemonSet, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{})
	require.NoError(t, err)
	generation := set.Generation
	require.Eventually(t, func() bool {
		set, err := sets.Get(t.Context(), daemonSet, metav1.GetOptions{})
		s := set.Status
		return err == nil && s.ObservedGeneration >= generation && s.UpdatedNumberScheduled == s.DesiredNumberScheduled && s.NumberReady == s.DesiredNumberScheduled
	}, timeout, interval, "%s is updated", daemonSet)
	for _, pod := range p.podsOf(t, daemonSet) {
		assert.False(t, before[pod.UID], "%s is a new pod", pod.Name)
	}
}

// TestNodeRestart restarts a node with a pod on it, like a loss of power. The pod gets another address, and is reached and isolated as before.
func TestNodeRestart(t *testing.T) {
	p := newPods(t, "restart")
	p.become(t, true)
	p.deny(t)
	p.become(t, false)
	p.allow(t)
	started := p.startedAt(t)
	begin := time.Now()
	require.NoError(t, p.env.RestartNode(t.Context(), p.server))
	require.Eventually(t, func() bool { return p.startedAt(t).After(started.Time) }, timeout, interval, "the kubelet has started the pod again")
	p.awaitReady(t)
	p.become(t, true)
	t.Logf("a pod is reached %.0f s after the restart of its node began", time.Since(begin).Seconds())
	p.deny(t)
	p.become(t, false)
}

// startedAt is when the server's container has started.
func (p *pods) startedAt(t *testing.T) metav1.Time {
	t.Helper()
	pod, err := p.env.clients.CoreV1().Pods(p.namespace).Get(t.Context(), "server", metav1.GetOptions{})
	require.NoError(t, err)
	if state := pod.Status.ContainerStatuses[0].State; state.Running != nil {
		return state.Running.StartedAt
	}
	return metav1.Time{}
}
