package calico

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/network"
)

// stepSummary is what a table expects of a stage.
type stepSummary struct {
	Nodes, Pools, IPAM, Gate string
	Typha, TyphaIPAM         string
}

func summarize(taken *step) stepSummary {
	if taken == nil {
		return stepSummary{}
	}
	return stepSummary{
		TyphaIPAM: taken.form.TyphaIPAM, Nodes: describeNodes(taken.form), Pools: describePools(taken.form), IPAM: taken.form.IPAM, Gate: describeGate(taken.gate),
		Typha: map[[2]bool]string{{true, true}: "used", {true, false}: "there", {false, false}: "none"}[[2]bool{taken.form.Typha, taken.form.NodesUseTypha}],
	}
}

func describeNodes(f form) string {
	text := f.Backend
	if f.IPIP {
		text += "+ipip"
	}
	if f.VXLAN {
		text += "+vxlan"
	}
	return text
}

func describePools(f form) string {
	switch need := f.requiredFeatures(); {
	case need.ipip:
		return "ipip"
	case need.vxlan:
		return "vxlan"
	default:
		return "native"
	}
}

func describeGate(gate network.Gate) string {
	text := "applied"
	for _, workload := range gate.Workloads {
		text += " " + workload.Name
	}
	if gate.Routes {
		text += " routes"
	}
	return text
}

// runAllStages opens all gates until the goal can be deployed.
func runAllStages(t *testing.T, from form, goal form, s *settings) []stepSummary {
	t.Helper()
	var stages []stepSummary
	rolledOut := false
	for range 16 {
		transition := newChange(from, goal, rolledOut, s)
		require.Empty(t, transition.refusal())
		next := transition.next()
		if next == nil {
			return stages
		}
		stages = append(stages, summarize(next))
		from, rolledOut = next.form, true
	}
	t.Fatal("the way has no end")
	return nil
}

