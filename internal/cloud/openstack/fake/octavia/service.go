package octavia

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/neutron"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
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

// Service is Octavia of the fake cloud. Its methods run while the lock of the cloud is held.
type Service struct {
	*core.Cloud

	neutron *neutron.Service

	Balancers *core.Table[LoadBalancer]
	parts     *core.Table[balancerPart]
	kinds     []*partKind
	body      octaviaBody // of a load balancer
	filters   core.Filters
}

// New serves the API of Octavia on the cloud.
func New(cloud *core.Cloud, neutron *neutron.Service) *Service {
	svc := &Service{Cloud: cloud, neutron: neutron}
	svc.registerOctavia()
	return svc
}

func (svc *Service) registerOctavia() {
	svc.Balancers = core.NewTable(func(b *LoadBalancer) string { return b.ID })
	svc.parts = core.NewTable(func(p *balancerPart) string { return p.id })
	svc.kinds, svc.body = partKinds(), balancerBody()
	svc.filters = core.NewFilters[LoadBalancer](nil)
	for _, unfiltered := range []string{"tenant_id", "listeners", "pools", "additional_vips"} {
		delete(svc.filters.Fields, unfiltered)
	}
	e := core.Endpoint{Service: services.Octavia, Prefix: core.OctaviaPrefix}
	svc.RouteWithoutToken(e, "GET /{$}", core.VersionDocument(http.StatusOK, core.OctaviaPrefix, octaviaVersions()...))
	for _, version := range []string{"/v2.0", "/v2"} {
		base := version + "/lbaas/loadbalancers"
		svc.Route(e, "GET "+base, svc.listBalancers)
		svc.Route(e, "POST "+base, svc.createBalancer)
		svc.Route(e, "GET "+base+"/{id}", svc.showBalancer)
		svc.Route(e, "PUT "+base+"/{id}", svc.updateBalancer)
		svc.Route(e, "DELETE "+base+"/{id}", svc.deleteBalancer)
		svc.Route(e, "GET "+base+"/{id}/status", svc.showStatuses)
		svc.registerBalancerParts(e, version+"/lbaas")
	}
	svc.RegisterFallback(e)
}

func octaviaVersions() []core.ApiVersion {
	var versions []core.ApiVersion
	for minor := range latestOctavia {
		versions = append(versions, core.ApiVersion{ID: fmt.Sprintf("v2.%d", minor), Status: "SUPPORTED", Path: "v2"})
	}
	return append(versions, core.ApiVersion{ID: fmt.Sprintf("v2.%d", latestOctavia), Status: "CURRENT", Path: "v2"})
}

// octaviaTime is Octavia's time format: UTC, without a zone.
func octaviaTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05") }

// checkBalancerRole refuses callers without a role for load balancers. Being a member is not enough.
func checkBalancerRole(q *core.Request, projectID string) error {
	if q.Admin() || q.ProjectID == projectID && slices.Contains(q.Roles, core.RoleBalancers) {
		return nil
	}
	return core.Forbidden("", "Policy does not allow this request to be performed.")
}

// findBalancer returns a load balancer. Those of other projects are forbidden, not hidden.
func (svc *Service) findBalancer(q *core.Request, id string) (*LoadBalancer, error) {
	b := svc.Balancers.Get(id)
	if b == nil {
		return nil, core.NotFound("", "Load Balancer %s not found.", id)
	}
	return b, checkBalancerRole(q, b.ProjectID)
}

// checkChangeable refuses changes of a pending load balancer. A failed one can only be deleted.
func checkChangeable(b *LoadBalancer, deleting bool) error {
	if b.ProvisioningStatus == lbActive || deleting && b.ProvisioningStatus == lbError {
		return nil
	}
	return core.Conflict("", "Invalid state %s of loadbalancer resource %s", b.ProvisioningStatus, b.ID)
}

func (svc *Service) showBalancer(q *core.Request) (core.Reply, error) {
	b, err := svc.findBalancer(q, q.Path("id"))
	if err != nil {
		return core.Reply{}, err
	}
	svc.CountPoll(b.ID)
	var view any = *b
	if fields := q.Values["fields"]; len(fields) > 0 {
		cut, err := core.OnlyFields([]LoadBalancer{*b}, fields)
		if err != nil {
			return core.Reply{}, err
		}
		view = reflect.ValueOf(cut).Index(0).Interface()
	}
	return core.OK(map[string]any{"loadbalancer": view})
}

