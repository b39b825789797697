package openstack

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
)

func allActions() []action {
	return []action{createAction, abandonAction, deleteAction, failedBuildAction, orphanAction, adoptAction}
}

// shortExploration is which cases a short run explores. It is prime, so that each kind of fault meets other calls.
const shortExploration = 7

func TestExploration(t *testing.T) {
	for name, allFeatures := range map[string]bool{"a plain machine": false, "a machine with all there is": true} {
		t.Run(name, func(t *testing.T) {
			e := &exploration{allFeatures: allFeatures, actions: allActions(), maxViolations: 30}
			if testing.Short() {
				e.every = shortExploration
			}
			require.NoError(t, e.run(t.Context()))
			t.Logf("%d cases; calls: %v", e.cases, e.calls)
			slices.Sort(e.violations)
			require.Empty(t, strings.Join(e.violations, "\n"))
			require.Zero(t, e.missed)
		})
	}
}

// TestExploration_BrokenDrivers explores drivers that are broken on purpose.
func TestExploration_BrokenDrivers(t *testing.T) {
	for sentence, wrap := range map[string]func(client) client{
		"it does not tag its servers":                            func(c client) client { return withoutTags{c} },
		"it does not mark its ports":                             func(c client) client { return withoutDescriptions{c} },
		"it believes that there are no servers":                  func(c client) client { return withoutServerListing{c} },
		"it does not ask for ports of a process before it":       func(c client) client { return withoutPortListing{c} },
		"it requests a server again whose creation is uncertain": func(c client) client { return retryingClient{c} },
		"it deletes no port that has a server":                   func(c client) client { return boundPortLeakingClient{c} },
		"it forgets to delete ports":                             func(c client) client { return portLeakingClient{c} },
	} {
		t.Run(sentence, func(t *testing.T) {
			e := &exploration{wrap: []func(client) client{wrap}, actions: allActions(), maxViolations: 1}
			require.NoError(t, e.run(t.Context()))
			require.NotEmpty(t, e.violations)
			t.Log(e.violations[0])
		})
	}
}

type withoutTags struct{ client }

func (w withoutTags) CreateServer(ctx context.Context, create cloudopenstack.ServerCreate) (cloudopenstack.Server, error) {
	create.Metadata = nil
	return w.client.CreateServer(ctx, create)
}

type withoutPortListing struct{ client }

func (w withoutPortListing) ListPorts(ctx context.Context, filter cloudopenstack.PortFilter) ([]cloudopenstack.Port, error) {
	if filter.Name == "" {
		return nil, nil
	}
	return w.client.ListPorts(ctx, filter)
}

type withoutDescriptions struct{ client }

func (w withoutDescriptions) CreatePort(ctx context.Context, create cloudopenstack.PortCreate) (cloudopenstack.Port, error) {
	create.Name, create.Description = "", ""
	return w.client.CreatePort(ctx, create)
}

type withoutServerListing struct{ client }

func (withoutServerListing) ListServers(context.Context, cloudopenstack.ServerFilter) ([]cloudopenstack.Server, error) {
	return nil, nil
}

type retryingClient struct{ client }

func (i retryingClient) CreateServer(ctx context.Context, create cloudopenstack.ServerCreate) (cloudopenstack.Server, error) {
	server, err := i.client.CreateServer(ctx, create)
	if cloud.KindOf(err) == cloud.Unavailable {
		networks, err := i.client.ListNetworks(ctx, cloudopenstack.NetworkFilter{Name: technicalID})
		if err != nil || len(networks) != 1 {
			return server, err
		}
		create.PortIDs, create.NetworkIDs = nil, []string{networks[0].ID}
		return i.client.CreateServer(ctx, create)
	}
	return server, err
}

type portLeakingClient struct{ client }

func (portLeakingClient) DeletePort(context.Context, string) error { return nil }

type boundPortLeakingClient struct{ client }

func (u boundPortLeakingClient) DeletePort(ctx context.Context, id string) error {
	ports, err := u.client.ListPorts(ctx, cloudopenstack.PortFilter{IDs: []string{id}})
	if err != nil || len(ports) == 1 && ports[0].DeviceID != "" {
		return err
	}
	return u.client.DeletePort(ctx, id)
}
