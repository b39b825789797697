package nfttest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/gardenet/nft"
)

const example = `table inet example {
	counter dropped {
	}

	set clients {
		type ipv4_addr
		elements = { 10.0.0.1, 10.0.0.2,
			     10.0.0.3 }
	}
	set blocks {
		type ipv4_addr
		flags interval
		elements = { 10.0.0.0/8 }
	}
	map servers {
		type ipv4_addr : verdict
		elements = {
			10.0.0.4 : jump web,
		}
	}
	chain forward {
		type filter hook forward priority filter; policy accept;
		ip daddr vmap @servers
	}
	chain web {
		ip saddr @clients return
		counter name "dropped" drop
	}
}
`

func TestParse(t *testing.T) {
	parsed, err := Parse(example)
	require.NoError(t, err)
	assert.Equal(t, nft.Table{
		Name: "example", Counters: []string{"dropped"},
		Sets: []nft.Set{
			{Name: "blocks", Type: "ipv4_addr", Interval: true, Elements: []string{"10.0.0.0/8"}},
			{Name: "clients", Type: "ipv4_addr", Elements: []string{"10.0.0.1", "10.0.0.2", "10.0.0.3"}},
			{Name: "servers", Type: "ipv4_addr", Verdicts: true, Elements: []string{"10.0.0.4 : jump web"}},
		},
		Chains: []nft.Chain{
			{Name: "forward", Base: "type filter hook forward priority filter; policy accept;", Rules: []string{"ip daddr vmap @servers"}},
			{Name: "web", Rules: []string{"ip saddr @clients return", `counter name "dropped" drop`}},
		},
	}, parsed)
}

// transactions that the interpreter refuses, by the reason.
func refused() map[string]string {
	return map[string]string{
		"unknown command":                         "rename set inet example clients",
		"there is no table other":                 "add chain inet other web",
		"chain web is used by map servers":        "delete chain inet example web",
		"set clients is used by chain web":        "delete set inet example clients",
		"counter dropped is used by chain web":    "delete counter inet example dropped",
		"there is no set missing to use":          "add rule inet example web ip saddr @missing return",
		"there is no chain missing to use":        "add element inet example servers { 10.0.0.5 : jump missing }",
		"there is no chain forward to use":        "add rule inet example web jump forward",
		"there is no counter missing to use":      `add rule inet example web counter name "missing"`,
		"there is no chain missing":               "add rule inet example missing accept",
		"there is no set missing":                 "add element inet example missing { 10.0.0.1 }",
		"set clients has no element 10.0.0.9":     "delete element inet example clients { 10.0.0.9 }",
		"10.0.0.4 has the value jump web already": "add element inet example servers { 10.0.0.4 : drop }",
		"10.0.0.5 is no element for set servers":  "add element inet example servers { 10.0.0.5 }",
		"10.1.0.0/16 overlaps with 10.0.0.0/8":    "add element inet example blocks { 10.1.0.0/16 }",
		"there is a set clients already":          "add set inet example clients { type ipv4_addr; }",
		"there is a chain web already":            "add chain inet example web",
		"there is no such map":                    "flush map inet example clients",
		"there is no such chain":                  "flush chain inet example missing",
		"unknown declaration \"flags timeout\"":   "add set inet example more { type ipv4_addr; flags timeout; }",
	}
}

func TestRun_Refuses(t *testing.T) {
	for reason, transaction := range refused() {
		t.Run(reason, func(t *testing.T) {
			var r Ruleset
			require.NoError(t, r.Run(example))
			assert.ErrorContains(t, r.Run(transaction), reason)
		})
	}
}

// What the interpreter refuses, the kernel refuses, too. It accepts a set or chain that is there already, if it is the same one.
func TestRun_RefusesWhatTheKernelRefuses(t *testing.T) {
	if !InNamespace(t) {
		return
	}
	for reason, transaction := range refused() {
		if reason == "there is a set clients already" || reason == "there is a chain web already" {
			continue
		}
		if reason == `unknown declaration "flags timeout"` { // is right, but nothing here writes it
			continue
		}
		require.NoError(t, Apply(t, "table inet example\ndelete table inet example\n"+example, false))
		assert.Error(t, Apply(t, transaction, false), reason)
	}
}
