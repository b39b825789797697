package aws

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	cloudaws "github.com/trellis-garden/trellis/internal/cloud/aws"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake"
)

// shortExploration is which cases a short run explores. It is prime, so that each kind of fault meets other calls.
const shortExploration = 7

func TestExploration(t *testing.T) {
	all, err := newClouds()
	require.NoError(t, err)
	for name, e := range map[string]*exploration{
		"a plain machine":                       {},
		"a machine with all there is":           {allFeatures: true},
		"a cloud that shows new resources late": {lag: fake.Lag{Reads: 1, TagReads: 3}},
	} {
		t.Run(name, func(t *testing.T) {
			e.clouds, e.actions, e.maxViolations = all, allActions(), 30
			if testing.Short() {
				e.every = shortExploration
			}
			require.NoError(t, e.run(t.Context()))
			t.Logf("%d cases; calls: %v", e.cases, e.calls)
			slices.Sort(e.violations)
			require.Empty(t, strings.Join(e.violations, "\n"))
			if e.lag.Reads == 0 { // otherwise the number of calls varies
				require.Zero(t, e.missed)
			}
		})
	}
}

// TestExploration_BrokenDrivers explores drivers that are broken on purpose.
func TestExploration_BrokenDrivers(t *testing.T) {
	all, err := newClouds()
	require.NoError(t, err)
	for sentence, wrap := range map[string]func(client) client{
		"it does not tag its instances":                  func(c client) client { return withoutTags{c} },
		"it requests instances without tokens":           func(c client) client { return withoutTokens{c} },
		"it believes that there are no instances":        func(c client) client { return withoutListing{c} },
		"it forgets to terminate instances":              func(c client) client { return leakingClient{c} },
		"it leaves the source/destination check enabled": func(c client) client { return checkingClient{c} },
	} {
		t.Run(sentence, func(t *testing.T) {
			e := &exploration{clouds: all, wrap: []func(client) client{wrap}, actions: allActions(), maxViolations: 1}
			require.NoError(t, e.run(t.Context()))
			require.NotEmpty(t, e.violations)
			t.Log(e.violations[0])
		})
	}
}

type withoutTags struct{ client }

func (w withoutTags) CreateInstance(ctx context.Context, wanted cloudaws.InstanceCreate) (cloudaws.Instance, error) {
	wanted.Tags = nil
	return w.client.CreateInstance(ctx, wanted)
}

type withoutTokens struct{ client }

func (w withoutTokens) CreateInstance(ctx context.Context, wanted cloudaws.InstanceCreate) (cloudaws.Instance, error) {
	wanted.Token = ""
	return w.client.CreateInstance(ctx, wanted)
}

type withoutListing struct{ client }

func (withoutListing) ListInstances(context.Context, cloudaws.InstanceFilter) ([]cloudaws.Instance, error) {
	return nil, nil
}

type leakingClient struct{ client }

func (leakingClient) TerminateInstance(context.Context, string) error { return nil }

type checkingClient struct{ client }

func (checkingClient) DisableSourceDestCheck(context.Context, string) error { return nil }
