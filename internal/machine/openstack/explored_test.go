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

func allDeeds() []deed { return []deed{making, dropping, ending, failing, straying, inheriting} }

func TestNothingIsLostOrDoubledWhateverGoesWrong(t *testing.T) {
	for name, rich := range map[string]bool{"a plain machine": false, "a machine with all there is": true} {
		t.Run(name, func(t *testing.T) {
			e := &exploration{rich: rich, deeds: allDeeds(), enough: 30}
			require.NoError(t, e.run(t.Context()))
			t.Logf("%d cases; calls: %v", e.cases, e.calls)
			slices.Sort(e.violations)
			require.Empty(t, strings.Join(e.violations, "\n"))
			require.Zero(t, e.missed)
		})
	}
}

// TestTheExplorationFindsBrokenDrivers lets drivers that are broken on purpose be explored.
func TestTheExplorationFindsBrokenDrivers(t *testing.T) {
	for sentence, bend := range map[string]func(line) line{
		"it does not tag its servers":                           func(l line) line { return withoutTags{l} },
		"it does not mark its ports":                            func(l line) line { return withoutMarks{l} },
		"it believes that there are no servers":                 func(l line) line { return withoutServers{l} },
		"it does not ask for ports of a process before it":      func(l line) line { return withoutPast{l} },
		"it asks again for a server whose creation is in doubt": func(l line) line { return impatient{l} },
		"it deletes no port that has a server":                  func(l line) line { return unbinder{l} },
		"it forgets to delete ports":                            func(l line) line { return portKeeper{l} },
	} {
		t.Run(sentence, func(t *testing.T) {
			e := &exploration{bend: []func(line) line{bend}, deeds: allDeeds(), enough: 1}
			require.NoError(t, e.run(t.Context()))
			require.NotEmpty(t, e.violations)
			t.Log(e.violations[0])
		})
	}
}

type withoutTags struct{ line }

func (w withoutTags) CreateServer(ctx context.Context, create cloudopenstack.ServerCreate) (cloudopenstack.Server, error) {
	create.Metadata = nil
	return w.line.CreateServer(ctx, create)
}

type withoutPast struct{ line }

func (w withoutPast) ListPorts(ctx context.Context, filter cloudopenstack.PortFilter) ([]cloudopenstack.Port, error) {
	if filter.Name == "" {
		return nil, nil
	}
	return w.line.ListPorts(ctx, filter)
}

type withoutMarks struct{ line }

func (w withoutMarks) CreatePort(ctx context.Context, create cloudopenstack.PortCreate) (cloudopenstack.Port, error) {
	create.Name, create.Description = "", ""
	return w.line.CreatePort(ctx, create)
}

type withoutServers struct{ line }

func (withoutServers) ListServers(context.Context, cloudopenstack.ServerFilter) ([]cloudopenstack.Server, error) {
	return nil, nil
}

type impatient struct{ line }

func (i impatient) CreateServer(ctx context.Context, create cloudopenstack.ServerCreate) (cloudopenstack.Server, error) {
	server, err := i.line.CreateServer(ctx, create)
	if cloud.KindOf(err) == cloud.Unavailable {
		networks, err := i.line.ListNetworks(ctx, cloudopenstack.NetworkFilter{Name: technicalID})
		if err != nil || len(networks) != 1 {
			return server, err
		}
		create.PortIDs, create.NetworkIDs = nil, []string{networks[0].ID}
		return i.line.CreateServer(ctx, create)
	}
	return server, err
}

type portKeeper struct{ line }

func (portKeeper) DeletePort(context.Context, string) error { return nil }

type unbinder struct{ line }

func (u unbinder) DeletePort(ctx context.Context, id string) error {
	ports, err := u.line.ListPorts(ctx, cloudopenstack.PortFilter{IDs: []string{id}})
	if err != nil || len(ports) == 1 && ports[0].DeviceID != "" {
		return err
	}
	return u.line.DeletePort(ctx, id)
}
