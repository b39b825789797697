package agent

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestNew_InvalidConfiguration(t *testing.T) {
	_, err := New(Options{Node: "own", Client: newFakeClient(), Registerer: prometheus.NewRegistry()})
	assert.ErrorContains(t, err, "checking the configuration: ")
	assert.ErrorContains(t, err, "podRanges: must be one range")
}

func TestNew_MetricsThatExist(t *testing.T) {
	registry := prometheus.NewRegistry()
	require.NoError(t, RegisterMetrics(registry))
	_, err := New(Options{Node: "own", Config: exampleConfig(), Client: newFakeClient(), Registerer: registry})
	assert.ErrorContains(t, err, "registering metrics: ")
}

func TestRun_GathersChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnvironment(t, node("own", 1))
		e.start()
		e.wait(time.Second)
		require.Equal(t, 1, e.kernel.applied(), "a start is one application")

		for i := range 100 {
			e.create(pod(fmt.Sprintf("pod-%d", i), i))
		}
		e.wait(gatherTime - time.Millisecond)
		assert.Equal(t, 1, e.kernel.applied(), "it waits for more")
		e.wait(2 * time.Millisecond)
		assert.Equal(t, 2, e.kernel.applied(), "all changes are one application")
		assert.Len(t, e.kernel.allowed(), 100)
		e.wait(verifyInterval / 2)
		assert.Equal(t, 2, e.kernel.applied())

		for i := range 20 { // changes without an end do not delay an application
			e.create(pod(fmt.Sprintf("more-%d", i), 100+i))
			e.wait(gatherTime / 4)
		}
		assert.Equal(t, 2+5, e.kernel.applied())
		assert.Equal(t, e.kernel.applied(), e.metric(`gardenet_sync_duration_seconds{part="apply"}`))
	})
}

func TestRun_IgnoresIrrelevantChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnvironment(t, node("own", 1), node("other", 2), pod("pod", 5))
		e.start()
		e.wait(time.Second)
		e.changeNode("other", func(n *corev1.Node) {
			n.Labels = map[string]string{"new": "label"}
			n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		})
		changed := pod("pod", 5)
		changed.Annotations = map[string]string{"new": "annotation"}
		changed.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		_, err := e.client.CoreV1().Pods("default").Update(t.Context(), changed, metav1.UpdateOptions{})
		require.NoError(t, err)
		e.wait(time.Second)
		assert.Equal(t, 1, e.kernel.applied())
	})
}

func TestRun_RetriesWithGrowingDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnvironment(t, node("own", 1))
		started := time.Now()
		for range 7 {
			e.kernel.fails = append(e.kernel.fails, errors.New("no space for rules"))
		}
		e.start()
		e.wait(500 * time.Millisecond)
		e.assertNotReady("the last application failed: applying the state of the node: no space for rules")
		e.create(pod("pod", 7)) // a change does not hasten the next attempt
		e.wait(5 * time.Minute)

		var delays []float64
		for i, at := range e.kernel.applications[1:] {
			delays = append(delays, at.Sub(e.kernel.applications[i]).Seconds())
		}
		assert.Equal(t, []float64{1, 2, 4, 8, 16, 30, 30}, delays)
		assert.Equal(t, []string{"10.96.1.7"}, e.kernel.allowed())
		assert.Equal(t, 7, e.metric("gardenet_sync_errors_total"))
		assert.InDelta(t, started.Add(91*time.Second).Unix(), e.metric("gardenet_last_success_timestamp_seconds"), 1)
		e.assertReady()

		e.kernel.fails = []error{errors.New("again")}
		e.deletePod("pod")
		e.wait(gatherTime)
		e.assertNotReady("again")
		e.wait(firstRetry)
		e.assertReady()
		assert.Empty(t, e.kernel.allowed(), "after a success the delay begins anew")
	})
}

func TestRun_WaitsForAllCaches(t *testing.T) {
	for _, resource := range []Resource{Nodes, Pods, Namespaces, NetworkPolicies} {
		t.Run(string(resource), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newEnvironment(t, node("own", 1), pod("pod", 7))
				e.client.closed[resource] = make(chan struct{})
				e.start()
				e.wait(20 * time.Minute)
				assert.Zero(t, e.kernel.calls, "the node is not even read")
				e.assertNotReady(fmt.Sprintf("waiting for caches: [%s]", resource))
				code, body := e.get("/healthz")
				assert.Equal(t, http.StatusOK, code, body)

				close(e.client.closed[resource])
				e.wait(time.Second)
				assert.Equal(t, []string{"10.96.1.7"}, e.kernel.allowed())
				e.assertReady()
			})
		})
	}
	t.Run("of Nodes alone, without enforcement of NetworkPolicies", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			e := newEnvironment(t, node("own", 1), node("other", 2), pod("pod", 7))
			e.config.NetworkPolicy = nil
			e.start()
			e.wait(time.Second)
			assert.Equal(t, map[Resource]int{Nodes: 1}, e.client.lists)
			assert.Equal(t, []string{"10.96.2.0/24 via 10.250.0.2"}, e.kernel.routes())
			e.assertReady()
		})
	})
	t.Run("and ends if it is told to meanwhile", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			e := newEnvironment(t, node("own", 1))
			e.client.closed[Pods] = make(chan struct{})
			e.start()
			e.wait(time.Minute)
			e.stop()
			assert.Zero(t, e.kernel.calls)
		})
	})
}