func TestTransition_Stages(t *testing.T) {
	const (
		host, calicoIPAM  = "host-local", "calico-ipam"
		applied, rollout  = "applied", "applied calico-node"
		typhaUp, toRoutes = "applied calico-node calico-typha-deploy", "applied calico-node routes"
	)
	noTypha := func(f *form) { f.Typha, f.NodesUseTypha = false, false }
	for sentence, test := range map[string]struct {
		infrastructure, config string
		from                   form
		want                   []stepSummary
	}{
		"nothing changes":                   {from: byIPIP()},
		"Always becomes CrossSubnet":        {config: "ipv4: {mode: CrossSubnet}", from: byIPIP()},
		"nftables, WireGuard and eBPF come": {config: "{wireguardEncryption: true, ebpfDataplane: {enabled: true}}", from: byIPIP()},
		"the overlay comes: tunnels, pools": {config: "overlay: {enabled: true}", from: byCloud(), want: []stepSummary{
			{"bird+ipip", "native", host, rollout, "used", ""},
			{"bird+ipip", "ipip", host, applied, "used", ""}, // then no masquerading any more
		}},
		"the overlay goes: routes, pools, nodes": {config: "overlay: {enabled: false}", from: byIPIP(), want: []stepSummary{
			{"bird+ipip", "ipip", host, toRoutes, "used", ""},
			{"bird+ipip", "ipip", host, toRoutes, "used", ""}, // masquerading for the nodes' DNS servers
			{"bird+ipip", "native", host, applied, "used", ""},
		}},
		"the overlay goes with pod routes: pools, nodes": {infrastructure: "openstack", config: "overlay: {enabled: false}", from: byIPIP(), want: []stepSummary{
			{"bird+ipip", "ipip", host, rollout, "used", ""},
			{"bird+ipip", "native", host, applied, "used", ""},
		}},
		"pod routes go: routes first": {config: "overlay: {enabled: false}", from: byBird(), want: []stepSummary{
			{"bird", "native", host, toRoutes, "used", ""},
		}},
		"pod routes come at once": {infrastructure: "openstack", config: "overlay: {enabled: false}", from: byCloud()},
		"IP-in-IP becomes VXLAN: both tunnels and calico-ipam, pools, nodes": {config: "{overlay: {enabled: true}, vxlan: {enabled: true}}", from: byIPIP(), want: []stepSummary{
			{"bird+ipip", "ipip", host, typhaUp, "used", calicoIPAM},
			{"bird+ipip+vxlan", "ipip", calicoIPAM, rollout, "used", ""},
			{"bird+ipip+vxlan", "vxlan", calicoIPAM, applied, "used", ""},
		}},
		"VXLAN becomes IP-in-IP: the same backwards": {config: "overlay: {enabled: true}", from: byVXLAN(), want: []stepSummary{
			{"bird+ipip+vxlan", "vxlan", calicoIPAM, rollout, "used", ""},
			{"bird+ipip+vxlan", "ipip", calicoIPAM, applied, "used", ""},
		}},
		"VXLAN becomes pod routes: BIRD, pools, nodes": {infrastructure: "openstack", config: "overlay: {enabled: false}", from: byVXLAN(), want: []stepSummary{
			{"bird+vxlan", "vxlan", calicoIPAM, rollout, "used", ""},
			{"bird+vxlan", "native", calicoIPAM, applied, "used", ""},
		}},
		"no tunnel becomes VXLAN by IP-in-IP, since pods get addresses that nobody routes to": {config: "{overlay: {enabled: true}, vxlan: {enabled: true}}", from: byCloud(), want: []stepSummary{
			{"bird+ipip", "native", host, rollout, "used", ""},
			{"bird+ipip", "ipip", host, applied, "used", ""},
			{"bird+ipip", "ipip", host, typhaUp, "used", calicoIPAM},
			{"bird+ipip+vxlan", "ipip", calicoIPAM, rollout, "used", ""},
			{"bird+ipip+vxlan", "vxlan", calicoIPAM, applied, "used", ""},
		}},
		"where IP-in-IP does not pass it becomes VXLAN at once": {infrastructure: "azure", config: "overlay: {enabled: true}", from: byCloud(), want: []stepSummary{
			{"none", "native", host, typhaUp, "used", calicoIPAM},
			{"vxlan+vxlan", "native", calicoIPAM, rollout, "used", ""},
			{"vxlan+vxlan", "vxlan", calicoIPAM, applied, "used", ""},
		}},
		"calico-ipam comes where nodes make routes: Typha first": {config: "ipam: {type: calico-ipam}", from: byIPIP(), want: []stepSummary{
			{"bird+ipip", "ipip", host, typhaUp, "used", calicoIPAM},
		}},
		"without Typha it comes at once": {config: "{ipam: {type: calico-ipam}, typha: {enabled: false}}", from: modified(byIPIP(), noTypha)},
		"where nodes may have no BIRD yet they get it first": {config: "{overlay: {enabled: false, createPodRoutes: true}, ipam: {type: calico-ipam}}", from: byCloud(), want: []stepSummary{
			{"bird", "native", host, rollout, "used", ""},
			{"bird", "native", host, typhaUp, "used", calicoIPAM},
		}},
		"Typha goes: nodes first": {config: "typha: {enabled: false}", from: byIPIP(), want: []stepSummary{
			{"bird+ipip", "ipip", host, rollout, "there", ""},
		}},
		"Typha comes: nodes last": {from: modified(byIPIP(), noTypha), want: []stepSummary{
			{"bird+ipip", "ipip", host, typhaUp, "there", ""},
		}},
		"Typha goes with the overlay": {config: "{overlay: {enabled: false}, typha: {enabled: false}}", from: byIPIP(), want: []stepSummary{
			{"bird+ipip", "ipip", host, toRoutes, "used", ""},
			{"bird+ipip", "ipip", host, toRoutes, "there", ""},
			{"bird+ipip", "native", host, applied, "there", ""},
			{"none", "native", host, rollout, "there", ""},
		}},
		"Typha comes with the overlay": {config: "overlay: {enabled: true}", from: modified(byCloud(), noTypha), want: []stepSummary{
			{"none", "native", host, typhaUp, "there", ""},
			{"bird+ipip", "native", host, rollout, "used", ""},
			{"bird+ipip", "ipip", host, applied, "used", ""},
		}},
	} {
		t.Run(sentence, func(t *testing.T) {
			decided, err := decide(shootOn(t, test.infrastructure, test.config, withDeployed(t, test.from)))
			require.NoError(t, err)
			assert.Empty(t, cmp.Diff(test.want, runAllStages(t, test.from, decided.settings.form, decided.settings)))
		})
	}
	t.Run("a second family comes and goes at once", func(t *testing.T) {
		decided, err := decide(shootOn(t, "aws", "overlay: {enabled: false}", withFamilies(ipv4, ipv6)))
		require.NoError(t, err)
		both := decided.settings.form
		assert.Empty(t, runAllStages(t, byCloud(), both, decided.settings))
		assert.Empty(t, runAllStages(t, both, byCloud(), decided.settings))
	})
}

// Without IPv4, AWS routes to pods without a route controller, for whose report nodes would wait without end.
func TestTransition_RoutesOfNetworkInterfaces(t *testing.T) {
	for sentence, test := range map[string]struct {
		families []extensionsv1alpha1.IPFamily
		waits    bool
	}{
		"IPv4":       {[]extensionsv1alpha1.IPFamily{ipv4}, true},
		"IPv6":       {[]extensionsv1alpha1.IPFamily{ipv6}, false},
		"both":       {[]extensionsv1alpha1.IPFamily{ipv4, ipv6}, true},
		"IPv6 first": {[]extensionsv1alpha1.IPFamily{ipv6, ipv4}, true},
	} {
		t.Run(sentence, func(t *testing.T) {
			tunnel, err := decide(shootOn(t, "aws", "overlay: {enabled: true}", withFamilies(test.families...)))
			require.NoError(t, err)
			native, err := decide(shootOn(t, "aws", "overlay: {enabled: false}", withFamilies(test.families...)))
			require.NoError(t, err)
			stages := runAllStages(t, tunnel.settings.form, native.settings.form, native.settings)
			waits := slices.ContainsFunc(stages, func(stage stepSummary) bool { return strings.HasSuffix(stage.Gate, " routes") })
			assert.Equal(t, test.waits, waits, stages)
			assert.False(t, native.settings.lacksRoutes())
		})
	}
}

