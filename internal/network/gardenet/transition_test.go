package gardenet

import (
	"encoding/json"
	"slices"
	"testing"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/gardenet/config"
	"github.com/trellis-garden/trellis/internal/network"
)

// Forms that shoots can have in the end.
func byCloud() form { return form{Routes: config.RoutesCloud} }
func byNodes() form { return form{Routes: config.RoutesNodes} }
func wrapped(port int) form {
	return form{Routes: config.RoutesTunnel, Tunnel: &tunnel{ID: 1, Port: port}}
}
func with(t form, f form) form     { f.Tunnel = t.Tunnel; return f }
func kept(f form) form             { f.TunnelEverywhere = true; return f }
func waiting(f form) form          { f.WaitsForRoutes = true; return f }
func sameAs(f form, m int) form    { f.MTU = m; return f }
func does(s services, f form) form { f.Services = s; return f }

func TestChange_Next(t *testing.T) {
	one, two := wrapped(8472), wrapped(4790)
	for sentence, test := range map[string]struct {
		from, to  form
		rolledOut bool
		want      *form
	}{
		"nothing to change":               {from: one, to: one},
		"another MTU":                     {from: sameAs(byCloud(), 1500), to: sameAs(byCloud(), 1400)},
		"from the cloud's to nodes'":      {from: byCloud(), to: byNodes()},
		"from nodes' to the cloud's":      {from: byNodes(), to: byCloud(), want: new(waiting(byNodes()))},
		"when these exist, they are used": {from: waiting(byNodes()), to: byCloud(), rolledOut: true},
		"back to nodes' while waiting":    {from: waiting(byNodes()), to: byNodes()},

		"overlay on: bring up tunnels":              {from: byCloud(), to: one, want: new(with(one, byCloud()))},
		"overlay on: until they are everywhere":     {from: with(one, byCloud()), to: one, want: new(with(one, byCloud()))},
		"overlay on: then send through them":        {from: with(one, byCloud()), to: one, rolledOut: true},
		"overlay on, back: keep them a while":       {from: with(one, byCloud()), to: byCloud(), want: new(with(one, byCloud()))},
		"overlay on, back: then remove them":        {from: with(one, byCloud()), to: byCloud(), rolledOut: true},
		"overlay on with the MTU of the goal":       {from: sameAs(byNodes(), 1500), to: sameAs(one, 1400), want: new(sameAs(with(one, byNodes()), 1400))},
		"overlay on while routes were waited for":   {from: waiting(byNodes()), to: one, want: new(with(one, byNodes()))},
		"overlay off: wait for routes of the cloud": {from: one, to: byCloud(), want: new(waiting(one))},
		"overlay off: until they exist":             {from: waiting(one), to: byCloud(), want: new(waiting(one))},
		"overlay off: then use them":                {from: waiting(one), to: byCloud(), rolledOut: true, want: new(kept(with(one, byCloud())))},
		"overlay off: until all nodes do":           {from: kept(with(one, byCloud())), to: byCloud(), want: new(kept(with(one, byCloud())))},
		"overlay off: then remove tunnels":          {from: kept(with(one, byCloud())), to: byCloud(), rolledOut: true},
		"overlay off, back: tunnels are everywhere": {from: kept(with(one, byCloud())), to: one},
		"overlay off, back before routes exist":     {from: waiting(one), to: one},
		"overlay off, with routes of nodes":         {from: one, to: byNodes(), want: new(kept(with(one, byNodes())))},
		"routes of nodes instead of the cloud's":    {from: waiting(one), to: byNodes(), want: new(kept(with(one, byNodes())))},
		"the cloud's instead of routes of nodes":    {from: kept(with(one, byNodes())), to: byCloud(), want: new(waiting(kept(with(one, byNodes()))))},

		"kube-proxy off: at once":                     {from: byCloud(), to: does(servicesRouted, byCloud())},
		"kube-proxy on: hand over":                    {from: does(servicesRouted, byCloud()), to: byCloud(), want: new(does(servicesHandedOver, byCloud()))},
		"kube-proxy on: until it routes on all nodes": {from: does(servicesHandedOver, byCloud()), to: byCloud(), want: new(does(servicesHandedOver, byCloud()))},
		"kube-proxy on: then routers go":              {from: does(servicesHandedOver, byCloud()), to: byCloud(), rolledOut: true},
		"kube-proxy on, and off again":                {from: does(servicesHandedOver, byCloud()), to: does(servicesRouted, byCloud())},
		"kube-proxy on, with another MTU":             {from: does(servicesRouted, sameAs(byCloud(), 1500)), to: sameAs(byCloud(), 1400), want: new(does(servicesHandedOver, sameAs(byCloud(), 1400)))},
		"kube-proxy and the overlay on":               {from: does(servicesRouted, byCloud()), to: one, want: new(does(servicesHandedOver, with(one, byCloud())))},
		"kube-proxy and the overlay on: then at once": {from: does(servicesHandedOver, with(one, byCloud())), to: one, rolledOut: true},
		"kube-proxy on while the overlay is":          {from: does(servicesRouted, with(one, byCloud())), to: one, rolledOut: true, want: new(does(servicesHandedOver, one))},
		"kube-proxy off and the overlay off":          {from: one, to: does(servicesRouted, byNodes()), want: new(does(servicesRouted, kept(with(one, byNodes()))))},

		"another tunnel that no node has used yet": {from: with(one, byCloud()), to: two, want: new(with(one, byCloud()))},
		"another tunnel that no node uses":         {from: with(one, byCloud()), to: two, rolledOut: true, want: new(with(two, byCloud()))},
		"another tunnel, then it is used":          {from: with(two, byCloud()), to: two, rolledOut: true},
	} {
		t.Run(sentence, func(t *testing.T) {
			changed := change{from: test.from, to: test.to, rolledOut: test.rolledOut, routesProgrammed: true}
			require.Empty(t, changed.refusal())
			next := changed.next()
			if test.want == nil {
				assert.Nil(t, next)
				return
			}
			require.NotNil(t, next)
			assert.Equal(t, *test.want, next.form)
			assert.NotEmpty(t, next.name)
			assert.Equal(t, next.form.WaitsForRoutes, next.gate().Routes)
			routers := network.Workload{Kind: "DaemonSet", Namespace: "kube-system", Name: "gardenet-service-router"}
			assert.Equal(t, next.form.Services == servicesHandedOver, slices.Contains(next.gate().Workloads, routers))
		})
	}
}

