package webhook

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/manager"
)

// addGarden gives the replicas to come a second cluster. They don't reach it before its gate is opened.
func (l *environment) addGarden(t *testing.T, config *rest.Config, c client.Client) {
	t.Helper()
	l.garden = newEnvironment(t, config, c, l.binary)
	l.gardenLoadBalancer = newLoadBalancer(t)
}

func (l *environment) connectGarden(t *testing.T) {
	t.Helper()
	location, err := url.Parse(l.garden.config.Host)
	require.NoError(t, err)
	l.gardenLoadBalancer.add(location.Host)
}

// configureGarden tells a process of the second cluster, if there is one.
func (l *environment) configureGarden(t *testing.T, p *manager.Process) {
	t.Helper()
	if l.garden == nil {
		return
	}
	config := rest.CopyConfig(l.garden.config)
	config.Host = "https://" + l.gardenLoadBalancer.address
	var err error
	p.Garden, err = client.New(config, client.Options{})
	require.NoError(t, err)
	p.Webhooks.SeparateGarden, p.Webhooks.OwnerNamespace = true, l.garden.namespace
}

// gardenAndRuntimeWebhooks are webhooks that do the same, each in its own cluster.
func gardenAndRuntimeWebhooks() []Webhook {
	garden := configMapWebhook("wait", tune)
	garden.Garden, garden.ObjectSelector = true, selectorOf("admit", "tune")
	return []Webhook{configMapWebhook("tune", tune), garden}
}

// TestServe_TwoClusters holds processes to their promises against two real API servers.
func TestServe_TwoClusters(t *testing.T) {
	config, c := startAPIServer(t)
	gardenConfig, gardenClient := startAPIServer(t)
	for sentence, test := range map[string]func(*testing.T, *environment){
		"a garden that is away at first has its webhooks soon after":  testGardenUnreachable,
		"a renewal waits for both clusters and fails no request":      testRenewalInTwoClusters,
		"what is not served any more is taken back from both of them": testDisabledInTwoClusters,
	} {
		t.Run(sentence, func(t *testing.T) {
			l := newEnvironment(t, config, c, "binary-"+freeAddress(t)[len("127.0.0.1:"):])
			l.addGarden(t, gardenConfig, gardenClient)
			test(t, l)
		})
	}
}

func testGardenUnreachable(t *testing.T, l *environment) {
	r := l.start(t, quickTiming(), nil, gardenAndRuntimeWebhooks()...)
	r.waitReady(t)
	l.waitTuned(t)
	assert.Empty(t, l.garden.mutating(t).Name)
	require.Eventually(t, func() bool { return strings.Contains(r.logs.String(), "in the garden: ") }, timeout, interval)

	l.connectGarden(t)
	l.garden.waitTuned(t)
	for cluster, name := range map[*environment]string{l: "tune.", l.garden: "wait."} {
		registered := cluster.mutating(t)
		require.Len(t, registered.Webhooks, 1)
		assert.Equal(t, name+l.binary+".extensions.gardener.cloud", registered.Webhooks[0].Name)
		assert.Equal(t, cluster.namespace, registered.OwnerReferences[0].Name)
	}
	assert.Len(t, l.secrets(t), 3)
	assert.Empty(t, l.garden.secrets(t), "keys stay in the runtime cluster")
}

func testRenewalInTwoClusters(t *testing.T, l *environment) {
	l.connectGarden(t)
	leader := l.start(t, quickTiming(), nil, gardenAndRuntimeWebhooks()...)
	leader.waitReady(t)
	standby := l.start(t, quickTiming(), nil, gardenAndRuntimeWebhooks()...)
	standby.waitReady(t)
	l.waitTuned(t)
	l.garden.waitTuned(t)
	first := l.newest(t, "authority")
	here, there := l.startTraffic(t, leader, standby), l.garden.startTraffic(t, leader, standby)

	l.gardenLoadBalancer.closeAll()
	second := l.renew(t)
	both := string(second.Data["ca.crt"]) + string(first.Data["ca.crt"])
	bundle := func(l *environment) string { return string(l.mutating(t).Webhooks[0].ClientConfig.CABundle) }
	require.Eventually(t, func() bool { return bundle(l) == both }, timeout, interval, "the runtime cluster must be told")
	assert.Never(t, func() bool { return l.signed(t) }, quickTiming().trustDelay+2*time.Second, 4*interval, "the garden does not know the new authority")
	assert.False(t, bytes.Contains([]byte(bundle(l.garden)), second.Data["ca.crt"]))

	l.connectGarden(t)
	require.Eventually(t, func() bool { return bundle(l.garden) == both }, timeout, interval, "now the garden can be told")
	registeredAt := time.Now()
	require.Eventually(t, func() bool { return l.signed(t) }, timeout, interval)
	assert.Greater(t, time.Since(registeredAt), quickTiming().trustDelay-time.Second, "its API servers must get time to see it")
	l.waitRenewed(t, leader, standby)
	require.Eventually(t, func() bool { return bundle(l.garden) == bundle(l) }, timeout, interval)
	here.check(t)
	there.check(t)
}

func testDisabledInTwoClusters(t *testing.T, l *environment) {
	l.connectGarden(t)
	before := l.start(t, quickTiming(), nil, gardenAndRuntimeWebhooks()...)
	l.waitTuned(t)
	l.garden.waitTuned(t)
	before.stop()

	after := l.start(t, quickTiming(), []string{"tune", "wait"}, gardenAndRuntimeWebhooks()...)
	require.Eventually(t, func() bool {
		return l.mutating(t).Name == "" && l.garden.mutating(t).Name == "" && len(l.secrets(t)) == 0
	}, timeout, interval)
	status, text := after.readiness(t.Context())
	assert.Equal(t, http.StatusOK, status, text)
}
