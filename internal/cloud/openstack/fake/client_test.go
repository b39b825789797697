package fake_test

import (
	"testing"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
)

// client is a real client of one user.
type client struct {
	provider                                                       *gophercloud.ProviderClient
	identity, network, compute, image, loadBalancer, share, volume *gophercloud.ServiceClient
}

func start(t *testing.T, opts ...fake.Option) *fake.Cloud {
	t.Helper()
	cloud := fake.New(opts...)
	require.NoError(t, cloud.Start("127.0.0.1:0"))
	t.Cleanup(func() { require.NoError(t, cloud.Close()) })
	return cloud
}

func memberOptions(cloud *fake.Cloud) gophercloud.AuthOptions {
	return gophercloud.AuthOptions{
		IdentityEndpoint: cloud.AuthURL(), Username: fake.DefaultUser, Password: fake.DefaultPassword,
		DomainName: fake.DefaultDomain, TenantName: fake.DefaultProject, AllowReauth: true,
	}
}

func adminOptions(cloud *fake.Cloud) gophercloud.AuthOptions {
	opts := memberOptions(cloud)
	opts.Username, opts.Password, opts.TenantName = fake.AdminUser, fake.AdminPassword, fake.AdminProject
	return opts
}

// member logs in as the plain member of the default project.
func member(t *testing.T, cloud *fake.Cloud) *client {
	t.Helper()
	return login(t, memberOptions(cloud))
}

func login(t *testing.T, opts gophercloud.AuthOptions) *client {
	t.Helper()
	p, err := openstack.AuthenticatedClient(t.Context(), opts)
	require.NoError(t, err)
	eo := gophercloud.EndpointOpts{Region: fake.DefaultRegion}
	c := &client{provider: p}
	for _, s := range []struct {
		into **gophercloud.ServiceClient
		make func(*gophercloud.ProviderClient, gophercloud.EndpointOpts) (*gophercloud.ServiceClient, error)
	}{
		{&c.identity, openstack.NewIdentityV3},
		{&c.network, openstack.NewNetworkV2},
		{&c.compute, openstack.NewComputeV2},

		{&c.loadBalancer, openstack.NewLoadBalancerV2},
	} {
		*s.into, err = s.make(p, eo)
		require.NoError(t, err)
	}
	return c
}
