package fake

import (
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
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

// manilaService is Manila of the fake cloud. Its methods run while the lock of the cloud is held.
type manilaService struct {
	*shared

	neutron *neutronService

	networks *core.Table[ShareNetwork]
	filters  filters
}

// newManila serves the API of Manila on the cloud.
func newManila(cloud *shared, neutron *neutronService) *manilaService {
	svc := &manilaService{shared: cloud, neutron: neutron}
	svc.registerManila()
	return svc
}

func (svc *manilaService) registerManila() {
	svc.networks = core.NewTable(func(n *ShareNetwork) string { return n.ID })
	svc.filters = newFilters[ShareNetwork](nil)
	e := endpoint{service: wire.Manila, prefix: manilaPrefix}
	version := apiVersion{id: "v2.0", status: "CURRENT", path: "v2/", micro: true, most: "2.87", least: "2.0"}
	list := versionDocument(http.StatusOK, manilaPrefix, version)
	svc.routeWithoutToken(e, "GET /{$}", versionDocument(http.StatusMultipleChoices, manilaPrefix, version))
	svc.routeWithoutToken(e, "GET /v2", list)
	svc.routeWithoutToken(e, "GET /v2/{$}", list)
	svc.route(e, "GET /v2/share-networks", svc.listShareNetworks)
	svc.route(e, "GET /v2/share-networks/detail", svc.listShareNetworks)
	svc.route(e, "POST /v2/share-networks", svc.createShareNetwork)
	svc.route(e, "GET /v2/share-networks/{id}", func(q *request) (reply, error) {
		n, err := svc.findShareNetwork(q)
		if err != nil {
			return reply{}, err
		}
		return ok(map[string]any{"share_network": n.view(q)})
	})
	svc.route(e, "PUT /v2/share-networks/{id}", svc.updateShareNetwork)
	svc.route(e, "DELETE /v2/share-networks/{id}", func(q *request) (reply, error) {
		n, err := svc.findShareNetwork(q)
		if err != nil {
			return reply{}, err
		}
		svc.networks.Remove(n.ID)
		return accepted(nil)
	})
	svc.registerFallback(e)
}

// view is flat before microversion 2.51, and has a list of subnets since.
func (n *ShareNetwork) view(q *request) map[string]any {
	view := map[string]any{
		"id": n.ID, "name": n.Name, "description": n.Description, "project_id": n.ProjectID, "created_at": n.CreatedAt, "updated_at": nil,
	}
	subnet := map[string]any{
		"neutron_net_id": n.NeutronNetID, "neutron_subnet_id": n.NeutronSubnetID,
		"network_type": nil, "segmentation_id": nil, "cidr": nil, "ip_version": nil, "gateway": nil, "mtu": nil,
	}
	major, minor, _ := strings.Cut(q.http.Header.Get("X-Openstack-Manila-Api-Version"), ".")
	if low, err := strconv.Atoi(minor); err == nil && major == "2" && low >= 51 {
		subnet["id"], subnet["availability_zone"] = n.ID, nil
		view["share_network_subnets"] = []any{subnet}
		view["status"], view["security_service_update_support"] = "active", true
		return view
	}
	maps.Copy(view, subnet)
	return view
}

func (svc *manilaService) findShareNetwork(q *request) (*ShareNetwork, error) {
	n := svc.networks.Get(q.path("id"))
	if n == nil || !q.owns(n.ProjectID) {
		return nil, core.NotFound("", "Share network %s could not be found.", q.path("id"))
	}
	return n, nil
}

func (svc *manilaService) listShareNetworks(q *request) (reply, error) {
	rows := svc.networks.Where(func(n *ShareNetwork) bool {
		return (n.ProjectID == q.projectID || q.admin() && q.values.Has("all_tenants")) &&
			svc.filters.match(reflect.ValueOf(n).Elem(), q.values)
	})
	offset, _ := strconv.Atoi(q.values.Get("offset"))
	rows = rows[min(max(offset, 0), len(rows)):]
	if limit, err := strconv.Atoi(q.values.Get("limit")); err == nil && limit > 0 {
		rows = rows[:min(limit, len(rows))]
	}
	out := []any{}
	for _, n := range rows {
		if strings.HasSuffix(q.http.URL.Path, "/detail") {
			out = append(out, n.view(q))
			continue
		}
		out = append(out, map[string]any{"id": n.ID, "name": n.Name})
	}
	return ok(map[string]any{"share_networks": out})
}

type shareNetworkInput struct {
	Name            core.Opt[string] `json:"name"`
	Description     core.Opt[string] `json:"description"`
	NeutronNetID    core.Opt[string] `json:"neutron_net_id"`
	NeutronSubnetID core.Opt[string] `json:"neutron_subnet_id"`
}

func (svc *manilaService) createShareNetwork(q *request) (reply, error) {
	raw, found := core.Unwrap(q.body, "share_network")
	var in shareNetworkInput
	if !found || json.Unmarshal(raw, &in) != nil {
		return reply{}, core.BadRequest("", "Missing or invalid 'share_network' in the request body.")
	}
	if (in.NeutronNetID.Value == "") != (in.NeutronSubnetID.Value == "") {
		return reply{}, core.BadRequest("", "Both neutron_net_id and neutron_subnet_id should be specified.")
	}
	if id := in.NeutronSubnetID.Value; id != "" {
		if s := svc.neutron.subnets.Get(id); s == nil || s.NetworkID != in.NeutronNetID.Value {
			return reply{}, core.BadRequest("", "The neutron subnet %s was not found in the network %s.", id, in.NeutronNetID.Value)
		}
	}
	mine := func(n *ShareNetwork) bool { return n.ProjectID == q.projectID }
	if svc.exceeds(q.projectID, "share_networks", svc.networks.Count(mine), 1) {
		return reply{}, core.Fail(http.StatusRequestEntityTooLarge, "overLimit", "Maximum number of share-networks allowed (%d) exceeded.", svc.limit(q.projectID, "share_networks"))
	}
	n := &ShareNetwork{
		ID: core.NewUUID(), Name: in.Name.Value, Description: in.Description.Value, ProjectID: q.projectID,
		NeutronNetID: in.NeutronNetID.Value, NeutronSubnetID: in.NeutronSubnetID.Value, CreatedAt: manilaTime(svc.now()),
	}
	svc.networks.Add(n)
	return accepted(map[string]any{"share_network": n.view(q)})
}

func (svc *manilaService) updateShareNetwork(q *request) (reply, error) {
	n, err := svc.findShareNetwork(q)
	if err != nil {
		return reply{}, err
	}
	raw, found := core.Unwrap(q.body, "share_network")
	var in shareNetworkInput
	if !found || json.Unmarshal(raw, &in) != nil {
		return reply{}, core.BadRequest("", "Missing or invalid 'share_network' in the request body.")
	}
	in.Name.Into(&n.Name)
	in.Description.Into(&n.Description)
	in.NeutronNetID.Into(&n.NeutronNetID)
	in.NeutronSubnetID.Into(&n.NeutronSubnetID)
	return ok(map[string]any{"share_network": n.view(q)})
}