func TestTransition_Refused(t *testing.T) {
	for sentence, test := range map[string]struct {
		config     string
		from       form
		variations []variation
		want       string
	}{
		"host-local would give addresses away again": {"ipam: {type: host-local}", modified(byIPIP(), func(f *form) { f.IPAM = "calico-ipam" }), nil, "spec.networking.providerConfig.ipam.type"},
		"so it would after VXLAN":                    {"{overlay: {enabled: true}, ipam: {type: host-local}}", byVXLAN(), nil, "set it to calico-ipam"},
		"the cloud does not route to calico-ipam's":  {"overlay: {enabled: false}", byVXLAN(), nil, "overlay.createPodRoutes"},
		"nor if it is to come":                       {"{overlay: {enabled: false}, ipam: {type: calico-ipam}}", byCloud(), nil, "overlay.enabled cannot be false"},
		"calico-ipam serves no second family":        {"overlay: {enabled: false, createPodRoutes: true}", byVXLAN(), []variation{withFamilies(ipv4, ipv6)}, "spec.networking.ipFamilies"},
	} {
		t.Run(sentence, func(t *testing.T) {
			shoot := shootOn(t, "aws", test.config, append(test.variations, withDeployed(t, test.from))...)
			wanted, err := New().Render(shoot)
			require.NoError(t, err)
			_, err = New().Transition(shoot, wanted)
			require.ErrorContains(t, err, test.want)
			assert.Equal(t, cloud.Configuration, cloud.KindOf(err))
		})
	}
	t.Run("a shoot that has lived with it goes on", func(t *testing.T) {
		shoot := shootOn(t, "aws", "{overlay: {enabled: false}, ipam: {type: calico-ipam}}",
			withDeployed(t, modified(byCloud(), func(f *form) { f.IPAM = "calico-ipam" })))
		wanted, err := New().Render(shoot)
		require.NoError(t, err)
		stage, err := New().Transition(shoot, wanted)
		require.NoError(t, err)
		assert.Nil(t, stage)
	})
}

func TestTransition(t *testing.T) {
	t.Run("a stage is rendered as it is described", func(t *testing.T) {
		shoot := shootOn(t, "aws", "overlay: {enabled: true}", withDeployed(t, byVXLAN()))
		wanted, err := New().Render(shoot)
		require.NoError(t, err)
		stage, err := New().Transition(shoot, wanted)
		require.NoError(t, err)
		again, err := New().Transition(shoot, wanted)
		require.NoError(t, err)
		assert.Empty(t, cmp.Diff(stage, again), "the same question has the same answer")

		between := modified(byVXLAN(), func(f *form) { f.Backend, f.IPIP = "bird", true })
		assert.Equal(t, between, stage.Rendering.Form)
		direct, err := decide(shoot)
		require.NoError(t, err)
		assert.Equal(t, between, direct.at(between).settings.form)
		assert.Equal(t, "vxlan", string(*direct.at(between).settings.config.IPv4.Pool), "nobody sees two truths")
		assert.Equal(t, "ipip", string(*direct.settings.config.IPv4.Pool), "the decision itself stays as it is")
	})
	t.Run("nothing deployed needs no stage", func(t *testing.T) {
		shoot := shootOn(t, "aws", "")
		wanted, err := New().Render(shoot)
		require.NoError(t, err)
		stage, err := New().Transition(shoot, wanted)
		require.NoError(t, err)
		assert.Nil(t, stage)
	})
	t.Run("a form that cannot be read is an error", func(t *testing.T) {
		shoot := shootOn(t, "aws", "")
		wanted, err := New().Render(shoot)
		require.NoError(t, err)
		shoot.Deployed.Form = json.RawMessage(`"?"`)
		_, err = New().Transition(shoot, wanted)
		require.ErrorContains(t, err, "form of the network")
	})
	t.Run("what a later version adds to a form is no obstacle", func(t *testing.T) {
		deployed, err := deployedForm(network.Deployed{Form: json.RawMessage(`{"ipam":"host-local","backend":"none","later":{}}`)})
		require.NoError(t, err)
		assert.Equal(t, form{IPAM: "host-local", Backend: "none"}, *deployed)
	})
}
