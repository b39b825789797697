package nft_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/gardenet/nft"
	"github.com/trellis-garden/trellis/internal/gardenet/nft/nfttest"
	"github.com/trellis-garden/trellis/internal/golden"
)

func example() nft.Table {
	return nft.Table{
		Name:     "example",
		Counters: []string{"dropped"},
		Sets: []nft.Set{
			{Name: "blocks", Type: "ipv4_addr", Interval: true, Elements: []string{"10.0.0.0/9", "192.168.0.1"}},
			{Name: "clients", Type: "ipv4_addr", Elements: []string{"10.0.0.1", "10.0.0.2"}},
			{Name: "empty", Type: "ipv6_addr"},
			{Name: "servers", Type: "ipv4_addr", Verdicts: true, Elements: []string{"10.0.0.3 : jump web", "10.0.0.4 : drop"}},
		},
		Chains: []nft.Chain{
			{Name: "forward", Base: "type filter hook forward priority filter; policy accept;", Rules: []string{"ip daddr vmap @servers"}},
			{Name: "web", Rules: []string{"ip saddr @clients tcp dport { 80, 443 } return", `counter name "dropped" drop`}},
		},
	}
}

// equal compares tables whatever the order of sets and chains.
func equal(t *testing.T, want, got nft.Table, transaction string) {
	t.Helper()
	byName := []cmp.Option{
		cmpopts.EquateEmpty(),
		cmpopts.SortSlices(func(a, b nft.Set) bool { return a.Name < b.Name }), cmpopts.SortSlices(func(a, b nft.Chain) bool { return a.Name < b.Name }),
	}
	require.Empty(t, cmp.Diff(want, got, byName...), transaction)
}

func TestReplace(t *testing.T) {
	golden.Check(t, "testdata/replace.nft", nft.Replace(example()))
	var r nfttest.Ruleset
	require.NoError(t, r.Run(nft.Replace(randomTable(rand.New(rand.NewPCG(1, 1))))))
	require.NoError(t, r.Run(nft.Replace(example())))
	got, _ := r.Table("example")
	equal(t, example(), got, "")
}

func TestText_IsWhatParseReads(t *testing.T) {
	got, err := nfttest.Parse(example().Text())
	require.NoError(t, err)
	equal(t, example(), got, "")
}

func TestDifference(t *testing.T) {
	const web, forward = 1, 0
	for sentence, test := range map[string]struct {
		change func(*nft.Table)
		want   string
	}{
		"nothing":               {func(*nft.Table) {}, ""},
		"nothing but the order": {func(to *nft.Table) { slices.Reverse(to.Sets); slices.Reverse(to.Chains) }, ""},
		"an element more and one less": {
			func(to *nft.Table) { to.Sets[1].Elements = []string{"10.0.0.2", "10.0.0.7"} },
			"delete element inet example clients { 10.0.0.1 }\nadd element inet example clients { 10.0.0.7 }\n",
		},
		"another value": {
			func(to *nft.Table) { to.Sets[3].Elements[1] = "10.0.0.4 : jump web" },
			"delete element inet example servers { 10.0.0.4 : drop }\nadd element inet example servers { 10.0.0.4 : jump web }\n",
		},
		"a range that becomes smaller": {
			func(to *nft.Table) { to.Sets[0].Elements[0] = "10.0.0.0/10" },
			"flush set inet example blocks\nadd element inet example blocks { 10.0.0.0/10, 192.168.0.1 }\n",
		},
		"a range more": {
			func(to *nft.Table) { to.Sets[0].Elements = []string{"10.0.0.0/9", "172.16.0.0/12", "192.168.0.1"} },
			"add element inet example blocks { 172.16.0.0/12 }\n",
		},
		"another rule": {
			func(to *nft.Table) { to.Chains[web].Rules[0] = "ip saddr @clients return" },
			"flush chain inet example web\nadd rule inet example web ip saddr @clients return\nadd rule inet example web counter name \"dropped\" drop\n",
		},
		"a chain less, and what needs it": {
			func(to *nft.Table) {
				to.Chains, to.Sets[3].Elements, to.Counters = to.Chains[:1], to.Sets[3].Elements[1:], nil
			},
			"flush chain inet example web\ndelete element inet example servers { 10.0.0.3 : jump web }\ndelete chain inet example web\n" +
				"delete counter inet example dropped\n",
		},
		"a chain more, a counter, and what needs them": {
			func(to *nft.Table) {
				to.Counters = append(to.Counters, "more")
				to.Chains = append(to.Chains, nft.Chain{Name: "dns", Rules: []string{`counter name "more"`}})
				to.Sets[3].Elements = append(to.Sets[3].Elements, "10.0.0.5 : jump dns")
			},
			"add counter inet example more\nadd chain inet example dns\nadd element inet example servers { 10.0.0.5 : jump dns }\n" +
				"add rule inet example dns counter name \"more\"\n",
		},
		"another hook": {
			func(to *nft.Table) {
				to.Chains[forward].Base = "type filter hook input priority filter; policy accept;"
			},
			"flush chain inet example forward\ndelete chain inet example forward\n" +
				"add chain inet example forward { type filter hook input priority filter; policy accept; }\n" +
				"add rule inet example forward ip daddr vmap @servers\n",
		},
		"another type, which rules that stay need": {
			func(to *nft.Table) { to.Sets[1].Interval = true },
			"flush chain inet example web\ndelete set inet example clients\nadd set inet example clients { type ipv4_addr; flags interval; }\n" +
				"add element inet example clients { 10.0.0.1, 10.0.0.2 }\n" +
				"add rule inet example web ip saddr @clients tcp dport { 80, 443 } return\nadd rule inet example web counter name \"dropped\" drop\n",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			to := example()
			test.change(&to)
			got := nft.Difference(example(), to)
			assert.Equal(t, test.want, got)
			var r nfttest.Ruleset
			require.NoError(t, r.Run(nft.Replace(example())))
			require.NoError(t, r.Run(got))
			table, _ := r.Table("example")
			equal(t, to, table, got)
		})
	}
}

