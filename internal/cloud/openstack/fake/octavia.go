package fake

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

// The provisioning statuses of Octavia.
const (
	lbActive        = "ACTIVE"
	lbError         = "ERROR"
	lbPendingCreate = "PENDING_CREATE"
	lbPendingUpdate = "PENDING_UPDATE"
	lbPendingDelete = "PENDING_DELETE"
)

// The operating statuses of Octavia.
const (
	operatingOnline      = "ONLINE"
	operatingOffline     = "OFFLINE"
	operatingError       = "ERROR"
	operatingUnmonitored = "NO_MONITOR" // of a member whose pool has no health monitor
)

// latestOctavia is the minor version of Octavia's API in the release Zed.
const latestOctavia = 26

// Ref is a resource named by its ID.
type Ref struct {
	ID string `json:"id"`
}

// VIP is a further address of a load balancer.
type VIP struct {
	SubnetID  string `json:"subnet_id"`
	IPAddress string `json:"ip_address"`
}

// LoadBalancer is an Octavia load balancer.
type LoadBalancer struct {
	ID                 string    `json:"id"`
	Name               string    `json:"name"`
	Description        string    `json:"description"`
	ProjectID          string    `json:"project_id"`
	TenantID           string    `json:"tenant_id"`
	ProvisioningStatus string    `json:"provisioning_status"`
	OperatingStatus    string    `json:"operating_status"`
	AdminStateUp       bool      `json:"admin_state_up"`
	VIPAddress         string    `json:"vip_address"`
	VIPPortID          string    `json:"vip_port_id"`
	VIPSubnetID        string    `json:"vip_subnet_id"`
	VIPNetworkID       string    `json:"vip_network_id"`
	VIPQoSPolicyID     core.Null `json:"vip_qos_policy_id"`
	AdditionalVIPs     []VIP     `json:"additional_vips"`
	Provider           string    `json:"provider"`
	FlavorID           core.Null `json:"flavor_id"`
	AvailabilityZone   core.Null `json:"availability_zone"`
	Tags               []string  `json:"tags"`
	Listeners          []Ref     `json:"listeners"`
	Pools              []Ref     `json:"pools"`
	CreatedAt          string    `json:"created_at"`
	UpdatedAt          core.Null `json:"updated_at"`
}

// octaviaService is Octavia of the fake cloud. Its methods run while the lock of the cloud is held.
type octaviaService struct {
	*shared

	neutron *neutronService

	balancers *core.Table[LoadBalancer]
	parts     *core.Table[balancerPart]
	kinds     []*partKind
	body      octaviaBody // of a load balancer
	filters   filters
}

// newOctavia serves the API of Octavia on the cloud.
func newOctavia(cloud *shared, neutron *neutronService) *octaviaService {
	svc := &octaviaService{shared: cloud, neutron: neutron}
	svc.registerOctavia()
	return svc
}

func (svc *octaviaService) registerOctavia() {
	svc.balancers = core.NewTable(func(b *LoadBalancer) string { return b.ID })
	svc.parts = core.NewTable(func(p *balancerPart) string { return p.id })
	svc.kinds, svc.body = partKinds(), balancerBody()
	svc.filters = newFilters[LoadBalancer](nil)
	for _, unfiltered := range []string{"tenant_id", "listeners", "pools", "additional_vips"} {
		delete(svc.filters.fields, unfiltered)
	}
	e := endpoint{service: wire.Octavia, prefix: octaviaPrefix}
	svc.routeWithoutToken(e, "GET /{$}", versionDocument(http.StatusOK, octaviaPrefix, octaviaVersions()...))
	for _, version := range []string{"/v2.0", "/v2"} {
		base := version + "/lbaas/loadbalancers"
		svc.route(e, "GET "+base, svc.listBalancers)
		svc.route(e, "POST "+base, svc.createBalancer)
		svc.route(e, "GET "+base+"/{id}", svc.showBalancer)
		svc.route(e, "PUT "+base+"/{id}", svc.updateBalancer)
		svc.route(e, "DELETE "+base+"/{id}", svc.deleteBalancer)
		svc.route(e, "GET "+base+"/{id}/status", svc.showStatuses)
		svc.registerBalancerParts(e, version+"/lbaas")
	}
	svc.registerFallback(e)
}

func octaviaVersions() []apiVersion {
	var versions []apiVersion
	for minor := range latestOctavia {
		versions = append(versions, apiVersion{id: fmt.Sprintf("v2.%d", minor), status: "SUPPORTED", path: "v2"})
	}
	return append(versions, apiVersion{id: fmt.Sprintf("v2.%d", latestOctavia), status: "CURRENT", path: "v2"})
}

// octaviaTime is the form in which Octavia gives times: in UTC, without saying so.
func octaviaTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05") }

// checkBalancerRole refuses who has no say about the load balancers of a project. Being a plain member is not enough.
func checkBalancerRole(q *request, projectID string) error {
	if q.admin() || q.projectID == projectID && slices.Contains(q.roles, roleBalancers) {
		return nil
	}
	return core.Forbidden("", "Policy does not allow this request to be performed.")
}

// findBalancer returns a load balancer. Those of other projects are refused, not denied.
func (svc *octaviaService) findBalancer(q *request, id string) (*LoadBalancer, error) {
	b := svc.balancers.Get(id)
	if b == nil {
		return nil, core.NotFound("", "Load Balancer %s not found.", id)
	}
	return b, checkBalancerRole(q, b.ProjectID)
}

