package openstack_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	cloudtransport "github.com/trellis-garden/trellis/internal/cloud/transport"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/infrastructure"
	"github.com/trellis-garden/trellis/internal/infrastructure/infrastructuretest"
)

// suiteCloud is the fake OpenStack as the suite sees it.
type suiteCloud struct {
	fake  *fake.Cloud
	build func(*cloudopenstack.Sessions) infrastructure.Driver
}

var _ infrastructuretest.Cloud = (*suiteCloud)(nil)

func newSuiteCloud(shoot infrastructuretest.Identity, build func(*cloudopenstack.Sessions) infrastructure.Driver) (*suiteCloud, error) {
	c := &suiteCloud{fake: fake.New(), build: build}
	if err := c.fake.Start("127.0.0.1:0"); err != nil {
		return nil, err
	}
	if err := c.plantOthers(shoot.TechnicalID); err != nil {
		return nil, errors.Join(err, c.fake.Close())
	}
	return c, nil
}

// Inputs implements infrastructuretest.Cloud.
func (c *suiteCloud) Inputs() infrastructuretest.Inputs {
	version := openstackv1alpha1.GroupVersion().String()
	return infrastructuretest.Inputs{
		InfrastructureConfig: &openstackv1alpha1.InfrastructureConfig{
			TypeMeta:         metav1.TypeMeta{APIVersion: version, Kind: "InfrastructureConfig"},
			FloatingPoolName: fake.ExternalNetwork,
			Networks:         openstackv1alpha1.Networks{Workers: "10.250.0.0/16"},
		},
		CloudProfileConfig: &openstackv1alpha1.CloudProfileConfig{
			TypeMeta:    metav1.TypeMeta{APIVersion: version, Kind: "CloudProfileConfig"},
			KeyStoneURL: c.fake.AuthURL(),
			DNSServers:  []string{"192.0.2.53"},
			Constraints: openstackv1alpha1.Constraints{
				FloatingPools:         []openstackv1alpha1.FloatingPool{{Name: fake.ExternalNetwork}},
				LoadBalancerProviders: []openstackv1alpha1.LoadBalancerProvider{{Name: "octavia"}},
			},
		},
		Credentials: map[string][]byte{
			"domainName": []byte(fake.DefaultDomain),
			"tenantName": []byte(fake.DefaultProject),
			"username":   []byte(fake.DefaultUser),
			"password":   []byte(fake.DefaultPassword),
		},
		SSHPublicKey: []byte(publicKey),
	}
}

const publicKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILpjb/ba8Lb65RZDF36cTpHKdmz+YnnMDq4cxCQjiaoU suite"

// NewDriver implements infrastructuretest.Cloud. What is safe to repeat is repeated by the session as often as in
// production, after shorter pauses; a Retry-After of a second is too long for it and comes through to the driver.
func (c *suiteCloud) NewDriver(transport contracttest.Transport) (infrastructure.Driver, error) {
	return c.build(cloudopenstack.NewSessions(cloudopenstack.Options{
		Transport: transport,
		QPS:       -1,
		Retry:     cloudtransport.RetryPolicy{FirstPause: 5 * time.Millisecond, LongestPause: 100 * time.Millisecond},
	})), nil
}

// Close implements infrastructuretest.Cloud.
func (c *suiteCloud) Close() error { return c.fake.Close() }

// plantOthers makes what others own in the same project: namesakes without a mark, and another shoot's resources, whose
// technical ID begins with this shoot's.
func (c *suiteCloud) plantOthers(technicalID string) error {
	for name, mark := range map[string]string{
		technicalID:        "",
		technicalID + "-2": "Gardener shoot " + technicalID + "-2, uid 0d9c31d2-97ac-4d5c-a7bb-6b0d4b7ac7f0; managed, do not edit",
	} {
		if err := c.plantShoot(name, mark); err != nil {
			return err
		}
	}
	_, err := c.fake.CreateResource(fake.DefaultProject, "networks", fake.Attrs{"name": technicalID, "description": "a user's"})
	return err
}

