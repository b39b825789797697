package fake_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/keypairs"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/layer3/routers"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/security/groups"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/security/rules"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/networks"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/subnets"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
)

// shootResources makes, reads and removes what an infrastructure consists of.
type shootResources struct {
	*client
	name, publicID                               string
	networkID, subnetID, routerID, groupID, port string
}

func (s *shootResources) create(ctx context.Context) error {
	n, err := networks.Create(ctx, s.network, networks.CreateOpts{Name: s.name}).Extract()
	if err != nil {
		return err
	}
	sub, err := subnets.Create(ctx, s.network, subnets.CreateOpts{NetworkID: n.ID, Name: s.name, IPVersion: 4, CIDR: "10.250.0.0/16"}).Extract()
	if err != nil {
		return err
	}
	r, err := routers.Create(ctx, s.network, routers.CreateOpts{Name: s.name, GatewayInfo: &routers.GatewayInfo{NetworkID: s.publicID}}).Extract()
	if err != nil {
		return err
	}
	routerInterface, err := routers.AddInterface(ctx, s.network, r.ID, routers.AddInterfaceOpts{SubnetID: sub.ID}).Extract()
	if err != nil {
		return err
	}
	g, err := groups.Create(ctx, s.network, groups.CreateOpts{Name: s.name}).Extract()
	if err != nil {
		return err
	}
	s.networkID, s.subnetID, s.routerID, s.groupID, s.port = n.ID, sub.ID, r.ID, g.ID, routerInterface.PortID
	err = rules.CreateBulk(ctx, s.network, []rules.CreateOpts{{SecGroupID: g.ID, Direction: "ingress", EtherType: "IPv4", RemoteGroupID: g.ID}}).Err
	if err != nil {
		return err
	}
	return keypairs.Create(ctx, s.compute, keypairs.CreateOpts{Name: s.name, PublicKey: publicKey}).Err
}

func (s *shootResources) read(ctx context.Context) error {
	pages, err := networks.List(s.network, networks.ListOpts{Name: s.name}).AllPages(ctx)
	if err != nil {
		return err
	}
	all, err := networks.ExtractNetworks(pages)
	if err != nil || len(all) != 1 || all[0].ID != s.networkID {
		return fmt.Errorf("network %q: %d found, %w", s.name, len(all), err)
	}
	g, err := groups.Get(ctx, s.network, s.groupID).Extract()
	if err != nil || len(g.Rules) != 3 {
		return fmt.Errorf("group %q has the wrong rules: %w", s.name, err)
	}
	return nil
}

func (s *shootResources) remove(ctx context.Context) error {
	for _, do := range []func() error{
		func() error {
			return routers.RemoveInterface(ctx, s.network, s.routerID, routers.RemoveInterfaceOpts{SubnetID: s.subnetID}).Err
		},
		func() error { return routers.Delete(ctx, s.network, s.routerID).ExtractErr() },
		func() error { return networks.Delete(ctx, s.network, s.networkID).ExtractErr() },
		func() error { return groups.Delete(ctx, s.network, s.groupID).ExtractErr() },
		func() error { return keypairs.Delete(ctx, s.compute, s.name, nil).ExtractErr() },
	} {
		if err := do(); err != nil {
			return err
		}
	}
	return nil
}

// TestConcurrentShoots is most useful with -race: answers are encoded without the cloud's lock.
func TestConcurrentShoots(t *testing.T) {
	const shoots, concurrency = 200, 50
	cloud := start(t)
	before := cloud.State("")
	c := &client{}
	p, err := openstack.NewClient(cloud.AuthURL())
	require.NoError(t, err)
	p.HTTPClient = http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: concurrency}}
	require.NoError(t, openstack.Authenticate(t.Context(), p, memberOptions(cloud)))
	c.network, err = openstack.NewNetworkV2(p, gophercloud.EndpointOpts{})
	require.NoError(t, err)
	c.compute, err = openstack.NewComputeV2(p, gophercloud.EndpointOpts{})
	require.NoError(t, err)
	external := externalNetworkID(t, cloud)

	run := func(all []*shootResources, do func(*shootResources, context.Context) error) {
		g, ctx := errgroup.WithContext(t.Context())
		g.SetLimit(concurrency)
		for _, s := range all {
			g.Go(func() error { return do(s, ctx) })
		}
		require.NoError(t, g.Wait())
	}
	all := make([]*shootResources, shoots)
	for i := range all {
		all[i] = &shootResources{client: c, name: fmt.Sprintf("shoot-%d", i), publicID: external}
	}
	run(all, (*shootResources).create)
	state := cloud.State("garden")
	require.Len(t, state.Networks, shoots)
	addresses := map[string]bool{}
	for _, r := range state.Routers {
		addresses[r.Gateway.ExternalFixedIPs[0].IPAddress] = true
	}
	require.Len(t, addresses, shoots, "no external address is given out twice")
	run(all, (*shootResources).read)
	run(all, (*shootResources).remove)
	came, went := fake.Diff(before, cloud.State(""))
	require.Empty(t, came)
	require.Empty(t, went)
	require.Equal(t, 1, cloud.Logins())
}

// BenchmarkCall is one write and one read, to see what the fake itself costs.
func BenchmarkCall(b *testing.B) {
	cloud := start(b)
	c := member(b, cloud)
	for b.Loop() {
		n, err := networks.Create(b.Context(), c.network, networks.CreateOpts{Name: "n"}).Extract()
		require.NoError(b, err)
		require.NoError(b, networks.Delete(b.Context(), c.network, n.ID).ExtractErr())
	}
}
