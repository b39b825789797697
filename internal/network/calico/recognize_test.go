package calico

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/trellis-garden/trellis/internal/network"
)

// upstreamShoot is what upstream's extension puts into a shoot, as far as it matters here.
type upstreamShoot struct {
	backend, typhaService string
	env                   map[string]string
	doubled               map[string]string
	pools                 map[string]*encapsulation
	noTypha, upstreamDNS  bool
}

func (u upstreamShoot) objects(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	var env []any
	for _, each := range []map[string]string{u.env, u.doubled} {
		for name, value := range each {
			env = append(env, map[string]any{"name": name, "value": value})
		}
	}
	env = append(env, map[string]any{"name": "CALICO_NETWORKING_BACKEND", "valueFrom": map[string]any{
		"configMapKeyRef": map[string]any{"name": "calico-config", "key": "calico_backend"},
	}})
	side := "network-unavailable-condition-ensurer"
	if u.upstreamDNS {
		side = "add-snat-rule-to-upstream-dns"
	}
	objects := []map[string]any{
		{
			"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": map[string]any{"name": "calico-node", "namespace": "kube-system"},
			"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{
				map[string]any{"name": side, "env": []any{map[string]any{"name": "USE_POD_CIDR", "value": "maybe"}}},
				map[string]any{"name": "calico-node", "env": env},
			}}}},
		},
		{"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": map[string]any{"name": "kube-multus-ds", "namespace": "kube-system"}},
		{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "calico-config", "namespace": "kube-system"},
			"data": map[string]any{"calico_backend": u.backend, "typha_service_name": u.typhaService},
		},
		{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "other"}, "data": map[string]any{"calico_backend": "none"}},
		{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "calico-kube-controllers", "namespace": "kube-system"}},
	}
	if !u.noTypha {
		objects = append(objects, map[string]any{
			"apiVersion": "apps/v1", "kind": "Deployment",
			"metadata": map[string]any{"name": "calico-typha-deploy", "namespace": "kube-system"},
		})
	}
	for name, encap := range u.pools {
		objects = append(objects, map[string]any{
			"apiVersion": calicoAPIVersion, "kind": "IPPool", "metadata": map[string]any{"name": name},
			"spec": map[string]any{"ipipMode": encap.IPIP, "vxlanMode": encap.VXLAN},
		})
	}
	var found []*unstructured.Unstructured
	for _, object := range objects {
		// By YAML and back, as from the API server.
		raw, err := yaml.Marshal(object)
		require.NoError(t, err)
		read := &unstructured.Unstructured{}
		require.NoError(t, yaml.Unmarshal(raw, &read.Object))
		found = append(found, read)
	}
	return found
}

func upstreamEnv(more map[string]string) map[string]string {
	env := map[string]string{
		"USE_POD_CIDR": "true", "IP": "autodetect", "FELIX_BPFENABLED": "false", "CALICO_IPV4POOL_IPIP": "Always",
		"CALICO_IPV4POOL_VXLAN": "Never", "FELIX_IPINIPENABLED": "true", "FELIX_WIREGUARDENABLED": "false",
	}
	maps.Copy(env, more)
	return env
}

func TestRecognize(t *testing.T) {
	ipip, vxlan, native := modes("Always", "Never"), modes("Never", "Always"), modes("Never", "Never")
	for sentence, test := range map[string]struct {
		shoot upstreamShoot
		want  form
	}{
		"the overlay on": {upstreamShoot{
			backend: "bird", typhaService: "calico-typha", env: upstreamEnv(nil),
			pools: map[string]*encapsulation{poolIPv4: ipip},
		}, byIPIP()},
		"the overlay unset: calico-node has made a pool as its environment says": {
			upstreamShoot{backend: "bird", typhaService: "calico-typha", env: upstreamEnv(nil)}, byIPIP(),
		},
		"the overlay unset with mode Off": {
			upstreamShoot{backend: "bird", typhaService: "calico-typha", env: upstreamEnv(map[string]string{"CALICO_IPV4POOL_IPIP": "Off"})}, modified(byBird(), noUpstreamDNS),
		},
		"the overlay unset with CrossSubnet": {
			upstreamShoot{backend: "bird", typhaService: "calico-typha", env: upstreamEnv(map[string]string{"CALICO_IPV4POOL_IPIP": "CrossSubnet"})},
			modified(byIPIP(), func(f *form) { f.IPv4 = modes("CrossSubnet", "Never") }),
		},
		"the overlay unset with a pool of VXLAN, whose variable stands there twice": {
			upstreamShoot{
				backend: "vxlan", typhaService: "calico-typha",
				env:     map[string]string{"IP": "autodetect", "CALICO_IPV4POOL_VXLAN": "Never"},
				doubled: map[string]string{"CALICO_IPV4POOL_VXLAN": "Always"},
			}, byVXLAN(),
		},
		"the overlay off": {upstreamShoot{
			backend: "none", typhaService: "calico-typha", env: upstreamEnv(map[string]string{"CALICO_IPV4POOL_IPIP": "Never"}),
			pools: map[string]*encapsulation{poolIPv4: native, poolNoSNAT: native}, upstreamDNS: true,
		}, byCloud()},
		"pod routes": {upstreamShoot{
			backend: "bird", typhaService: "calico-typha", env: upstreamEnv(nil),
			pools: map[string]*encapsulation{poolIPv4: native}, upstreamDNS: true,
		}, byBird()},
		"VXLAN": {upstreamShoot{
			backend: "vxlan", typhaService: "calico-typha", env: upstreamEnv(map[string]string{"USE_POD_CIDR": "false"}),
			pools: map[string]*encapsulation{poolIPv4: vxlan},
		}, byVXLAN()},
		"IPv6 alone has no pool of IPv4": {
			upstreamShoot{
				backend: "none", typhaService: "calico-typha",
				env:   upstreamEnv(map[string]string{"IP": "none", "IP6": "autodetect"}),
				pools: map[string]*encapsulation{poolIPv6: native},
			},
			modified(byCloud(), func(f *form) { f.IPv4, f.IPv6, f.UpstreamDNS = nil, modes("Never", "Never"), false }),
		},
		"no Typha": {
			upstreamShoot{backend: "bird", typhaService: "none", env: upstreamEnv(nil), noTypha: true},
			modified(byIPIP(), func(f *form) { f.Typha, f.NodesUseTypha = false, false }),
		},
		"eBPF, nftables and WireGuard": {
			upstreamShoot{backend: "bird", typhaService: "calico-typha", env: upstreamEnv(map[string]string{
				"FELIX_BPFENABLED": "true", "FELIX_NFTABLESMODE": "Enabled", "FELIX_WIREGUARDENABLED": "true",
			})},
			modified(byIPIP(), func(f *form) { f.BPF, f.NFTables, f.WireGuard = true, true, true }),
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			recognized, err := deployedForm(network.Deployed{Objects: test.shoot.objects(t)})
			require.NoError(t, err)
			require.NotNil(t, recognized)
			test.want.UpstreamIPIP = test.want.IPIP
			assert.Empty(t, cmp.Diff(test.want, *recognized))
		})
	}
	t.Run("a shoot that Calico was never in", func(t *testing.T) {
		recognized, err := recognize(nil)
		require.NoError(t, err)
		assert.Nil(t, recognized)
	})
	t.Run("what is left of a Calico that no node runs", func(t *testing.T) {
		recognized, err := recognize(upstreamShoot{backend: "bird"}.objects(t)[1:])
		require.NoError(t, err)
		assert.Nil(t, recognized)
	})
	t.Run("a DaemonSet that cannot be read is an error", func(t *testing.T) {
		objects := upstreamShoot{backend: "bird"}.objects(t)
		objects[0].Object["spec"] = "?"
		_, err := recognize(objects)
		require.ErrorContains(t, err, "calico-node")
	})
}

