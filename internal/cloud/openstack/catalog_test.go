package openstack_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/openstack"
)

func TestCatalog_Endpoint(t *testing.T) {
	network := listNetworks
	server := func(ctx context.Context, s *openstack.Session) error {
		_, err := s.GetServer(ctx, "s")
		return err
	}
	balancer := func(ctx context.Context, s *openstack.Session) error {
		_, err := s.ListLoadBalancers(ctx, openstack.LoadBalancerFilter{})
		return err
	}
	share := func(ctx context.Context, s *openstack.Session) error {
		_, err := s.ListShareNetworks(ctx, openstack.ShareNetworkFilter{})
		return err
	}
	image := func(ctx context.Context, s *openstack.Session) error {
		_, err := s.ListImages(ctx, openstack.ImageFilter{})
		return err
	}
	volume := func(ctx context.Context, s *openstack.Session) error {
		_, err := s.ListVolumes(ctx, openstack.VolumeFilter{})
		return err
	}
	for name, tc := range map[string]struct {
		kind, url string
		do        func(context.Context, *openstack.Session) error
		want      string
	}{
		"Neutron without a version":        {"network", "https://cloud.test:9696", network, "GET /v2.0/networks"},
		"Neutron without, with a slash":    {"network", "https://cloud.test:9696/", network, "GET /v2.0/networks"},
		"Neutron below a path":             {"network", "https://cloud.test/network", network, "GET /network/v2.0/networks"},
		"Neutron with its version":         {"network", "https://cloud.test/network/v2.0", network, "GET /network/v2.0/networks"},
		"Neutron with, and with a slash":   {"network", "https://cloud.test/network/v2.0/", network, "GET /network/v2.0/networks"},
		"Neutron under its newer type":     {"networking", "https://cloud.test/network", network, "GET /network/v2.0/networks"},
		"Nova with its version":            {"compute", "https://cloud.test/v2.1", server, "GET /v2.1/servers/s"},
		"Nova with version and project":    {"compute", "https://cloud.test/compute/v2.1/p1", server, "GET /compute/v2.1/p1/servers/s"},
		"Nova without a version":           {"compute", "https://cloud.test/compute", server, "GET /compute/v2.1/servers/s"},
		"Octavia without a version":        {"load-balancer", "https://cloud.test/lb", balancer, "GET /lb/v2.0/lbaas/loadbalancers"},
		"Octavia with the short version":   {"load-balancer", "https://cloud.test/lb/v2", balancer, "GET /lb/v2/lbaas/loadbalancers"},
		"Octavia with the long version":    {"load-balancer", "https://cloud.test/lb/v2.0/", balancer, "GET /lb/v2.0/lbaas/loadbalancers"},
		"Manila under its usual type":      {"sharev2", "https://cloud.test/share/v2/p1", share, "GET /share/v2/p1/share-networks/detail"},
		"Manila under its official type":   {"shared-file-system", "https://cloud.test/share/v2", share, "GET /share/v2/share-networks/detail"},
		"Glance without a version":         {"image", "https://cloud.test/image", image, "GET /image/v2/images"},
		"Glance with its version":          {"image", "https://cloud.test:9292/v2/", image, "GET /v2/images"},
		"Cinder under its usual type":      {"volumev3", "https://cloud.test/volume/v3/p1", volume, "GET /volume/v3/p1/volumes/detail"},
		"Cinder under its official type":   {"block-storage", "https://cloud.test/volume/v3", volume, "GET /volume/v3/volumes/detail"},
		"a path that only looks versioned": {"network", "https://cloud.test/vpn/v2-gate", network, "GET /vpn/v2-gate/v2.0/networks"},
	} {
		t.Run(name, func(t *testing.T) {
			stub := &stubCloud{
				endpoints: map[string]string{tc.kind: tc.url},
				serve:     status(200, `{"networks": [], "server": {}, "loadbalancers": [], "share_networks": [], "images": [], "volumes": []}`),
			}
			require.NoError(t, tc.do(t.Context(), stub.session(t, openstack.Options{})))
			assert.Equal(t, []string{loginRequest, tc.want}, stub.seen(), "no call for the sake of versions")
		})
	}
}

func TestCredentials_AuthURLVersion(t *testing.T) {
	for _, url := range []string{
		"https://cloud.test/identity", "https://cloud.test/identity/", "https://cloud.test/identity/v3", "https://cloud.test/identity/v3/",
	} {
		t.Run(url, func(t *testing.T) {
			stub := &stubCloud{}
			c := credentials()
			c.AuthURL = url
			_, err := stub.sessions(openstack.Options{}).Get(t.Context(), c, "one")
			require.NoError(t, err)
			assert.Equal(t, []string{loginRequest}, stub.seen())
		})
	}
}

func TestIsServiceMissing(t *testing.T) {
	stub := &stubCloud{endpoints: map[string]string{
		"network": "https://cloud.test/network", "load-balancer": "https://cloud.test/lb",
	}}
	session := stub.session(t, openstack.Options{})
	assert.True(t, session.HasLoadBalancers())
	assert.False(t, session.HasShares())
	assert.Len(t, stub.seen(), 1, "asking costs no call")

	_, err := session.ListShareNetworks(t.Context(), openstack.ShareNetworkFilter{})
	require.EqualError(t, err, `the cloud offers no shared-file-system service to this project in region "one"`)
	assert.True(t, openstack.IsServiceMissing(err))
	assert.Equal(t, cloud.Configuration, cloud.KindOf(err))
	require.NoError(t, listNetworks(t.Context(), session), "the rest works")

	elsewhere, err := stub.sessions(openstack.Options{}).Get(t.Context(), credentials(), "two")
	require.NoError(t, err)
	assert.False(t, elsewhere.HasLoadBalancers())
	require.EqualError(t, listNetworks(t.Context(), elsewhere),
		`the cloud offers no network service to this project in region "two", but in one`)

	anywhere, err := stub.sessions(openstack.Options{}).Get(t.Context(), credentials(), "")
	require.NoError(t, err)
	require.NoError(t, listNetworks(t.Context(), anywhere))
	assert.False(t, openstack.IsServiceMissing(nil))
}
