package conformance

import (
	"net/http"
	"slices"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func quotas() []Behaviour {
	return slices.Concat(quotasOfNetworking(), specialQuotasOfNetworking(), otherQuotas(), quotasOfVolumes(), quotasOfLoadBalancers())
}

// quotaPath is where an operator sets the quota of the member's project, and around the values stands key.
func (c *Case) quotaPath(s Service) (path, key string) {
	switch s {
	case Network:
		return "/v2.0/quotas/" + c.Member.ProjectID, "quota"
	case LoadBalancer:
		return "/v2/lbaas/quotas/" + c.Member.ProjectID, "quota"
	case Compute:
		return "/v2.1/os-quota-sets/" + c.Member.ProjectID, "quota_set"
	default: // Cinder wants the caller's own project in front
		return "/v3/" + c.Operator.ProjectID + "/os-quota-sets/" + c.Member.ProjectID, "quota_set"
	}
}

// SetQuota sets quotas of the member's project, quietly. They are lifted at the end of the case.
func (c *Case) SetQuota(s Service, limits Body) {
	c.Helper()
	path, key := c.quotaPath(s)
	c.RequestAtCleanup(c.Operator, http.MethodDelete, s, path, nil)
	c.WithoutRecording(func() {
		response := c.Operator.Put(s, path, Body{key: limits})
		require.Lessf(c, response.Status, 300, "%s: %s", response.request, response.Raw)
	})
}

// limitedResource is a resource of Neutron with a quota.
type limitedResource struct {
	called, quota, collection string
	// attributes are those of a new one, the n-th of the case.
	attributes func(c *Case, n int) Body
	// before is how many there are at first.
	before func(c *Case) int
}

func none(*Case) int { return 0 }

func limitedResources() []limitedResource {
	named := func(*Case, int) Body { return Body{"name": "limited"} }
	return []limitedResource{
		{"networks", "network", "networks", named, none},
		{"routers", "router", "routers", named, none},
		{"security groups", "security_group", "security-groups", named, func(c *Case) int {
			c.Helper()
			count := 0
			c.WithoutRecording(func() {
				count = len(c.Member.Get(Network, "/v2.0/security-groups?project_id="+c.Member.ProjectID).List("security_groups"))
			})
			return count
		}},
		{"subnet pools", "subnetpool", "subnetpools", func(*Case, int) Body { return Body{"name": "limited", "prefixes": []string{"10.9.0.0/16"}} }, none},
		{"floating IPs", "floatingip", "floatingips", func(c *Case, _ int) Body { return Body{"floating_network_id": c.External.ID()} }, none},
		{"subnets", "subnet", "subnets", func(c *Case, _ int) Body {
			return Body{"network_id": c.Network().ID(), "cidr": "10.9.0.0/24", "ip_version": 4}
		}, none},
		{"ports", "port", "ports", func(c *Case, _ int) Body { return Body{"network_id": c.Network().ID()} }, none},
	}
}

// quotasOfNetworking tries the same with everything that a project can have too much of.
func quotasOfNetworking() []Behaviour {
	var all []Behaviour
	for _, client := range limitedResources() {
		path, key := "/v2.0/"+client.collection, client.quota
		all = append(all, behaviour("the quota of "+client.called+" is kept, and what is deleted makes room", func(c *Case) {
			c.SetQuota(Network, Body{client.quota: client.before(c) + 1})
			body := func(n int) Body { return Body{key: client.attributes(c, n)} }
			first := c.Fixture(Network, path, body(1))
			c.TryCreate(Network, path, body(2)).AssertError(http.StatusConflict, "OverQuota").AssertMessage("Quota exceeded for resources: ['%s'].", client.quota)
			c.Member.Delete(Network, path+"/"+first.ID()).RequireStatus(http.StatusNoContent)
			c.Fixture(Network, path, body(3))
		}))
	}
	return all
}

func specialQuotasOfNetworking() []Behaviour {
	return []Behaviour{
		behaviour("a quota of zero forbids, one of -1 does not limit, and one below what there is only stops", func(c *Case) {
			try := func() *Response {
				return c.TryCreate(Network, "/v2.0/networks", Body{"network": Body{"name": "limited"}})
			}
			c.SetQuota(Network, Body{"network": 0})
			try().AssertError(http.StatusConflict, "OverQuota")
			c.SetQuota(Network, Body{"network": -1})
			c.Network()
			c.Network()
			c.SetQuota(Network, Body{"network": 1})
			try().AssertError(http.StatusConflict, "OverQuota")
			assert.Len(c, c.Member.Get(Network, "/v2.0/networks?name=given&fields=name").List("networks"), 2)
		}),
		behaviour("several of a kind that are too many together are refused together", func(c *Case) {
			c.SetQuota(Network, Body{"network": 1})
			c.Member.Post(Network, "/v2.0/networks", Body{"networks": []Body{{"name": "limited"}, {"name": "limited"}}}).
				AssertError(http.StatusConflict, "OverQuota").AssertMessage("Quota exceeded for resources: ['network'].")
			assert.Empty(c, c.Member.Get(Network, "/v2.0/networks?name=limited").List("networks"))
		}),
		behaviour("the quota of rules stops a rule as well as a group, which is born with rules", func(c *Case) {
			group := c.SecurityGroup()
			rules := 0
			c.WithoutRecording(func() {
				rules = len(c.Member.Get(Network, "/v2.0/security-group-rules?project_id="+c.Member.ProjectID).List("security_group_rules"))
			})
			c.SetQuota(Network, Body{"security_group_rule": rules})
			c.TryCreate(Network, "/v2.0/security-group-rules", Body{"security_group_rule": Body{
				"security_group_id": group.ID(), "direction": "ingress", "ethertype": "IPv4", "protocol": "tcp",
			}}).AssertError(http.StatusConflict, "OverQuota").AssertMessage("Quota exceeded for resources: ['security_group_rule'].")
			c.TryCreate(Network, "/v2.0/security-groups", Body{"security_group": Body{"name": "limited"}}).
				AssertError(http.StatusConflict, "OverQuota")
			assert.Empty(c, c.Member.Get(Network, "/v2.0/security-groups?name=limited").List("security_groups"))
		}),
		behaviour("ports that Neutron makes for routers and floating IPs are never too many, but one in a subnet takes a place", func(c *Case) {
			network := c.Network()
			subnet := c.Subnet(network, "10.9.0.0/24")
			c.SetQuota(Network, Body{"port": 0})
			c.Interface(c.RouterWithGateway(), subnet)
			address := c.Member.Post(Network, "/v2.0/floatingips", Body{"floatingip": Body{"floating_network_id": c.External.ID()}})
			c.DeleteAtCleanup(c.Member, Network, "/v2.0/floatingips/"+address.RequireStatus(http.StatusCreated).ID())
			c.SetQuota(Network, Body{"port": 1})
			c.TryCreate(Network, "/v2.0/ports", Body{"port": Body{"network_id": network.ID()}}).AssertError(http.StatusConflict, "OverQuota")
			c.SetQuota(Network, Body{"port": 2})
			c.Port(network)
		}),
		behaviour("what is refused for another reason is refused for that, though the quota is used up", func(c *Case) {
			c.SetQuota(Network, Body{"network": 0, "subnet": 0, "port": 0})
			c.TryCreate(Network, "/v2.0/networks", Body{"network": Body{"colour": "red"}}).AssertError(http.StatusBadRequest, "HTTPBadRequest")
			c.TryCreate(Network, "/v2.0/ports", Body{"port": Body{"network_id": zeroID}}).AssertError(http.StatusNotFound, "NetworkNotFound")
		}),
	}
}

// zeroID is the ID of nothing.
const zeroID = "00000000-0000-4000-8000-000000000000"

func otherQuotas() []Behaviour {
	return []Behaviour{
		behaviour("a project reads its own quotas, and only operators set and lift them", func(c *Case) {
			for _, of := range []struct {
				service Service
				limits  Body
			}{
				{Network, Body{
					"network": 1, "subnet": 2, "subnetpool": 3, "port": 4, "router": 5, "floatingip": 6, "security_group": 7,
					"security_group_rule": 8, "rbac_policy": 9,
				}},
				{Compute, Body{"instances": 1, "cores": 2, "ram": 3, "key_pairs": 4, "server_groups": 5}},
				{Volume, Body{"volumes": 1, "gigabytes": 2}},
				{LoadBalancer, Body{"load_balancer": 1}},
			} {
				c.SetQuota(of.service, of.limits)
				path, key := c.quotaPath(of.service)
				c.Operator.Put(of.service, path, Body{key: of.limits})
				own := strings.Replace(path, c.Operator.ProjectID, c.Member.ProjectID, 1)
				shown := c.Member.Get(of.service, own).RequireStatus(http.StatusOK)
				for resource, limit := range of.limits {
					assert.Equalf(c, text(limit), shown.Text(resource), "%s: %s", of.service, resource)
				}
				theirs := strings.Replace(path, c.Operator.ProjectID, c.OtherMember.ProjectID, 1)
				for _, refused := range []*Response{
					c.Member.Put(of.service, own, Body{key: of.limits}),
					c.Member.Delete(of.service, own),
					c.OtherMember.Get(of.service, theirs),
				} {
					assert.Equalf(c, http.StatusForbidden, refused.Status, "%s: %s", refused.request, refused.Raw)
				}
				c.Operator.Put(of.service, path, Body{key: Body{"wishes": 3}})
				c.Operator.Delete(of.service, path)
			}
		}),
		behaviour("a server beyond the quota is forbidden, with numbers", func(c *Case) {
			network, _ := c.NetworkForServers()
			for _, limits := range []Body{
				{"instances": 0, "cores": -1, "ram": -1}, {"instances": -1, "cores": 0, "ram": -1}, {"instances": -1, "cores": -1, "ram": 511},
			} {
				c.SetQuota(Compute, limits)
				response := c.TryCreate(Compute, "/v2.1/servers", c.ServerBody(Body{"networks": []Body{{"uuid": network.ID()}}}))
				response.AssertError(http.StatusForbidden, "forbidden").AssertMessage("Quota exceeded for ")
			}
			assert.Empty(c, c.Member.Get(Compute, "/v2.1/servers").List("servers"))
		}),
		behaviour("a key pair or a server group beyond the quota is forbidden, and so is what nobody may do", func(c *Case) {
			c.SetQuota(Compute, Body{"key_pairs": 0, "server_groups": 0})
			c.TryCreate(Compute, "/v2.1/os-keypairs", Body{"keypair": Body{"name": "limited"}}).
				AssertError(http.StatusForbidden, "forbidden").AssertMessage("Quota exceeded, too many key pairs.")
			c.TryCreate(Compute, "/v2.1/os-server-groups", Body{"server_group": Body{"name": "limited", "policies": []string{"affinity"}}}).
				AssertError(http.StatusForbidden, "forbidden").AssertMessage("Quota exceeded, too many server groups.")
			assert.Empty(c, c.Member.Get(Compute, "/v2.1/os-keypairs").List("keypairs"))
		}),
	}
}

func quotasOfVolumes() []Behaviour {
	return []Behaviour{
		behaviour("a volume beyond the quota is too large a request, and may be tried again at once", func(c *Case) {
			for _, limits := range []Body{{"volumes": 0, "gigabytes": -1}, {"volumes": -1, "gigabytes": 0}} {
				c.SetQuota(Volume, limits)
				response := c.TryCreate(Volume, "/v3/"+c.Member.ProjectID+"/volumes", Body{"volume": Body{"size": 1}})
				response.AssertError(http.StatusRequestEntityTooLarge, "overLimit")
				assert.Equal(c, "0", response.Header.Get("Retry-After"))
			}
		}),
		behaviour("a volume that fills the quota is made, and one that was deleted makes room", func(c *Case) {
			c.SetQuota(Volume, Body{"volumes": 1, "gigabytes": 2})
			volume := c.Volume(Body{"size": 2})
			c.TryCreate(Volume, c.volumes(), Body{"volume": Body{"size": 1}}).AssertError(http.StatusRequestEntityTooLarge, "overLimit")
			c.SetQuota(Volume, Body{"volumes": -1, "gigabytes": 2})
			c.TryCreate(Volume, c.volumes(), Body{"volume": Body{"size": 1}}).AssertError(http.StatusRequestEntityTooLarge, "overLimit")
			extend := Body{"os-extend": Body{"new_size": 3}}
			c.Member.Post(Volume, c.volumePath(volume)+"/action", extend).AssertError(http.StatusRequestEntityTooLarge, "overLimit")
			c.Member.Delete(Volume, c.volumePath(volume)).RequireStatus(http.StatusAccepted)
			c.WaitUntilGone(Volume, c.volumePath(volume))
			c.Volume(Body{"size": 2})
		}),
		behaviour("a server whose volumes are beyond the quota is accepted, and fails without a host", func(c *Case) {
			for _, limits := range []Body{{"volumes": 0, "gigabytes": -1}, {"volumes": 1, "gigabytes": -1}, {"volumes": -1, "gigabytes": 2}} {
				c.SetQuota(Volume, limits)
				devices := []Body{{
					"boot_index": 0, "source_type": "image", "uuid": c.Image(tinyImage), "destination_type": "volume", "volume_size": 2, "delete_on_termination": true,
				}, {
					"boot_index": -1, "source_type": "blank", "destination_type": "volume", "volume_size": 1, "delete_on_termination": true,
				}}
				body := c.ServerBody(Body{"imageRef": nil, "networks": "none", "block_device_mapping_v2": devices})
				created := c.postServer(body, microversionHeader("2.37")...)
				failed := c.WaitForServer(created, "ERROR")
				c.WaitUntil("the volumes are gone", func() bool { return len(c.Member.Get(Volume, c.volumes()).List("volumes")) == 0 })
				assert.Empty(c, failed.Text("hostId"))
				got := c.Member.Get(Compute, serverPath(created), microversionHeader("2.3")...).RequireStatus(http.StatusOK)
				assert.Equal(c, "500", got.Text("fault.code"))
				c.Member.Delete(Compute, serverPath(created)).RequireStatus(http.StatusNoContent)
				c.WaitUntilGone(Compute, serverPath(created))
			}
		}),
	}
}

func quotasOfLoadBalancers() []Behaviour {
	return []Behaviour{
		behaviour("a load balancer beyond the quota is forbidden", func(c *Case) {
			subnet := c.Subnet(c.Network(), "10.9.0.0/24")
			c.SetQuota(LoadBalancer, Body{"load_balancer": 0})
			c.TryCreate(LoadBalancer, "/v2/lbaas/loadbalancers", Body{"loadbalancer": Body{"name": "limited", "vip_subnet_id": subnet.ID()}}).
				AssertError(http.StatusForbidden, "Client").AssertMessage("Quota has been met for resources: ")
			assert.Empty(c, c.Member.Get(LoadBalancer, "/v2/lbaas/loadbalancers").List("loadbalancers"))
			assert.Empty(c, c.Member.Get(Network, "/v2.0/ports?project_id="+c.Member.ProjectID+"&fixed_ips=subnet_id="+subnet.ID()).List("ports"))
		}),
	}
}