// Upstream's extension deploys IP-in-IP where ipv4.pool is vxlan and vxlan.enabled is not true.
func TestRender_UpstreamIPIPPool(t *testing.T) {
	const given = "{overlay: {enabled: true}, ipv4: {pool: vxlan}}"
	objects := upstreamShoot{backend: "bird", typhaService: "calico-typha", env: upstreamEnv(nil), pools: map[string]*encapsulation{poolIPv4: modes("Always", "Never")}}.objects(t)
	takenOver := modified(byIPIP(), func(f *form) { f.UpstreamIPIP = true })
	for sentence, test := range map[string]struct {
		config   string
		deployed network.Deployed
		want     form
		message  string
	}{
		"keeps what upstream has deployed": {given, network.Deployed{Objects: objects}, takenOver, "ipv4.pool is ipip instead of vxlan"},
		"keeps it in later passes":         {given, network.Deployed{Form: encoded(t, takenOver), RolledOut: true}, takenOver, "ipv4.pool is ipip instead of vxlan"},
		"changes it where vxlan.enabled asks for that": {
			"{overlay: {enabled: true}, ipv4: {pool: vxlan}, vxlan: {enabled: true}}", network.Deployed{Objects: objects}, byVXLAN(), "",
		},
		"follows a pool that was changed since": {given, network.Deployed{Form: encoded(t, byIPIP()), RolledOut: true}, byVXLAN(), ""},
		"deploys VXLAN in a new shoot":          {given, network.Deployed{}, byVXLAN(), ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			shoot := shootOn(t, "openstack", test.config)
			shoot.Deployed = test.deployed
			decided, err := decide(shoot)
			require.NoError(t, err)
			assert.Empty(t, cmp.Diff(test.want, decided.settings.form))
			if test.message != "" {
				assert.Contains(t, strings.Join(decided.messages, "; "), test.message)
			} else {
				assert.NotContains(t, strings.Join(decided.messages, "; "), "ipv4.pool")
			}
		})
	}

	shoot := shootOn(t, "openstack", given)
	shoot.Deployed = network.Deployed{Objects: objects}
	wanted, err := New().Render(shoot)
	require.NoError(t, err)
	stage, err := New().Transition(shoot, wanted)
	require.NoError(t, err)
	assert.Nil(t, stage, "nothing changes")
}

// A shoot that comes from upstream's extension as it is needs no stage, and one whose owner changes it meanwhile goes in stages.
func TestRecognize_TransitionFromUpstream(t *testing.T) {
	from := upstreamShoot{backend: "bird", typhaService: "calico-typha", env: upstreamEnv(nil)}
	shoot := shootOn(t, "aws", "")
	shoot.Deployed = network.Deployed{Objects: from.objects(t)}
	wanted, err := New().Render(shoot)
	require.NoError(t, err)
	stage, err := New().Transition(shoot, wanted)
	require.NoError(t, err)
	assert.Nil(t, stage)

	shoot = shootOn(t, "aws", "overlay: {enabled: false}")
	shoot.Deployed = network.Deployed{Objects: from.objects(t)}
	wanted, err = New().Render(shoot)
	require.NoError(t, err)
	stage, err = New().Transition(shoot, wanted)
	require.NoError(t, err)
	require.NotNil(t, stage)
	assert.True(t, stage.Gate.Routes)
}