func TestDifference_WholeTable(t *testing.T) {
	other := example()
	other.Name = "other"
	assert.Equal(t, nft.Replace(example()), nft.Difference(nft.Table{}, example()))
	assert.Equal(t, nft.Replace(example()), nft.Difference(nft.Table{Name: "example"}, example()), "is shorter than the commands for the difference")
	var r nfttest.Ruleset
	require.NoError(t, r.Run(nft.Replace(other)))
	require.NoError(t, r.Run(nft.Difference(other, example())))
	_, found := r.Table("other")
	assert.False(t, found, "a table with another name stays")
}

func TestDifference_RandomTables(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 1500 {
		from, to := randomTable(random), randomTable(random)
		for _, transaction := range []string{nft.Changes(from, to), nft.Difference(from, to)} {
			var r nfttest.Ruleset
			require.NoError(t, r.Run(nft.Replace(from)))
			require.NoError(t, r.Run(transaction), "from:\n%s\nto:\n%s\ntransaction:\n%s", from.Text(), to.Text(), transaction)
			got, _ := r.Table("example")
			equal(t, to, got, transaction)
		}
	}
}

// What the interpreter lets pass may not be what the kernel does.
func TestDifference_RandomTablesInTheKernel(t *testing.T) {
	if !nfttest.InNamespace(t) {
		return
	}
	random := rand.New(rand.NewPCG(3, 4))
	from := randomTable(random)
	require.NoError(t, nfttest.Apply(t, nft.Replace(from), false))
	for range 150 {
		to := randomTable(random)
		transaction := nft.Changes(from, to)
		require.NoError(t, nfttest.Apply(t, transaction, false), "from:\n%s\nto:\n%s\ntransaction:\n%s", from.Text(), to.Text(), transaction)
		got, err := nfttest.Parse(nfttest.List(t, "example"))
		require.NoError(t, err)
		equal(t, to, got, transaction)
		from = to
	}
}

// large returns a table with sets of pods' addresses, and the rules that use them.
func large(sets, elements int) nft.Table {
	t := nft.Table{Name: "example"}
	for i := range sets {
		s := nft.Set{Name: fmt.Sprintf("set-%d", i), Type: "ipv4_addr"}
		for j := range elements {
			s.Elements = append(s.Elements, fmt.Sprintf("10.%d.%d.%d", j%4, i%250, j))
		}
		slices.Sort(s.Elements)
		t.Sets = append(t.Sets, s)
		t.Chains = append(t.Chains, nft.Chain{Name: fmt.Sprintf("chain-%d", i), Rules: []string{"ip saddr @" + s.Name + " tcp dport 80 return", "drop"}})
	}
	return t
}

func BenchmarkDifference_OneElementIn50Sets(b *testing.B) {
	from, to := large(500, 50), large(500, 50)
	for i := range 50 {
		to.Sets[i].Elements = append(to.Sets[i].Elements, "10.9.9.9")
	}
	for b.Loop() {
		nft.Difference(from, to)
	}
}

func BenchmarkReplace(b *testing.B) {
	table := large(500, 50)
	for b.Loop() {
		nft.Replace(table)
	}
}
