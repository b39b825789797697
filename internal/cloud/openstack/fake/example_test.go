package fake_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/networks"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

func Example() {
	cloud := fake.New()
	if err := cloud.Start("127.0.0.1:0"); err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = cloud.Close() }()

	ctx := context.Background()
	provider, err := openstack.AuthenticatedClient(ctx, gophercloud.AuthOptions{
		IdentityEndpoint: cloud.AuthURL(), DomainName: fake.DefaultDomain,
		Username: fake.DefaultUser, Password: fake.DefaultPassword, TenantName: fake.DefaultProject,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	network, err := openstack.NewNetworkV2(provider, gophercloud.EndpointOpts{Region: fake.DefaultRegion})
	if err != nil {
		fmt.Println(err)
		return
	}

	cloud.Inject(wire.Fault{Match: wire.Match{Method: http.MethodPost, Path: "/v2.0/networks"}, Status: http.StatusServiceUnavailable})
	for range 2 {
		err = networks.Create(ctx, network, networks.CreateOpts{Name: "shoot--foo--bar"}).Err
		fmt.Println("created:", err == nil)
	}
	fmt.Print(cloud.Tree(fake.DefaultProject))
	fmt.Print(cloud.Log())
	// Output:
	// created: false
	// created: true
	// garden
	// ├── external network public
	// └── network shoot--foo--bar
	//    1  keystone POST /v3/auth/tokens 201
	//    2  neutron GET / 200
	//    3  neutron POST /v2.0/networks 503
	//    4  neutron POST /v2.0/networks 201
}
