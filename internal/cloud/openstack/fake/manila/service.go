package manila

import (
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/neutron"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
)

// ShareNetwork is a Manila share network with its only subnet.
type ShareNetwork struct {
	ID              string `json:"id"`
	Name            string `json:"name"`
	Description     string `json:"description"`
	ProjectID       string `json:"project_id"`
	NeutronNetID    string `json:"neutron_net_id"`
	NeutronSubnetID string `json:"neutron_subnet_id"`
	CreatedAt       string `json:"created_at"`
}

// Service is Manila of the fake cloud. Its methods run while the lock of the cloud is held.
type Service struct {
	*core.Cloud

	neutron *neutron.Service

	Networks *core.Table[ShareNetwork]
	filters  core.Filters
}

// New serves the API of Manila on the cloud.
func New(cloud *core.Cloud, neutron *neutron.Service) *Service {
	svc := &Service{Cloud: cloud, neutron: neutron}
	svc.registerManila()
	return svc
}

func (svc *Service) registerManila() {
	svc.Networks = core.NewTable(func(n *ShareNetwork) string { return n.ID })
	svc.filters = core.NewFilters[ShareNetwork](nil)
	e := core.Endpoint{Service: services.Manila, Prefix: core.ManilaPrefix}
	version := core.ApiVersion{ID: "v2.0", Status: "CURRENT", Path: "v2/", Micro: true, Most: "2.87", Least: "2.0"}
	list := core.VersionDocument(http.StatusOK, core.ManilaPrefix, version)
	svc.RouteWithoutToken(e, "GET /{$}", core.VersionDocument(http.StatusMultipleChoices, core.ManilaPrefix, version))
	svc.RouteWithoutToken(e, "GET /v2", list)
	svc.RouteWithoutToken(e, "GET /v2/{$}", list)
	svc.Route(e, "GET /v2/share-networks", svc.listShareNetworks)
	svc.Route(e, "GET /v2/share-networks/detail", svc.listShareNetworks)
	svc.Route(e, "POST /v2/share-networks", svc.createShareNetwork)
	svc.Route(e, "GET /v2/share-networks/{id}", func(q *core.Request) (core.Reply, error) {
		n, err := svc.findShareNetwork(q)
		if err != nil {
			return core.Reply{}, err
		}
		return core.OK(map[string]any{"share_network": n.view(q)})
	})
	svc.Route(e, "PUT /v2/share-networks/{id}", svc.updateShareNetwork)
	svc.Route(e, "DELETE /v2/share-networks/{id}", func(q *core.Request) (core.Reply, error) {
		n, err := svc.findShareNetwork(q)
		if err != nil {
			return core.Reply{}, err
		}
		svc.Networks.Remove(n.ID)
		return core.Accepted(nil)
	})
	svc.RegisterFallback(e)
}

// view is flat before microversion 2.51, and has a list of subnets since.
func (n *ShareNetwork) view(q *core.Request) map[string]any {
	view := map[string]any{
		"id": n.ID, "name": n.Name, "description": n.Description, "project_id": n.ProjectID, "created_at": n.CreatedAt, "updated_at": nil,
	}
	subnet := map[string]any{
		"neutron_net_id": n.NeutronNetID, "neutron_subnet_id": n.NeutronSubnetID,
		"network_type": nil, "segmentation_id": nil, "cidr": nil, "ip_version": nil, "gateway": nil, "mtu": nil,
	}
	major, minor, _ := strings.Cut(q.HTTP.Header.Get("X-Openstack-Manila-Api-Version"), ".")
	if low, err := strconv.Atoi(minor); err == nil && major == "2" && low >= 51 {
		subnet["id"], subnet["availability_zone"] = n.ID, nil
		view["share_network_subnets"] = []any{subnet}
		view["status"], view["security_service_update_support"] = "active", true
		return view
	}
	maps.Copy(view, subnet)
	return view
}