// Where the cloud has addresses of pods in its own network, there are no routes to wait for.
func TestChange_Next_NoRoutesProgrammed(t *testing.T) {
	next := change{from: wrapped(1), to: byCloud()}.next()
	require.NotNil(t, next)
	assert.Equal(t, kept(with(wrapped(1), byCloud())), next.form)
	assert.Nil(t, change{from: byNodes(), to: byCloud()}.next())
}

func TestChange_Refusal(t *testing.T) {
	const again = "spec.networking.providerConfig.overlay.vxlan cannot be changed while nodes send packets through it: set id to 1 and port to 8472 again"
	for sentence, test := range map[string]struct {
		from, to form
		want     string
	}{
		"another tunnel": {wrapped(8472), wrapped(4790), again},
		"another tunnel while routes are awaited": {waiting(wrapped(8472)), wrapped(4790), again},
		"another tunnel that no node uses":        {with(wrapped(8472), byCloud()), wrapped(4790), ""},
		"the same tunnel":                         {wrapped(8472), wrapped(8472), ""},
		"no tunnel":                               {wrapped(8472), byCloud(), ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			refusal := change{from: test.from, to: test.to}.refusal()
			if test.want == "" {
				assert.Empty(t, refusal)
				return
			}
			assert.Contains(t, refusal, test.want)
		})
	}
}

