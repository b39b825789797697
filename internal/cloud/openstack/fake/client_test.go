package fake_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
)

// client is a real client of one user.
type client struct {
	provider                                             *gophercloud.ProviderClient
	network, compute, image, loadBalancer, share, volume *gophercloud.ServiceClient
}

func start(t testing.TB, opts ...fake.Option) *fake.Cloud {
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

// member logs in as the plain member of the default project.
func member(t testing.TB, cloud *fake.Cloud) *client {
	t.Helper()
	return login(t, memberOptions(cloud))
}

// otherMember logs in as a plain member of another project.
func otherMember(t testing.TB, cloud *fake.Cloud) *client {
	t.Helper()
	cloud.AddProject("elsewhere")
	_, err := cloud.AddUser("stranger", "secret", "elsewhere")
	require.NoError(t, err)
	opts := memberOptions(cloud)
	opts.Username, opts.TenantName = "stranger", "elsewhere"
	return login(t, opts)
}

func login(t testing.TB, opts gophercloud.AuthOptions) *client {
	t.Helper()
	p, err := openstack.AuthenticatedClient(t.Context(), opts)
	require.NoError(t, err)
	eo := gophercloud.EndpointOpts{Region: fake.DefaultRegion}
	c := &client{provider: p}
	for _, s := range []struct {
		into **gophercloud.ServiceClient
		make func(*gophercloud.ProviderClient, gophercloud.EndpointOpts) (*gophercloud.ServiceClient, error)
	}{
		{&c.network, openstack.NewNetworkV2},
		{&c.compute, openstack.NewComputeV2},
		{&c.image, openstack.NewImageV2},
		{&c.loadBalancer, openstack.NewLoadBalancerV2},
		{&c.share, openstack.NewSharedFileSystemV2},
		{&c.volume, openstack.NewBlockStorageV3},
	} {
		*s.into, err = s.make(p, eo)
		require.NoError(t, err)
	}
	return c
}

// createResource is Cloud.Plant in the default project.
func createResource(t testing.TB, cloud *fake.Cloud, collection string, attrs fake.Attrs) string {
	t.Helper()
	id, err := cloud.CreateResource(fake.DefaultProject, collection, attrs)
	require.NoError(t, err)
	return id
}

// externalNetworkID is the ID of the external network.
func externalNetworkID(t testing.TB, cloud *fake.Cloud) string {
	t.Helper()
	for _, n := range cloud.State("").Networks {
		if n.Name == fake.ExternalNetwork {
			return n.ID
		}
	}
	t.Fatal("there is no external network")
	return ""
}

// externalSubnet is the ID of a subnet of the external network.
func externalSubnet(t testing.TB, cloud *fake.Cloud, name string) string {
	t.Helper()
	for _, s := range cloud.State("").Subnets {
		if s.Name == name {
			return s.ID
		}
	}
	t.Fatalf("there is no subnet %q", name)
	return ""
}

// errorText is an answer's status and the machine-readable name in its body: "409 NetworkInUse"; "" for no error.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	e, isResponse := errors.AsType[gophercloud.ErrUnexpectedResponseCode](err)
	if !isResponse {
		return "no response: " + err.Error()
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", e.Actual, typeOf(e.Body)))
}

// typeOf reads the error format of every service.
func typeOf(body []byte) string {
	var all map[string]json.RawMessage
	if json.Unmarshal(body, &all) != nil {
		return "not JSON"
	}
	if code, isOctavia := all["faultcode"]; isOctavia {
		return strings.Trim(string(code), `"`)
	}
	for key, raw := range all {
		var inner struct {
			Type  string `json:"type"`
			Title string `json:"title"`
		}
		if json.Unmarshal(raw, &inner) == nil {
			return cmp.Or(inner.Type, inner.Title, key)
		}
	}
	return ""
}
