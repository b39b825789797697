package agent

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestCondition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnvironment(t, node("own", 1), node("other", 2))
		e.config.ReportsNetwork = true
		e.kernel.fails = []error{errAway}
		e.start()
		e.wait(firstRetry / 2)
		assert.Empty(t, e.conditions(), "nothing has been applied yet")
		e.wait(firstRetry)
		assert.Equal(t, []string{"False GardenetIsUp"}, e.conditions())
		assert.Len(t, e.client.patches, 1)
		e.create(pod("one", 1))
		e.wait(time.Hour)
		assert.Len(t, e.client.patches, 1, "it is set once")

		e.changeNode("own", func(n *corev1.Node) {
			n.Status.Conditions = []corev1.NodeCondition{
				{Type: corev1.NodeReady, Status: corev1.ConditionTrue},
				{Type: corev1.NodeNetworkUnavailable, Status: corev1.ConditionTrue, Reason: "NoRouteCreated"},
			}
		})
		e.wait(time.Second)
		assert.Equal(t, []string{"False GardenetIsUp"}, e.conditions(), "it is restored")
		own, err := e.client.CoreV1().Nodes().Get(t.Context(), "own", metav1.GetOptions{})
		require.NoError(t, err)
		assert.Len(t, own.Status.Conditions, 2, "others' conditions stay")
	})
}

func TestCondition_Withdrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		own := node("own", 1)
		own.Status.Conditions = []corev1.NodeCondition{
			{Type: corev1.NodeReady, Status: corev1.ConditionTrue}, {Type: corev1.NodeNetworkUnavailable, Status: corev1.ConditionFalse, Reason: networkReason},
		}
		e := newEnvironment(t, own)
		e.config.WithdrawsNetwork = true
		e.start()
		e.wait(time.Second)
		assert.Empty(t, e.conditions())
		e.changeNode("own", func(n *corev1.Node) {
			n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{
				Type: corev1.NodeNetworkUnavailable, Status: corev1.ConditionFalse, Reason: "RouteCreated",
			})
		})
		e.wait(time.Hour)
		assert.Equal(t, []string{"False RouteCreated"}, e.conditions(), "that of the route controller stays")
		assert.Len(t, e.client.patches, 1)
	})
}

func TestCondition_OfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnvironment(t, node("own", 1))
		e.start()
		e.wait(time.Hour)
		assert.Empty(t, e.client.patches, "a cloud sets it")
	})
}

func TestCondition_WhileTheAPIServerIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnvironment(t, node("own", 1))
		e.config.ReportsNetwork = true
		e.client.closed[Nodes] = make(chan struct{})
		e.start()
		e.wait(time.Second)
		close(e.client.closed[Nodes])
		e.wait(50 * time.Millisecond) // the caches are synced, the loop has not looked yet
		e.client.setAway(true)
		e.wait(time.Second)
		e.assertReady()
		assert.Empty(t, e.client.patches)
		assert.NotZero(t, e.metric("gardenet_sync_errors_total"))
		e.client.setAway(false)
		e.wait(time.Minute)
		assert.Equal(t, []string{"False GardenetIsUp"}, e.conditions())
	})
}

func TestConditionReporter(t *testing.T) {
	earlier := metav1.NewTime(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC))
	for sentence, test := range map[string]struct {
		condition *corev1.NodeCondition
		patched   string
		// want is true if there is a patch; keeps is true if it has the transition's time that the Node has.
		want, keeps bool
	}{
		"a Node without the condition gets it": {want: true},
		"a Node with it is left alone": {
			condition: &corev1.NodeCondition{Status: corev1.ConditionFalse, Reason: "GardenetIsUp", Message: "other words"},
		},
		"another status is changed": {
			condition: &corev1.NodeCondition{Status: corev1.ConditionTrue, Reason: "GardenetIsUp"}, want: true,
		},
		"another reason is changed, which is no transition": {
			condition: &corev1.NodeCondition{Status: corev1.ConditionFalse, Reason: "RouteCreated"}, want: true, keeps: true,
		},
		"a Node that was patched is left alone until the cache has the result": {patched: "7"},
		"a Node that was patched before is patched again":                      {patched: "6", want: true},
	} {
		t.Run(sentence, func(t *testing.T) {
			own := node("own", 1)
			own.ResourceVersion = "7"
			if test.condition != nil {
				test.condition.Type, test.condition.LastTransitionTime = corev1.NodeNetworkUnavailable, earlier
				own.Status.Conditions = []corev1.NodeCondition{*test.condition}
			}
			client := newFakeClient(own)
			reporter := conditionReporter{client: client, log: logr.Discard(), patched: test.patched}
			require.NoError(t, reporter.report(t.Context(), own))
			if !test.want {
				assert.Empty(t, client.patches)
				return
			}
			require.Len(t, client.patches, 1)
			conditions := decode(t, client.patches[0])["status"].(map[string]any)["conditions"].([]any)
			require.Len(t, conditions, 1)
			condition := conditions[0].(map[string]any)
			assert.Equal(t, "NetworkUnavailable", condition["type"])
			assert.Equal(t, "False", condition["status"])
			assert.Equal(t, "GardenetIsUp", condition["reason"])
			assert.Equal(t, test.keeps, condition["lastTransitionTime"] == "2020-01-01T00:00:00Z")
			assert.Equal(t, "7", reporter.patched)
		})
	}
}

func TestEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnvironment(t, node("own", 1), node("near", 2))
		e.start()
		e.wait(time.Second)
		assert.Empty(t, e.events())

		far := node("far", 3)
		far.Status.Addresses[1].Address = "10.251.0.3"
		e.create(far)
		e.wait(time.Second)
		require.Equal(t, []string{"pods of this node cannot reach those of 1 nodes: far: behind a gateway"}, e.events())
		assert.Equal(t, 1, e.metric("gardenet_unreachable_nodes"))
		list, err := e.client.EventsV1().Events("default").List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		event := list.Items[0]
		assert.Equal(t, corev1.ObjectReference{APIVersion: "v1", Kind: "Node", Name: "own", UID: "uid-of-own"}, event.Regarding)
		assert.Equal(t, []string{"Warning", "NodesUnreachable", "SetRoutes"}, []string{event.Type, event.Reason, event.Action})

		e.create(pod("pod", 1))
		e.wait(time.Hour)
		assert.Len(t, e.events(), 1, "it is told once")
		e.changeNode("far", func(n *corev1.Node) { n.Status.Addresses[1].Address = "10.250.0.3" })
		e.wait(time.Second)
		assert.Len(t, e.events(), 1, "nobody has to act")
		e.changeNode("far", func(n *corev1.Node) { n.Status.Addresses[1].Address = "10.251.0.3" })
		e.wait(time.Second)
		assert.Len(t, e.events(), 2, "it is told again")
	})
}

func TestEventReporter_RetriesAndLimits(t *testing.T) {
	client := newFakeClient()
	own := node("own", 1)
	reporter := eventReporter{client: client, node: "own"}
	unreachable := map[string]string{}
	for i := range 200 {
		unreachable["node-"+string(rune('a'+i%26))+string(rune('a'+i/26))] = "behind a gateway"
	}
	client.setAway(true)
	require.ErrorIs(t, reporter.report(t.Context(), own, unreachable), errAway)
	client.setAway(false)
	require.NoError(t, reporter.report(t.Context(), own, unreachable))
	require.NoError(t, reporter.report(t.Context(), own, unreachable))
	list, err := client.EventsV1().Events("default").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, list.Items, 1)
	assert.LessOrEqual(t, len(list.Items[0].Note), 1024)
}