// checkChangeable refuses changes of a load balancer that is on its way. What has failed can only be deleted.
func checkChangeable(b *LoadBalancer, deleting bool) error {
	if b.ProvisioningStatus == lbActive || deleting && b.ProvisioningStatus == lbError {
		return nil
	}
	return core.Conflict("", "Invalid state %s of loadbalancer resource %s", b.ProvisioningStatus, b.ID)
}

func (svc *octaviaService) showBalancer(q *request) (reply, error) {
	b, err := svc.findBalancer(q, q.path("id"))
	if err != nil {
		return reply{}, err
	}
	svc.countPoll(b.ID)
	var view any = *b
	if fields := q.values["fields"]; len(fields) > 0 {
		cut, err := onlyFields([]LoadBalancer{*b}, fields)
		if err != nil {
			return reply{}, err
		}
		view = reflect.ValueOf(cut).Index(0).Interface()
	}
	return ok(map[string]any{"loadbalancer": view})
}

// listedProject is whose load balancers the caller asks for.
func listedProject(q *request) string {
	if project := q.values.Get("project_id"); project != "" {
		return project
	}
	return q.projectID
}

// lists reports whether a list is to have what belongs to a project. Administrators see all unless they name one.
func lists(q *request, projectID string) bool {
	return projectID == listedProject(q) || q.admin() && !q.values.Has("project_id")
}

func invalidFilter() *wire.Error {
	return core.BadRequest("", "One or more arguments are either duplicate or invalid")
}

func (svc *octaviaService) listBalancers(q *request) (reply, error) {
	if err := checkBalancerRole(q, listedProject(q)); err != nil {
		return reply{}, err
	}
	filters := svc.filters
	if unknown := core.Without(filters.unknown(q.values), func(key string) bool { return key == "sort" }); len(unknown) > 0 {
		return reply{}, invalidFilter()
	}
	for _, key := range q.values["sort_key"] {
		if _, known := filters.fields[key]; !known {
			return reply{}, core.BadRequest("", "Supplied sort key '%s' is not valid.", key)
		}
	}
	rows := svc.balancers.Where(func(b *LoadBalancer) bool {
		return lists(q, b.ProjectID) && matchTags(b.Tags, q.values) && filters.match(reflect.ValueOf(b).Elem(), q.values)
	})
	sortRows(filters, rows, q.values)
	part, err := octaviaPage(svc, q, rows, svc.balancers.ID)
	if err != nil {
		return reply{}, err
	}
	for _, b := range part.rows {
		svc.countPoll(b.ID)
	}
	return listReply("loadbalancers", core.Copies(part.rows), part.links, q)
}

func (svc *octaviaService) updateBalancer(q *request) (reply, error) {
	attrs, invalid := svc.body.read(q.body, true)
	if invalid != nil {
		return reply{}, invalid
	}
	b, err := svc.findBalancer(q, q.path("id"))
	if err != nil {
		return reply{}, err
	}
	if err := checkChangeable(b, false); err != nil {
		return reply{}, err
	}
	var in struct {
		Name         core.Opt[string]   `json:"name"`
		Description  core.Opt[string]   `json:"description"`
		AdminStateUp core.Opt[bool]     `json:"admin_state_up"`
		Tags         core.Opt[[]string] `json:"tags"`
	}
	if err := decodeInto(attrs, &in); err != nil {
		return reply{}, err
	}
	in.Name.Into(&b.Name)
	in.Description.Into(&b.Description)
	in.AdminStateUp.Into(&b.AdminStateUp)
	if in.Tags.Set {
		b.Tags = append([]string{}, in.Tags.Value...)
	}
	b.UpdatedAt, b.ProvisioningStatus = core.Null(octaviaTime(svc.now())), lbPendingUpdate
	view := *b
	svc.changeBalancer(b)
	return ok(map[string]any{"loadbalancer": view})
}

// decodeInto turns what has a form on the wire into something else that has the same.
func decodeInto(from, into any) error {
	raw, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

func (svc *octaviaService) deleteBalancer(q *request) (reply, error) {
	b, err := svc.findBalancer(q, q.path("id"))
	if err != nil {
		return reply{}, err
	}
	if len(b.Listeners)+len(b.Pools) > 0 && !strings.EqualFold(q.values.Get("cascade"), "true") {
		return reply{}, core.BadRequest("", "Validation failure: Cannot delete Load Balancer %s - it has children", b.ID)
	}
	if err := checkChangeable(b, true); err != nil {
		return reply{}, err
	}
	b.ProvisioningStatus = lbPendingDelete
	svc.beginTransition(LoadBalancerDelete, b.ID, func(failed bool) {
		if failed {
			svc.finishBalancerTransition(b, true)
			return
		}
		svc.dropBalancer(b)
	})
	return noContent()
}

// dropBalancer removes a load balancer with its parts, and the port that Octavia made for it.
func (svc *octaviaService) dropBalancer(b *LoadBalancer) {
	for _, p := range svc.partsOf(b) {
		svc.parts.Remove(p.id)
	}
	if p := svc.neutron.ports.Get(b.VIPPortID); p != nil && p.DeviceOwner == ownerOctavia {
		svc.neutron.dropPort(p)
	}
	svc.balancers.Remove(b.ID)
}
