package fake

import (
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

const octaviaPrefix = "/load-balancer"

// The provisioning statuses of Octavia.
const (
	lbActive        = "ACTIVE"
	lbError         = "ERROR"
	lbPendingCreate = "PENDING_CREATE"
	lbPendingUpdate = "PENDING_UPDATE"
	lbPendingDelete = "PENDING_DELETE"
)

// Ref is a resource named by its ID.
type Ref struct {
	ID string `json:"id"`
}

// LoadBalancer is an Octavia load balancer.
type LoadBalancer struct {
	ID                 string   `json:"id"`
	Name               string   `json:"name"`
	Description        string   `json:"description"`
	ProjectID          string   `json:"project_id"`
	TenantID           string   `json:"tenant_id"`
	ProvisioningStatus string   `json:"provisioning_status"`
	OperatingStatus    string   `json:"operating_status"`
	AdminStateUp       bool     `json:"admin_state_up"`
	VIPAddress         string   `json:"vip_address"`
	VIPPortID          string   `json:"vip_port_id"`
	VIPSubnetID        string   `json:"vip_subnet_id"`
	VIPNetworkID       string   `json:"vip_network_id"`
	Provider           string   `json:"provider"`
	FlavorID           Null     `json:"flavor_id"`
	AvailabilityZone   Null     `json:"availability_zone"`
	Tags               []string `json:"tags"`
	Listeners          []Ref    `json:"listeners"`
	Pools              []Ref    `json:"pools"`
	CreatedAt          string   `json:"created_at"`
	UpdatedAt          string   `json:"updated_at"`
}

type octaviaState struct {
	balancers *table[LoadBalancer]
	parts     *table[balancerPart]
	filters   filters
}

func (c *Cloud) registerOctavia() {
	c.octavia.balancers = newTable(func(b *LoadBalancer) string { return b.ID })
	c.octavia.parts = newTable(func(p *balancerPart) string { return p.id })
	c.octavia.filters = newFilters[LoadBalancer]()
	e := endpoint{service: wire.Octavia, prefix: octaviaPrefix}
	c.open(e, "GET /{$}", versionDocument(http.StatusOK, octaviaPrefix,
		apiVersion{id: "v2.0", status: "SUPPORTED", path: "v2"}, apiVersion{id: "v2.27", status: "CURRENT", path: "v2"}))
	for _, version := range []string{"/v2.0", "/v2"} {
		base := version + "/lbaas/loadbalancers"
		c.route(e, "GET "+base, c.listBalancers)
		c.route(e, "POST "+base, c.createBalancer)
		c.route(e, "GET "+base+"/{id}", func(q *request) (reply, error) {
			b, err := c.findBalancer(q, q.path("id"))
			if err != nil {
				return reply{}, err
			}
			c.observe(b.ID)
			return ok(map[string]any{"loadbalancer": *b})
		})
		c.route(e, "PUT "+base+"/{id}", c.updateBalancer)
		c.route(e, "DELETE "+base+"/{id}", c.deleteBalancer)
		c.registerBalancerParts(e, version+"/lbaas")
	}
	c.otherwise(e)
}

func (c *Cloud) findBalancer(q *request, id string) (*LoadBalancer, error) {
	b := c.octavia.balancers.get(id)
	if b == nil || !q.owns(b.ProjectID) {
		return nil, notFound("", "Load Balancer %s not found.", id)
	}
	return b, nil
}

// changeable refuses changes of a load balancer that is on its way.
func changeable(b *LoadBalancer) error {
	if strings.HasPrefix(b.ProvisioningStatus, "PENDING_") {
		return conflict("", "Load Balancer %s is immutable and cannot be updated.", b.ID)
	}
	return nil
}

func (c *Cloud) listBalancers(q *request) (reply, error) {
	rows := c.octavia.balancers.where(func(b *LoadBalancer) bool {
		return q.owns(b.ProjectID) && matchTags(b.Tags, q.values) && c.octavia.filters.match(reflect.ValueOf(b).Elem(), q.values)
	})
	sortRows(c.octavia.filters, rows, q.values)
	part, err := paginate(rows, c.octavia.balancers.id, q, c.config.pageSize)
	if err != nil {
		return reply{}, err
	}
	for _, b := range part.rows {
		c.observe(b.ID)
	}
	return listReply("loadbalancers", copies(part.rows), part.links, q)
}

type balancerInput struct {
	Name             string    `json:"name"`
	Description      string    `json:"description"`
	AdminStateUp     opt[bool] `json:"admin_state_up"`
	VIPPortID        string    `json:"vip_port_id"`
	VIPSubnetID      string    `json:"vip_subnet_id"`
	VIPNetworkID     string    `json:"vip_network_id"`
	VIPAddress       string    `json:"vip_address"`
	ProjectID        string    `json:"project_id"`
	Provider         string    `json:"provider"`
	FlavorID         string    `json:"flavor_id"`
	AvailabilityZone string    `json:"availability_zone"`
	Tags             []string  `json:"tags"`
}

func (c *Cloud) createBalancer(q *request) (reply, error) {
	raw, found := unwrap(q.body, "loadbalancer")
	var in balancerInput
	if !found || json.Unmarshal(raw, &in) != nil {
		return reply{}, badRequest("", "Invalid input for field/attribute loadbalancer. Mandatory field missing.")
	}
	projectID := q.projectID
	if in.ProjectID != "" && q.owns(in.ProjectID) {
		projectID = in.ProjectID
	}
	mine := func(b *LoadBalancer) bool { return b.ProjectID == projectID }
	if c.exceeds(projectID, "load_balancer", c.octavia.balancers.count(mine), 1) {
		return reply{}, forbidden("", "Quota has been met for resources: Load Balancer")
	}
	if in.Provider != "" && !slices.Contains([]string{"amphora", "octavia", "ovn"}, in.Provider) {
		return reply{}, badRequest("", "Provider '%s' is not enabled.", in.Provider)
	}
	now := timestamp(c.now())
	b := &LoadBalancer{
		ID: newUUID(), Name: in.Name, Description: in.Description, ProjectID: projectID, TenantID: projectID,
		ProvisioningStatus: lbPendingCreate, OperatingStatus: "OFFLINE", AdminStateUp: in.AdminStateUp.or(true),
		Provider: in.Provider, FlavorID: Null(in.FlavorID), AvailabilityZone: Null(in.AvailabilityZone),
		Tags: append([]string{}, in.Tags...), Listeners: []Ref{}, Pools: []Ref{}, CreatedAt: now, UpdatedAt: now,
	}
	if b.Provider == "" {
		b.Provider = "amphora"
	}
	p, err := c.vipPort(q, b, &in)
	if err != nil {
		return reply{}, err
	}
	b.VIPPortID, b.VIPNetworkID = p.ID, p.NetworkID
	b.VIPAddress, b.VIPSubnetID = p.FixedIPs[0].IPAddress, p.FixedIPs[0].SubnetID
	c.octavia.balancers.add(b)
	view := *b
	c.begin(LoadBalancerCreate, b.ID, func(failed bool) { c.settleBalancer(b, failed) })
	return created(map[string]any{"loadbalancer": view})
}

func (c *Cloud) settleBalancer(b *LoadBalancer, failed bool) {
	b.ProvisioningStatus, b.OperatingStatus = lbActive, "ONLINE"
	if failed {
		b.ProvisioningStatus, b.OperatingStatus = lbError, "ERROR"
	}
	b.UpdatedAt = timestamp(c.now())
}

// vipPort is the port that carries the address of a load balancer: the caller's, or one that Octavia makes.
func (c *Cloud) vipPort(q *request, b *LoadBalancer, in *balancerInput) (*Port, error) {
	if in.VIPPortID != "" {
		p := c.neutron.ports.get(in.VIPPortID)
		if p == nil || !q.owns(p.ProjectID) || len(p.FixedIPs) == 0 {
			return nil, badRequest("", "Port %s not found.", in.VIPPortID)
		}
		return p, nil
	}
	networkID := in.VIPNetworkID
	if in.VIPSubnetID != "" {
		s := c.neutron.subnets.get(in.VIPSubnetID)
		if s == nil {
			return nil, badRequest("", "Subnet %s not found.", in.VIPSubnetID)
		}
		networkID = s.NetworkID
	}
	if networkID == "" {
		return nil, badRequest("", "Validation failure: VIP must contain one of: vip_port_id, vip_network_id, vip_subnet_id.")
	}
	n, err := c.readableNetwork(q.identity, networkID)
	if err != nil {
		return nil, badRequest("", "Network %s not found.", networkID)
	}
	p := c.newPort(b.ProjectID, n, "Octavia", "lb-"+b.ID)
	p.Name, p.AdminStateUp = "octavia-lb-"+b.ID, false
	if in.VIPSubnetID != "" || in.VIPAddress != "" {
		p.FixedIPs, err = c.assign(n, p.ID, p.MACAddress, []fixedIPInput{{SubnetID: in.VIPSubnetID, IPAddress: in.VIPAddress}})
	} else {
		p.FixedIPs, err = c.allocateAny(n, p.ID, p.MACAddress)
	}
	if err != nil {
		return nil, fail(http.StatusInternalServerError, "", "Provider '%s' reports error: %v", b.Provider, err)
	}
	return c.neutron.ports.add(p), nil
}

func (c *Cloud) updateBalancer(q *request) (reply, error) {
	b, err := c.findBalancer(q, q.path("id"))
	if err != nil {
		return reply{}, err
	}
	if err := changeable(b); err != nil {
		return reply{}, err
	}
	var in struct {
		Name         opt[string]   `json:"name"`
		Description  opt[string]   `json:"description"`
		AdminStateUp opt[bool]     `json:"admin_state_up"`
		Tags         opt[[]string] `json:"tags"`
	}
	raw, found := unwrap(q.body, "loadbalancer")
	if !found || json.Unmarshal(raw, &in) != nil {
		return reply{}, badRequest("", "Invalid input for field/attribute loadbalancer. Mandatory field missing.")
	}
	in.Name.into(&b.Name)
	in.Description.into(&b.Description)
	in.AdminStateUp.into(&b.AdminStateUp)
	if in.Tags.given() {
		b.Tags = in.Tags.v
	}
	c.changeBalancer(b)
	return ok(map[string]any{"loadbalancer": *b})
}

// changeBalancer makes a load balancer pending for as long as a change takes.
func (c *Cloud) changeBalancer(b *LoadBalancer) {
	b.ProvisioningStatus = lbPendingUpdate
	c.begin(LoadBalancerUpdate, b.ID, func(failed bool) { c.settleBalancer(b, failed) })
}

func (c *Cloud) deleteBalancer(q *request) (reply, error) {
	b, err := c.findBalancer(q, q.path("id"))
	if err != nil {
		return reply{}, err
	}
	if err := changeable(b); err != nil {
		return reply{}, err
	}
	cascade := equalFold(q.values.Get("cascade"), "true")
	if !cascade && c.octavia.parts.first(func(p *balancerPart) bool { return p.balancerID == b.ID }) != nil {
		return reply{}, badRequest("", "Cannot delete Load Balancer %s - it has children", b.ID)
	}
	b.ProvisioningStatus = lbPendingDelete
	c.begin(LoadBalancerDelete, b.ID, func(failed bool) {
		if failed {
			c.settleBalancer(b, true)
			return
		}
		c.dropBalancer(b)
	})
	return noContent()
}

// dropBalancer removes a load balancer with its parts, and the port that Octavia made for it.
func (c *Cloud) dropBalancer(b *LoadBalancer) {
	for _, part := range c.octavia.parts.where(func(p *balancerPart) bool { return p.balancerID == b.ID }) {
		c.octavia.parts.remove(part.id)
	}
	if p := c.neutron.ports.get(b.VIPPortID); p != nil && p.DeviceOwner == "Octavia" {
		c.dropPort(p)
	}
	c.octavia.balancers.remove(b.ID)
}
