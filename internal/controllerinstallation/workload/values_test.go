package workload

import (
	"encoding/json"
	"path/filepath"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/utils"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/trellis-garden/trellis/internal/golden"
)

const seedText = `
metadata:
  name: hill
  labels: {region: north}
  annotations: {note: "high"}
spec:
  provider: {type: openstack, region: RegionOne, zones: [a, b]}
  ingress: {domain: ingress.hill.example.org, controller: {kind: nginx}}
  networks: {nodes: 10.250.0.0/16, pods: 10.1.0.0/16, services: 10.2.0.0/16, blockCIDRs: [169.254.169.254/32]}
  settings: {scheduling: {visible: false}}
  taints: [{key: seed.gardener.cloud/protected}]
  volume: {minimumSize: 20Gi, providers: [{purpose: etcd-main, name: flexvolume}, {purpose: other, name: second}]}
status:
  clusterIdentity: landscape-seed-hill
  gardener: {version: v1.149.3}
`

func seedOf(t *testing.T, text string) *gardencorev1beta1.Seed {
	t.Helper()
	seed := &gardencorev1beta1.Seed{}
	require.NoError(t, yaml.Unmarshal([]byte(text), seed))
	return seed
}

func TestValues(t *testing.T) {
	for name, test := range map[string]struct {
		seed   string
		inject bool
	}{
		"values-of-a-seed.json":        {seedText, true},
		"values-of-a-bare-seed.json":   {"{metadata: {name: hill}, status: {clusterIdentity: x}}", false},
		"values-of-an-empty-seed.json": {"{metadata: {name: hill}, spec: {settings: {}, volume: {}}, status: {clusterIdentity: x}}", false},
	} {
		t.Run(name, func(t *testing.T) {
			installation := Installation{Name: "network-abcde", InjectGardenKubeconfig: test.inject, Seed: seedOf(t, test.seed)}
			garden := Garden{Identity: "landscape", Address: "https://garden.example.org"}
			values, err := Values(installation, garden, &SeedFacts{FeatureGates: map[string]bool{"RemoveVali": true, "Other": false}})
			require.NoError(t, err)

			written, err := json.MarshalIndent(values, "", "  ")
			require.NoError(t, err)
			golden.Check(t, filepath.Join("testdata", name), string(written)+"\n")

			read := map[string]any{}
			require.NoError(t, json.Unmarshal(written, &read))
			assert.Equal(t, read, values, "they have JSON's types")
		})
	}
}

func TestValues_UnknownClusterIdentity(t *testing.T) {
	_, err := Values(Installation{Seed: seedOf(t, "metadata: {name: hill}")}, Garden{}, &SeedFacts{})
	assert.EqualError(t, err, "the identity of the cluster of seed hill is not known yet")
	_, err = Values(Installation{Seed: seedOf(t, seedText), InjectGardenKubeconfig: true}, Garden{}, &SeedFacts{})
	assert.EqualError(t, err, "the garden's address is not known")
}

// gardenletMixes does what gardenlet does, whose values are no plain JSON yet.
func gardenletMixes(t *testing.T, values map[string]any) map[string]any {
	t.Helper()
	mixed := utils.MergeMaps(values, map[string]any{"gardener": map[string]any{
		"version":   "v1",
		"gardenlet": map[string]any{"featureGates": map[string]bool{"A": true}},
		"seed": map[string]any{
			"labels": map[string]string{"a": "b"}, "annotations": map[string]string(nil),
			"networks": gardencorev1beta1.SeedNetworks{Pods: "10.0.0.0/8"},
		},
	}})
	raw, err := json.Marshal(mixed)
	require.NoError(t, err)
	return valuesOf(t, string(raw))
}

func valuesOf(t *testing.T, text string) map[string]any {
	t.Helper()
	var values map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(text), &values))
	return values
}

func TestMergeGardenerValues(t *testing.T) {
	gardenerValues := gardenletMixes(t, nil)
	for sentence, text := range map[string]string{
		"nothing is said":                  "null",
		"something else is said":           "{replicas: 2, image: {tag: x}}",
		"the admin adds a group":           "{gardener: {mine: {a: b}, version: v0}}",
		"the admin adds an entry":          "{gardener: {seed: {mine: x}, gardenlet: {mine: x}}}",
		"the admin adds to an entry":       "{gardener: {seed: {labels: {a: x, mine: x}, annotations: {mine: x}, networks: {nodes: x}}}}",
		"the admin adds a feature gate":    "{gardener: {gardenlet: {featureGates: {mine: true, A: false}}}}",
		"the admin has something else":     "{gardener: text}",
		"the admin has something for none": "{gardener: {seed: null}}",
		"the admin has nothing":            "{gardener: null}",
	} {
		t.Run(sentence, func(t *testing.T) {
			values := valuesOf(t, text)
			assert.Equal(t, gardenletMixes(t, values), MergeGardenerValues(values, gardenerValues))
			assert.Equal(t, valuesOf(t, text), values, "it is left as it was")
			assert.Equal(t, gardenletMixes(t, nil), gardenerValues, "they are left as they were")
		})
	}
}

func TestMergeValues(t *testing.T) {
	for sentence, test := range map[string]struct{ base, over, want string }{
		"nothing over nothing":        {"null", "null", "{}"},
		"nothing over something":      {"{a: 1}", "null", "{a: 1}"},
		"something over nothing":      {"null", "{a: 1}", "{a: 1}"},
		"maps are merged":             {"{a: {b: 1, c: {d: 1}}, e: 1}", "{a: {b: 2, c: {f: 2}}}", "{a: {b: 2, c: {d: 1, f: 2}}, e: 1}"},
		"lists are replaced":          {"{a: [1, 2]}", "{a: [3]}", "{a: [3]}"},
		"a map replaces a scalar":     {"{a: 1}", "{a: {b: 1}}", "{a: {b: 1}}"},
		"a scalar replaces a map":     {"{a: {b: 1}}", "{a: 1}", "{a: 1}"},
		"an empty map leaves a map":   {"{a: {b: 1}}", "{a: {}}", "{a: {b: 1}}"},
		"null removes":                {"{a: 1, b: {c: 1, d: 1}}", "{a: null, b: {c: null}}", "{b: {d: 1}}"},
		"null removes nothing":        {"{a: 1}", "{b: null}", "{a: 1}"},
		"null in a map that is new":   {"{}", "{a: {b: null, c: 1}}", "{a: {c: 1}}"},
		"null in a list is an item":   {"{}", "{a: [null]}", "{a: [null]}"},
		"what base has of null stays": {"{a: null}", "{b: 1}", "{a: null, b: 1}"},
	} {
		t.Run(sentence, func(t *testing.T) {
			base, over := valuesOf(t, test.base), valuesOf(t, test.over)
			assert.Equal(t, valuesOf(t, test.want), MergeValues(base, over))
			assert.Equal(t, valuesOf(t, test.base), base, "it is left as it was")
			assert.Equal(t, valuesOf(t, test.over), over, "it is left as it was")
		})
	}
}