// plantShoot makes all that a shoot consists of, and a load balancer in it.
func (c *suiteCloud) plantShoot(name, mark string) error {
	plant := func(collection string, attrs fake.Attrs) (string, error) {
		attrs["name"] = name
		if collection != "os-keypairs" {
			attrs["description"] = mark
		}
		return c.fake.CreateResource(fake.DefaultProject, collection, attrs)
	}
	network, err := plant("networks", fake.Attrs{})
	if err != nil {
		return err
	}
	subnet, err := plant("subnets", fake.Attrs{"network_id": network, "ip_version": 4, "cidr": "10.250.0.0/16"})
	if err != nil {
		return err
	}
	router, err := plant("routers", fake.Attrs{})
	if err != nil {
		return err
	}
	_, err = c.fake.DoAsOperator(fake.DefaultProject, http.MethodPut, services.Neutron,
		"/v2.0/routers/"+router+"/add_router_interface", map[string]any{"subnet_id": subnet})
	if err != nil {
		return err
	}
	_, groupErr := plant("security-groups", fake.Attrs{})
	_, keyErr := plant("os-keypairs", fake.Attrs{"public_key": publicKey})
	_, balancerErr := c.fake.CreateResource(fake.DefaultProject, "loadbalancers", fake.Attrs{
		"name":          "kube_service_" + name + "-2_default_web",
		"description":   "Kubernetes external service default/web from cluster " + name + "-2",
		"vip_subnet_id": subnet,
	})
	return errors.Join(groupErr, keyErr, balancerErr)
}

// resourceListing says how to list a kind of resource, and which of its attributes are the same in every run.
type resourceListing struct {
	kind    string
	service wire.Service
	path    string
	key     string
	facts   []string
}

func resourceListings() []resourceListing {
	return []resourceListing{
		{"network", services.Neutron, "/v2.0/networks", "networks", []string{"admin_state_up", "description", "mtu", "shared", "tags"}},
		{"subnet", services.Neutron, "/v2.0/subnets", "subnets", []string{
			"network_id", "cidr", "gateway_ip", "enable_dhcp", "dns_nameservers", "host_routes", "description", "tags",
		}},
		{"router", services.Neutron, "/v2.0/routers", "routers", []string{"admin_state_up", "description", "routes", "tags"}},
		{"port", services.Neutron, "/v2.0/ports", "ports", []string{"network_id", "device_owner", "device_id", "security_groups"}},
		{"floating IP", services.Neutron, "/v2.0/floatingips", "floatingips", []string{"description", "port_id"}},
		{"security group", services.Neutron, "/v2.0/security-groups", "security_groups", []string{"description", "tags"}},
		{"security group rule", services.Neutron, "/v2.0/security-group-rules", "security_group_rules", []string{
			"security_group_id", "direction", "ethertype", "protocol", "port_range_min", "port_range_max", "remote_ip_prefix", "remote_group_id",
		}},
		{"key pair", services.Nova, "/v2.1/os-keypairs", "keypairs", []string{"public_key"}},
		{"load balancer", services.Octavia, "/v2/lbaas/loadbalancers", "loadbalancers", []string{"description", "vip_subnet_id"}},
	}
}

// Resources implements infrastructuretest.Cloud. IDs in the facts are replaced by names.
func (c *suiteCloud) Resources() ([]infrastructuretest.Resource, error) {
	var resources []infrastructuretest.Resource
	var names []string
	for _, list := range resourceListings() {
		items, err := c.list(list)
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			resource, err := list.resource(item)
			if err != nil {
				return nil, err
			}
			if resource.ID != resource.Name {
				names = append(names, resource.ID, resource.Name)
			}
			resources = append(resources, resource)
		}
	}
	replacer := strings.NewReplacer(names...)
	for i := range resources {
		resources[i].Facts = replacer.Replace(resources[i].Facts)
	}
	return resources, nil
}

func (c *suiteCloud) list(list resourceListing) ([]map[string]any, error) {
	response, err := c.fake.DoAsOperator(fake.DefaultProject, http.MethodGet, list.service, list.path, nil)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(response[list.key])
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", list.path, err)
	}
	var items []map[string]any
	if err := json.Unmarshal(raw, &items); err != nil {
		return nil, fmt.Errorf("listing %s: %w", list.path, err)
	}
	return items, nil
}

func (i resourceListing) resource(item map[string]any) (infrastructuretest.Resource, error) {
	if inner, ok := item["keypair"].(map[string]any); ok {
		item = inner // Nova wraps each one
	}
	resource := infrastructuretest.Resource{Kind: i.kind, ID: toText(item["id"]), Name: toText(item["name"]), Version: toText(item["revision_number"])}
	if resource.ID == "" {
		resource.ID = resource.Name
	}
	facts := map[string]any{}
	for _, attribute := range i.facts {
		facts[attribute] = item[attribute]
	}
	if gateway, ok := item["external_gateway_info"].(map[string]any); ok {
		facts["gateway"] = []any{gateway["network_id"], gateway["enable_snat"]}
	}
	raw, err := json.Marshal(facts)
	resource.Facts = string(raw)
	return resource, err
}

func toText(value any) string {
	if value == nil {
		return ""
	}
	return fmt.Sprint(value)
}