func (svc *Service) findShareNetwork(q *core.Request) (*ShareNetwork, error) {
	n := svc.Networks.Get(q.Path("id"))
	if n == nil || !q.Owns(n.ProjectID) {
		return nil, core.NotFound("", "Share network %s could not be found.", q.Path("id"))
	}
	return n, nil
}

func (svc *Service) listShareNetworks(q *core.Request) (core.Reply, error) {
	rows := svc.Networks.Where(func(n *ShareNetwork) bool {
		return (n.ProjectID == q.ProjectID || q.Admin() && q.Values.Has("all_tenants")) &&
			svc.filters.Match(reflect.ValueOf(n).Elem(), q.Values)
	})
	offset, _ := strconv.Atoi(q.Values.Get("offset"))
	rows = rows[min(max(offset, 0), len(rows)):]
	if limit, err := strconv.Atoi(q.Values.Get("limit")); err == nil && limit > 0 {
		rows = rows[:min(limit, len(rows))]
	}
	out := []any{}
	for _, n := range rows {
		if strings.HasSuffix(q.HTTP.URL.Path, "/detail") {
			out = append(out, n.view(q))
			continue
		}
		out = append(out, map[string]any{"id": n.ID, "name": n.Name})
	}
	return core.OK(map[string]any{"share_networks": out})
}

type shareNetworkInput struct {
	Name            core.Opt[string] `json:"name"`
	Description     core.Opt[string] `json:"description"`
	NeutronNetID    core.Opt[string] `json:"neutron_net_id"`
	NeutronSubnetID core.Opt[string] `json:"neutron_subnet_id"`
}

func (svc *Service) createShareNetwork(q *core.Request) (core.Reply, error) {
	raw, found := core.Unwrap(q.Body, "share_network")
	var in shareNetworkInput
	if !found || json.Unmarshal(raw, &in) != nil {
		return core.Reply{}, core.BadRequest("", "Missing or invalid 'share_network' in the request body.")
	}
	if (in.NeutronNetID.Value == "") != (in.NeutronSubnetID.Value == "") {
		return core.Reply{}, core.BadRequest("", "Both neutron_net_id and neutron_subnet_id should be specified.")
	}
	if id := in.NeutronSubnetID.Value; id != "" {
		if s := svc.neutron.Subnets.Get(id); s == nil || s.NetworkID != in.NeutronNetID.Value {
			return core.Reply{}, core.BadRequest("", "The neutron subnet %s was not found in the network %s.", id, in.NeutronNetID.Value)
		}
	}
	mine := func(n *ShareNetwork) bool { return n.ProjectID == q.ProjectID }
	if svc.Exceeds(q.ProjectID, "share_networks", svc.Networks.Count(mine), 1) {
		return core.Reply{}, core.Fail(http.StatusRequestEntityTooLarge, "overLimit", "Maximum number of share-networks allowed (%d) exceeded.", svc.Limit(q.ProjectID, "share_networks"))
	}
	n := &ShareNetwork{
		ID: core.NewUUID(), Name: in.Name.Value, Description: in.Description.Value, ProjectID: q.ProjectID,
		NeutronNetID: in.NeutronNetID.Value, NeutronSubnetID: in.NeutronSubnetID.Value, CreatedAt: core.ManilaTime(svc.Now()),
	}
	svc.Networks.Add(n)
	return core.Accepted(map[string]any{"share_network": n.view(q)})
}

func (svc *Service) updateShareNetwork(q *core.Request) (core.Reply, error) {
	n, err := svc.findShareNetwork(q)
	if err != nil {
		return core.Reply{}, err
	}
	raw, found := core.Unwrap(q.Body, "share_network")
	var in shareNetworkInput
	if !found || json.Unmarshal(raw, &in) != nil {
		return core.Reply{}, core.BadRequest("", "Missing or invalid 'share_network' in the request body.")
	}
	in.Name.Into(&n.Name)
	in.Description.Into(&n.Description)
	in.NeutronNetID.Into(&n.NeutronNetID)
	in.NeutronSubnetID.Into(&n.NeutronSubnetID)
	return core.OK(map[string]any{"share_network": n.view(q)})
}
