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

// withGarden gives the replicas to come a second cluster. They don't reach it before its gate is opened.
func (l *landscape) withGarden(t *testing.T, config *rest.Config, c client.Client) {
	t.Helper()
	l.garden = newLandscape(t, config, c, l.binary)
	l.gate = newEntrance(t)
}

func (l *landscape) openGate(t *testing.T) {
	t.Helper()
	location, err := url.Parse(l.garden.config.Host)
	require.NoError(t, err)
	l.gate.add(location.Host)
}

// showGarden tells a process of the second cluster, if there is one.
func (l *landscape) showGarden(t *testing.T, p *manager.Process) {
	t.Helper()
	if l.garden == nil {
		return
	}
	config := rest.CopyConfig(l.garden.config)
	config.Host = "https://" + l.gate.address
	var err error
	p.Garden, err = client.New(config, client.Options{})
	require.NoError(t, err)
	p.Webhooks.GardenApart, p.Webhooks.OwnerNamespace = true, l.garden.namespace
}

// bothTuned are webhooks that do the same, each in its own cluster.
func bothTuned() []Webhook {
	garden := configMapWebhook("wait", tune)
	garden.Garden, garden.ObjectSelector = true, selectorOf("admit", "tune")
	return []Webhook{configMapWebhook("tune", tune), garden}
}

// TestServeTwoClusters holds processes to their promises against two real API servers.
func TestServeTwoClusters(t *testing.T) {
	config, c := startAPIServer(t)
	gardenConfig, gardenClient := startAPIServer(t)
	for sentence, test := range map[string]func(*testing.T, *landscape){
		"a garden that is away at first has its webhooks soon after":  testGardenAway,
		"a renewal waits for both clusters and fails no request":      testRenewalOfTwo,
		"what is not served any more is taken back from both of them": testDisabledInTwo,
	} {
		t.Run(sentence, func(t *testing.T) {
			l := newLandscape(t, config, c, "binary-"+freeAddress(t)[len("127.0.0.1:"):])
			l.withGarden(t, gardenConfig, gardenClient)
			test(t, l)
		})
	}
}

func testGardenAway(t *testing.T, l *landscape) {
	r := l.start(t, quick(), nil, bothTuned()...)
	r.awaitReady(t)
	l.awaitTuned(t)
	assert.Empty(t, l.garden.mutating(t).Name)
	require.Eventually(t, func() bool { return strings.Contains(r.logs.String(), "in the garden: ") }, patience, pause)

	l.openGate(t)
	l.garden.awaitTuned(t)
	for cluster, name := range map[*landscape]string{l: "tune.", l.garden: "wait."} {
		registered := cluster.mutating(t)
		require.Len(t, registered.Webhooks, 1)
		assert.Equal(t, name+l.binary+".extensions.gardener.cloud", registered.Webhooks[0].Name)
		assert.Equal(t, cluster.namespace, registered.OwnerReferences[0].Name)
	}
	assert.Len(t, l.secrets(t), 3)
	assert.Empty(t, l.garden.secrets(t), "keys stay in the runtime cluster")
}

func testRenewalOfTwo(t *testing.T, l *landscape) {
	l.openGate(t)
	leader := l.start(t, quick(), nil, bothTuned()...)
	leader.awaitReady(t)
	standby := l.start(t, quick(), nil, bothTuned()...)
	standby.awaitReady(t)
	l.awaitTuned(t)
	l.garden.awaitTuned(t)
	first := l.newest(t, "authority")
	here, there := l.startTraffic(t, leader, standby), l.garden.startTraffic(t, leader, standby)

	l.gate.shut()
	second := l.renew(t)
	both := string(second.Data["ca.crt"]) + string(first.Data["ca.crt"])
	bundle := func(l *landscape) string { return string(l.mutating(t).Webhooks[0].ClientConfig.CABundle) }
	require.Eventually(t, func() bool { return bundle(l) == both }, patience, pause, "the runtime cluster must be told")
	assert.Never(t, func() bool { return l.signed(t) }, quick().trust+2*time.Second, 4*pause, "the garden does not know the new authority")
	assert.False(t, bytes.Contains([]byte(bundle(l.garden)), second.Data["ca.crt"]))

	l.openGate(t)
	require.Eventually(t, func() bool { return bundle(l.garden) == both }, patience, pause, "now the garden can be told")
	told := time.Now()
	require.Eventually(t, func() bool { return l.signed(t) }, patience, pause)
	assert.Greater(t, time.Since(told), quick().trust-time.Second, "its API servers must get time to see it")
	l.awaitRenewed(t, leader, standby)
	require.Eventually(t, func() bool { return bundle(l.garden) == bundle(l) }, patience, pause)
	here.check(t)
	there.check(t)
}

func testDisabledInTwo(t *testing.T, l *landscape) {
	l.openGate(t)
	before := l.start(t, quick(), nil, bothTuned()...)
	l.awaitTuned(t)
	l.garden.awaitTuned(t)
	before.stop()

	after := l.start(t, quick(), []string{"tune", "wait"}, bothTuned()...)
	require.Eventually(t, func() bool {
		return l.mutating(t).Name == "" && l.garden.mutating(t).Name == "" && len(l.secrets(t)) == 0
	}, patience, pause)
	status, text := after.readiness(t.Context())
	assert.Equal(t, http.StatusOK, status, text)
}
