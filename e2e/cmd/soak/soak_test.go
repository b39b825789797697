package main

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/fleet"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/e2e/internal/terminal"
)

// TestRun causes each kind of fault once or twice with a few shoots. What ten minutes find is left to make soak.
func TestRun(t *testing.T) {
	t.Parallel()
	require.NoError(t, run(t.Context(), terminal.New(os.Stdout), options{shoots: 4, rounds: 1, seed: 1}))
}

func TestOptions_Check(t *testing.T) {
	valid := options{shoots: 1, duration: time.Minute}
	require.NoError(t, valid.check(nil))
	require.NoError(t, options{shoots: 1, rounds: 1}.check(nil))
	for sentence, test := range map[string]struct {
		options   options
		arguments []string
		want      string
	}{
		"an argument without a flag": {options: valid, arguments: []string{"200"}, want: `"200": arguments without a flag are not allowed`},
		"no shoots":                  {options: options{duration: time.Minute}, want: "--shoots: 0; give 1 or more"},
		"fewer rounds than none":     {options: options{shoots: 1, rounds: -1}, want: "--rounds: -1; give 0 for a duration, or a number of rounds"},
		"no duration":                {options: options{shoots: 1}, want: "--duration: 0s; give a positive duration, such as 10m"},
	} {
		t.Run(sentence, func(t *testing.T) { assert.EqualError(t, test.options.check(test.arguments), test.want) })
	}
}

func TestInventory_Compare(t *testing.T) {
	before := inventory{"network a": 1, "port without a name": 2}
	require.NoError(t, before.compare(inventory{"network a": 1, "port without a name": 2}))
	for sentence, test := range map[string]struct {
		now  inventory
		want string
	}{
		"a duplicate":         {inventory{"network a": 2, "port without a name": 2}, "the cloud has 2 times network a, and had 1"},
		"a leaked resource":   {inventory{"network a": 1, "network b": 1, "port without a name": 2}, "the cloud has 1 times network b, and had 0"},
		"a lost resource":     {inventory{"port without a name": 2}, "the cloud has 0 times network a, and had 1"},
		"a port without name": {inventory{"network a": 1, "port without a name": 3}, "the cloud has 3 times port without a name, and had 2"},
	} {
		t.Run(sentence, func(t *testing.T) { assert.EqualError(t, before.compare(test.now), test.want) })
	}
}

func TestInventory_Add(t *testing.T) {
	found := inventory{}
	found.add(openstack.Resource{Kind: "security group", ID: "1", Name: "a"})
	found.add(openstack.Resource{Kind: "security group", ID: "2", Name: "a"})
	found.add(openstack.Resource{Kind: "security rule", ID: "3", Name: "3"})
	assert.Equal(t, inventory{"security group a": 2, "security rule without a name": 1}, found)
}

func TestGrown(t *testing.T) {
	before := fleet.Live{Heap: 8_000_000, Goroutines: 100}
	require.NoError(t, grown("a", before, before))
	require.NoError(t, grown("a", before, fleet.Live{Heap: 13_000_000, Goroutines: 130}))
	assert.EqualError(t, grown("a", before, fleet.Live{Heap: 14_000_000, Goroutines: 131}),
		"the heap of a has grown from 8.0 MB to 14.0 MB, at most 13.1 MB is allowed\na has 131 goroutines and had 100, at most 130 are allowed")
}

func TestFaults(t *testing.T) {
	names := map[string]bool{}
	for _, f := range faults() {
		names[f.name] = true
	}
	assert.Len(t, names, len(faults()), "each has a name of its own")
	assert.Len(t, withoutKills(faults()), len(faults())-1)
}
