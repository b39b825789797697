package calico

import (
	"fmt"
	"slices"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// variant is what a user can write, and what Calico would be like in a new shoot.
type variant struct {
	name, config string
	variations   []variation
}

// variants are configurations of which every form that users can bring about is one, but for what goes without stages.
func variants() []variant {
	var all []variant
	for _, config := range []string{
		"", "overlay: {enabled: true}", "overlay: {enabled: false}", "overlay: {enabled: false, createPodRoutes: true}",
		"overlay: {enabled: false, createPodRoutes: false}", "{overlay: {enabled: true}, vxlan: {enabled: true}}",
		"backend: none", "ipv4: {mode: Never}", "ipv4: {mode: CrossSubnet}", "ipv4: {pool: vxlan}", "{backend: vxlan, ipv4: {pool: vxlan}}",
		"{overlay: {enabled: true}, ipam: {type: calico-ipam}}", "{overlay: {enabled: true}, ipam: {type: host-local}}",
		"{overlay: {enabled: false, createPodRoutes: true}, ipam: {type: calico-ipam}}",
	} {
		all = append(all, variant{name: "{" + config + "}", config: config})
	}
	return append(all,
		variant{name: "without Typha", config: "typha: {enabled: false}"},
		variant{name: "overlay off without Typha", config: "{overlay: {enabled: false}, typha: {enabled: false}}"},
		variant{name: "VXLAN without Typha", config: "{overlay: {enabled: true}, vxlan: {enabled: true}, typha: {enabled: false}}"},
		variant{name: "pod routes without Typha", config: "{overlay: {enabled: false, createPodRoutes: true}, typha: {enabled: false}}"},
		variant{
			name:   "pod routes and calico-ipam without Typha",
			config: "{overlay: {enabled: false, createPodRoutes: true}, ipam: {type: calico-ipam}, typha: {enabled: false}}",
		},
		variant{name: "WireGuard", config: "wireguardEncryption: true"},
		variant{
			name: "nftables with the overlay off", config: "overlay: {enabled: false}",
			variations: []variation{withProxyMode(gardencorev1beta1.ProxyModeNFTables)},
		},
		variant{name: "eBPF without kube-proxy", config: "{ebpfDataplane: {enabled: true}, overlay: {enabled: false}}", variations: []variation{withoutKubeProxy}},
		variant{name: "both families", config: "overlay: {enabled: false}", variations: []variation{withFamilies(ipv4, ipv6)}},
		variant{name: "both families with pod routes", config: "overlay: {enabled: false, createPodRoutes: true}", variations: []variation{withFamilies(ipv4, ipv6)}},
	)
}

// settingsCache remembers what was decided. Of what is deployed nothing but the IPAM counts.
type settingsCache map[string]*settings

// get decides about a shoot at that place in which something is deployed already, nil for nothing.
func (a settingsCache) get(t *testing.T, infrastructureType string, p variant, deployed *form) *settings {
	t.Helper()
	key := infrastructureType + p.name
	if deployed != nil {
		key += deployed.IPAM
	}
	if a[key] == nil {
		a[key] = p.decide(t, infrastructureType, deployed)
	}
	return a[key]
}

func (p variant) decide(t *testing.T, infrastructureType string, deployed *form) *settings {
	t.Helper()
	variations := slices.Clone(p.variations)
	if deployed != nil {
		variations = append(variations, withDeployed(t, *deployed))
	}
	shoot := shootOn(t, infrastructureType, p.config, variations...)
	require.Empty(t, New().Validate(shoot))
	decided, err := decide(shoot)
	require.NoError(t, err)
	return decided.settings
}

// expectedRefusal says whether there can be no way from one form to a goal.
func expectedRefusal(from form, to *settings) bool {
	wasCalico, isCalico := from.IPAM == "calico-ipam", to.form.IPAM == "calico-ipam"
	alreadyInUse := wasCalico && from.native() && from.Backend == "none"
	return wasCalico && !isCalico || isCalico && to.ipv6 || isCalico && to.cloudRoutes() && !alreadyInUse
}

// Every pair of places, and every change of mind on the way: wherever a shoot is, it arrives where it is wanted, and no pod is cut off
// meanwhile.
func TestTransition_EveryChange(t *testing.T) {
	for _, infrastructureType := range []string{"openstack", "azure", "aws", "local"} {
		t.Run(infrastructureType, func(t *testing.T) {
			t.Parallel()
			changes, refusals, known := 0, 0, settingsCache{}
			for _, start := range variants() {
				if infrastructureType == "azure" && len(start.variations) > 0 && start.name[:4] == "both" {
					continue // no IPv6 there
				}
				initial := known.get(t, infrastructureType, start, nil).form
				for _, goal := range variants() {
					some, refused := testChange(t, known, infrastructureType, start.name, initial, goal)
					changes, refusals = changes+some, refusals+refused
				}
			}
			t.Logf("%d ways, %d refused", changes, refusals)
			assert.Greater(t, changes, 4*refusals, "most ways exist")
		})
	}
}

// testChange goes from a form to a goal, and from each stage on that way to each other place.
func testChange(t *testing.T, known settingsCache, infrastructureType, start string, initial form, goal variant) (changes, refusals int) {
	t.Helper()
	wanted := known.get(t, infrastructureType, goal, &initial)
	refusal := newChange(initial, wanted.form, false, wanted).refusal()
	require.Equal(t, expectedRefusal(initial, wanted), refusal != "", "%s -> %s: %s", start, goal.name, refusal)
	if refusal != "" {
		return 0, 1
	}
	for gates := 0; ; gates++ {
		shoot := newFakeCluster(t, initial, wanted.infrastructure.IPIP)
		between, arrived := shoot.run(initial, wanted.form, wanted, gates, start, "->", goal.name)
		changes++
		for _, other := range variants() {
			branched := *shoot
			branched.nodes, branched.pools, branched.typhas = slices.Clone(shoot.nodes), slices.Clone(shoot.pools), slices.Clone(shoot.typhas)
			description := fmt.Sprintf("%s -> %s, gates %d -> %s", start, goal.name, gates, other.name)
			changed := known.get(t, infrastructureType, other, &between)
			refusal := newChange(between, changed.form, false, changed).refusal()
			require.Equal(t, expectedRefusal(between, changed), refusal != "", "%s: %s", description, refusal)
			if refusal != "" {
				refusals++
				continue
			}
			ended, done := branched.run(between, changed.form, changed, 16, description)
			require.True(t, done, description)
			require.Equal(t, changed.form, ended, description)
			changes++
		}
		if arrived {
			return changes, refusals
		}
	}
}