func TestDriver_Transition(t *testing.T) {
	overlayOff := shootOn(t, "aws", "overlay: {enabled: false}")
	wanted, err := New().Render(overlayOff)
	require.NoError(t, err)
	stage, err := New().Transition(overlayOff, wanted)
	require.NoError(t, err)
	assert.Nil(t, stage, "nothing is deployed")

	withDeployed(t, wrapped(8472), false)(overlayOff)
	stage, err = New().Transition(overlayOff, wanted)
	require.NoError(t, err)
	require.NotNil(t, stage)
	assert.Equal(t, "waiting for the cloud to route to the pods of all nodes", stage.Name)
	assert.Equal(t, network.Gate{
		Workloads: []network.Workload{{Kind: "DaemonSet", Namespace: "kube-system", Name: "gardenet-agent"}}, Routes: true,
	}, stage.Gate)
	assert.Equal(t, waiting(wrapped(8472)), stage.Rendering.Form)
	assert.Len(t, stage.Rendering.Shoot, len(wanted.Shoot))

	another := shootOn(t, "aws", "overlay: {enabled: true, vxlan: {port: 4790}}", withDeployed(t, wrapped(8472), false))
	wanted, err = New().Render(another)
	require.NoError(t, err)
	_, err = New().Transition(another, wanted)
	assert.Equal(t, cloud.Configuration, cloud.KindOf(err))

	another.Deployed.Form = json.RawMessage(`[]`)
	_, err = New().Transition(another, wanted)
	assert.ErrorContains(t, err, "reading the form of the network that is deployed")
	wanted.Form = "wooden"
	_, err = New().Transition(another, wanted)
	assert.ErrorContains(t, err, "a form of type string")
}

// A router that hands over needs to know nothing that the configuration does not have any more.
func TestDriver_Transition_HandsOver(t *testing.T) {
	shoot := shootOn(t, "aws", "", withDeployed(t, does(servicesRouted, byCloud()), false))
	wanted, err := New().Render(shoot)
	require.NoError(t, err)
	stage, err := New().Transition(shoot, wanted)
	require.NoError(t, err)
	require.NotNil(t, stage)
	assert.Equal(t, "handing Services over to kube-proxy on all nodes", stage.Name)
	var args []string
	for _, object := range stage.Rendering.Shoot {
		if daemonSet, ok := object.(*appsv1.DaemonSet); ok && daemonSet.Name == routerName {
			args = daemonSet.Spec.Template.Spec.Containers[0].Args
		}
	}
	assert.Equal(t, []string{"--pod-ranges=100.96.0.0/11", "--bind-address=127.0.0.1:19082", "--service-ranges=100.64.0.0/13", "--hand-over"}, args)
	assert.Greater(t, len(stage.Rendering.Shoot), len(wanted.Shoot), "the routers are still there")
}

// A second family, another MTU and all that a node does for its own pods change without stages.
func TestDriver_Transition_WithoutStages(t *testing.T) {
	for sentence, test := range map[string]struct {
		config     string
		variations []variation
	}{
		"a second family":        {"", []variation{withFamilies(ipv4, ipv6)}},
		"another order":          {"", []variation{withFamilies([]extensionsv1alpha1.IPFamily{ipv6, ipv4}...)}},
		"another MTU":            {"mtu: 1400", nil},
		"no masquerading":        {"masquerade: {enabled: false}", nil},
		"no policies":            {"networkPolicy: {enabled: false}", nil},
		"a log":                  {"logging: {deniedPackets: {enabled: true, perSecond: 5}}", nil},
		"no host ports":          {"hostPorts: {enabled: false}", nil},
		"routes of the nodes":    {"overlay: {createPodRoutes: true}", nil},
		"no vertical autoscaler": {"", []variation{withoutVPA}},
	} {
		t.Run(sentence, func(t *testing.T) {
			shoot := shootOn(t, "aws", test.config, append(test.variations, withDeployed(t, byCloud(), false))...)
			wanted, err := New().Render(shoot)
			require.NoError(t, err)
			stage, err := New().Transition(shoot, wanted)
			require.NoError(t, err)
			assert.Nil(t, stage)
		})
	}
}