// listedProject is the project whose load balancers are listed.
func listedProject(q *core.Request) string {
	if project := q.Values.Get("project_id"); project != "" {
		return project
	}
	return q.ProjectID
}

// lists reports whether a list includes a project's resources. Administrators see all unless they name one.
func lists(q *core.Request, projectID string) bool {
	return projectID == listedProject(q) || q.Admin() && !q.Values.Has("project_id")
}

func invalidFilter() *wire.Error {
	return core.BadRequest("", "One or more arguments are either duplicate or invalid")
}

func (svc *Service) listBalancers(q *core.Request) (core.Reply, error) {
	if err := checkBalancerRole(q, listedProject(q)); err != nil {
		return core.Reply{}, err
	}
	filters := svc.filters
	if unknown := core.Without(filters.Unknown(q.Values), func(key string) bool { return key == "sort" }); len(unknown) > 0 {
		return core.Reply{}, invalidFilter()
	}
	for _, key := range q.Values["sort_key"] {
		if _, known := filters.Fields[key]; !known {
			return core.Reply{}, core.BadRequest("", "Supplied sort key '%s' is not valid.", key)
		}
	}
	rows := svc.Balancers.Where(func(b *LoadBalancer) bool {
		return lists(q, b.ProjectID) && core.MatchTags(b.Tags, q.Values) && filters.Match(reflect.ValueOf(b).Elem(), q.Values)
	})
	core.SortRows(filters, rows, q.Values)
	part, err := octaviaPage(svc, q, rows, svc.Balancers.ID)
	if err != nil {
		return core.Reply{}, err
	}
	for _, b := range part.Rows {
		svc.CountPoll(b.ID)
	}
	return core.ListReply("loadbalancers", core.Copies(part.Rows), part.Links, q)
}

func (svc *Service) updateBalancer(q *core.Request) (core.Reply, error) {
	attrs, invalid := svc.body.read(q.Body, true)
	if invalid != nil {
		return core.Reply{}, invalid
	}
	b, err := svc.findBalancer(q, q.Path("id"))
	if err != nil {
		return core.Reply{}, err
	}
	if err := checkChangeable(b, false); err != nil {
		return core.Reply{}, err
	}
	var in struct {
		Name         core.Opt[string]   `json:"name"`
		Description  core.Opt[string]   `json:"description"`
		AdminStateUp core.Opt[bool]     `json:"admin_state_up"`
		Tags         core.Opt[[]string] `json:"tags"`
	}
	if err := decodeInto(attrs, &in); err != nil {
		return core.Reply{}, err
	}
	in.Name.Into(&b.Name)
	in.Description.Into(&b.Description)
	in.AdminStateUp.Into(&b.AdminStateUp)
	if in.Tags.Set {
		b.Tags = append([]string{}, in.Tags.Value...)
	}
	b.UpdatedAt, b.ProvisioningStatus = core.Null(octaviaTime(svc.Now())), lbPendingUpdate
	view := *b
	svc.changeBalancer(b)
	return core.OK(map[string]any{"loadbalancer": view})
}

// decodeInto converts a value to another type by way of JSON.
func decodeInto(from, into any) error {
	raw, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

func (svc *Service) deleteBalancer(q *core.Request) (core.Reply, error) {
	b, err := svc.findBalancer(q, q.Path("id"))
	if err != nil {
		return core.Reply{}, err
	}
	if len(b.Listeners)+len(b.Pools) > 0 && !strings.EqualFold(q.Values.Get("cascade"), "true") {
		return core.Reply{}, core.BadRequest("", "Validation failure: Cannot delete Load Balancer %s - it has children", b.ID)
	}
	if err := checkChangeable(b, true); err != nil {
		return core.Reply{}, err
	}
	b.ProvisioningStatus = lbPendingDelete
	svc.BeginTransition(core.LoadBalancerDelete, b.ID, func(failed bool) {
		if failed {
			svc.finishBalancerTransition(b, true)
			return
		}
		svc.dropBalancer(b)
	})
	return core.NoContent()
}

// dropBalancer deletes a load balancer with its parts, and its port if Octavia created it.
func (svc *Service) dropBalancer(b *LoadBalancer) {
	for _, p := range svc.partsOf(b) {
		svc.parts.Remove(p.id)
	}
	if p := svc.neutron.Ports.Get(b.VIPPortID); p != nil && p.DeviceOwner == OwnerOctavia {
		svc.neutron.DropPort(p)
	}
	svc.Balancers.Remove(b.ID)
}