func TestRun_WhileTheAPIServerIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnvironment(t, node("own", 1), node("other", 2), pod("pod", 7))
		e.start()
		e.wait(time.Second)
		applied := e.kernel.applied()
		e.client.setAway(true)
		e.deletePod("pod")
		e.wait(9 * time.Minute)
		assert.Equal(t, applied, e.kernel.applied())
		assert.Equal(t, []string{"10.96.1.7"}, e.kernel.allowed())
		assert.Equal(t, []string{"10.96.2.0/24 via 10.250.0.2"}, e.kernel.routes())
		e.assertReady()

		e.client.setAway(false)
		e.wait(time.Minute)
		assert.Empty(t, e.kernel.allowed())
		assert.Equal(t, []string{"10.96.2.0/24 via 10.250.0.2"}, e.kernel.routes())
	})
}

func TestRun_WithdrawsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnvironment(t, node("own", 1), node("other", 2), pod("pod", 7))
		e.start()
		e.wait(time.Second)
		calls := e.kernel.calls
		e.stop()
		assert.Equal(t, calls, e.kernel.calls)
		assert.Equal(t, []string{"10.96.2.0/24 via 10.250.0.2"}, e.kernel.routes())

		e.start()
		e.wait(time.Second)
		e.kernel.duration = 2 * time.Second
		e.create(pod("late", 8))
		e.wait(gatherTime + time.Second)
		e.stop()
		assert.Equal(t, []string{"10.96.1.7", "10.96.1.8"}, e.kernel.allowed(), "an application that has begun is completed")
		assert.False(t, e.kernel.interrupted)
	})
}

func TestRun_Nodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnvironment(t, node("own", 1))
		e.start()
		e.wait(time.Second)
		assert.Empty(t, e.kernel.routes())
		e.create(node("second", 2), node("third", 3))
		e.wait(time.Second)
		assert.Equal(t, []string{"10.96.2.0/24 via 10.250.0.2", "10.96.3.0/24 via 10.250.0.3"}, e.kernel.routes())
		e.changeNode("third", func(n *corev1.Node) { n.Status.Addresses[1].Address = "10.250.0.33" })
		e.wait(time.Second)
		assert.Equal(t, []string{"10.96.2.0/24 via 10.250.0.2", "10.96.3.0/24 via 10.250.0.33"}, e.kernel.routes())
		require.NoError(t, e.client.CoreV1().Nodes().Delete(t.Context(), "second", metav1.DeleteOptions{}))
		e.wait(time.Second)
		assert.Equal(t, []string{"10.96.3.0/24 via 10.250.0.33"}, e.kernel.routes())

		require.NoError(t, e.client.CoreV1().Nodes().Delete(t.Context(), "own", metav1.DeleteOptions{}))
		e.wait(time.Second)
		e.assertNotReady("waiting for Node own: it does not exist")
		assert.Equal(t, []string{"10.96.3.0/24 via 10.250.0.33"}, e.kernel.routes(), "without its Node, nothing is changed")
	})
}

func TestRun_WaitsForTheOwnNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		own := node("own", 1)
		own.Spec, own.Status = corev1.NodeSpec{}, corev1.NodeStatus{}
		e := newEnvironment(t, own)
		e.start()
		e.wait(time.Hour + time.Minute)
		assert.Zero(t, e.kernel.calls)
		e.assertNotReady("waiting for Node own: it has no pod ranges (spec.podCIDRs)")
		code, _ := e.get("/healthz")
		assert.Equal(t, http.StatusOK, code)

		e.changeNode("own", func(n *corev1.Node) { n.Spec = node("own", 1).Spec })
		e.wait(time.Second)
		assert.Zero(t, e.kernel.calls)
		e.assertNotReady("waiting for Node own: it has no address (status.addresses of type InternalIP)")
		assert.Equal(t, 2, e.logged("Waiting for the own Node"))
		e.changeNode("own", func(n *corev1.Node) { n.Status = node("own", 1).Status })
		e.wait(time.Second)
		assert.Equal(t, 1, e.kernel.applied())
		assert.Equal(t, "[10.96.1.0/24]", e.kernel.has.Conflist)
		e.assertReady()
	})
}

func TestRun_PodBecomesKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnvironment(t, node("own", 1))
		e.start()
		scheduled := pod("pod", 7)
		scheduled.Status = corev1.PodStatus{Phase: corev1.PodPending}
		e.create(scheduled)
		e.wait(time.Second)
		assert.Empty(t, e.kernel.allowed())
		_, err := e.client.CoreV1().Pods("default").UpdateStatus(t.Context(), pod("pod", 7), metav1.UpdateOptions{})
		require.NoError(t, err)
		e.wait(gatherTime)
		assert.Equal(t, []string{"10.96.1.7"}, e.kernel.allowed())
		assert.Equal(t, 253-1, e.metric(`gardenet_pod_addresses_free{family="IPv4"}`))
		assert.Equal(t, 1, e.metric("gardenet_set_elements"))
	})
}

func TestRun_Verifies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnvironment(t, node("own", 1))
		e.start()
		e.wait(verifyInterval - time.Second)
		assert.Empty(t, e.kernel.verifications)
		e.wait(2 * time.Second)
		assert.Len(t, e.kernel.verifications, 1)
		assert.Zero(t, e.metric("gardenet_repairs_total"))
		assert.Zero(t, e.logged("Repaired the node"))

		e.kernel.repairs = []string{"set allowed", "route to 10.96.2.0/24"}
		e.wait(verifyInterval)
		assert.Len(t, e.kernel.verifications, 2)
		assert.Equal(t, 2, e.metric("gardenet_repairs_total"))
		assert.Equal(t, 1, e.logged("Repaired the node"))

		e.kernel.verifyFails, e.kernel.repairs = []error{errors.New("nft is busy")}, []string{"chain"}
		e.wait(verifyInterval)
		e.assertNotReady("verifying the state of the node: nft is busy")
		e.wait(firstRetry)
		assert.Equal(t, 3, e.metric("gardenet_repairs_total"), "a verification that failed is tried again")
		e.assertReady()
	})
}
