package openstack

import (
	"encoding/json"
	"slices"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
)

func routerID(r cloudopenstack.Router) string { return r.ID }

func (s *observedShoot) compareRouter(d *differences) {
	wanted := s.plan.router
	id := s.knownID(kindRouter, wanted.givenID)
	d.of("router %s", id)
	observed := byID(s.cloud.routers, id, routerID)
	switch {
	case id == "":
	case observed == nil:
		d.gone(s.whoReplaces(kindRouter, wanted.givenID, "networks.router.id"))
	case !s.owns(kindRouter, wanted.givenID):
		s.compareGivenRouter(d, *observed)
	default:
		s.compareOwnRouter(d, *observed)
	}
}

func (s *observedShoot) compareGivenRouter(d *differences, observed cloudopenstack.Router) {
	d.on("its administrative state", observed.AdminStateUp, byUser+"switch it on: nodes cannot reach the internet")
	if observed.Gateway == nil {
		d.foundf("has no gateway, not one in floating network %s; %s", s.state.Fact(keyFloatingNetwork), byUserFirst+"connect it")
		return
	}
	s.compareGatewayNetwork(d, *observed.Gateway)
}

func (s *observedShoot) compareGatewayNetwork(d *differences, gateway cloudopenstack.ExternalGateway) {
	if external := s.state.Fact(keyFloatingNetwork); external != "" {
		d.text("gateway network", gateway.NetworkID, external, byUser+"move it back, which changes the addresses of the shoot")
	}
}

func (s *observedShoot) compareOwnRouter(d *differences, observed cloudopenstack.Router) {
	wanted := s.plan.router
	update, _ := routerChange(wanted, s.state.Fact(keyFloatingNetwork), s.state.Fact(keyFloatingSubnet), observed)
	d.text("name", observed.Name, wanted.name, setBack)
	s.description(d, observed.Description, "")
	d.on("its administrative state", observed.AdminStateUp, next(update != nil && update.AdminStateUp != nil, setBack))
	d.set("availability zone hints", observed.AvailabilityZoneHints, wanted.azHints, immutable)
	if observed.Gateway == nil {
		d.foundf("has no gateway, not one in floating network %s; %s", s.state.Fact(keyFloatingNetwork), next(update != nil, setBack))
	} else {
		s.compareGateway(d, *observed.Gateway, update != nil && update.Gateway != nil)
	}
	var foreign []string
	for _, route := range s.nodeRoutes().others(observed.Routes) {
		foreign = append(foreign, route.Destination+" by "+route.NextHop)
	}
	d.set("routes that do not lead to nodes", foreign, nil, byUser+"remove them")
}

func (s *observedShoot) compareGateway(d *differences, gateway cloudopenstack.ExternalGateway, changesGateway bool) {
	s.compareGatewayNetwork(d, gateway)
	if wanted := s.plan.router.snat; wanted != nil && gateway.EnableSNAT != nil {
		d.text("source NAT", onOrOff(*gateway.EnableSNAT), onOrOff(*wanted), next(changesGateway, setBack))
	}
	var subnets, addresses []string
	for _, ip := range gateway.FixedIPs {
		subnets, addresses = append(subnets, ip.SubnetID), append(addresses, ip.IPAddress)
	}
	if wanted := s.state.Fact(keyFloatingSubnet); wanted != "" && !slices.Contains(subnets, wanted) {
		d.list("gateway subnet", subnets, []string{wanted}, byUser+"move the gateway back")
	}
	if recorded := s.recordedAddresses(); len(recorded) > 0 {
		d.set("external addresses", addresses, recorded, reportedNext)
	}
}

// recordedAddresses are the router's addresses in the status, which users may have told others.
func (s *observedShoot) recordedAddresses() []string {
	var status openstackv1alpha1.InfrastructureStatus
	raw := s.shoot.Infrastructure.Status.ProviderStatus
	if raw == nil || json.Unmarshal(raw.Raw, &status) != nil {
		return nil
	}
	if addresses := status.Networks.Router.ExternalFixedIPs; len(addresses) > 0 {
		return addresses
	}
	return nonEmptyList(status.Networks.Router.IP) // the upstream extension's older status
}

// nodeRoutes recognizes the routes to nodes by the present ranges of their subnets: the upstream extension does not record them.
func (s *observedShoot) nodeRoutes() nodeRoutes {
	routes := s.recordedNodeRoutes()
	for _, wanted := range s.subnets {
		if subnet := byID(s.cloud.subnets, s.knownID(wanted.kind, wanted.givenID), subnetID); subnet != nil && wanted.attached {
			routes.own = append(routes.own, subnet.CIDR)
		}
	}
	return routes
}

// compareInterfaces looks for missing interfaces of the router in use, and for foreign ones of the shoot's own.
func (s *observedShoot) compareInterfaces(d *differences) {
	id := s.knownID(kindRouter, s.plan.router.givenID)
	if byID(s.cloud.routers, id, routerID) == nil {
		return
	}
	d.of("router %s", id)
	var interfaces []cloudopenstack.Port
	for _, port := range s.cloud.ports {
		if port.DeviceID == id && isRouterInterface(port) {
			interfaces = append(interfaces, port)
		}
	}
	var ours []string
	for _, k := range subnetKinds() { // also those of a family that is not in use any more
		ours = append(ours, s.state.ID(k))
	}
	for _, wanted := range s.subnets {
		subnet := s.knownID(wanted.kind, wanted.givenID)
		ours = append(ours, subnet)
		if exists := byID(s.cloud.subnets, subnet, subnetID) != nil; exists && wanted.attached && !connects(interfaces, subnet) {
			d.foundf("has no interface in subnet %s; %s", subnet, recreatedNext)
		}
	}
	if !s.owns(kindRouter, s.plan.router.givenID) {
		return
	}
	for _, finding := range unmanagedInterfaces(id, interfaces, ours) {
		d.sentences = append(d.sentences, finding+"; "+byUser+"remove it, since it prevents the router's deletion")
	}
}

func onOrOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}
