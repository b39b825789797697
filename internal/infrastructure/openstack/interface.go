package openstack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
)

// ensureInterface connects a subnet to the router. It does not wait for the port, which may stay DOWN until the first node with distributed routers and OVN.
func (rec *reconciliation) ensureInterface(ctx context.Context, wanted subnetSpec) error {
	subnet := rec.ensuredSubnet(wanted.kind)
	if connects(rec.observed.interfaces, subnet.ID) {
		rec.adoptInterface(wanted, subnet.ID)
		return nil
	}
	if _, err := rec.cloud.AddRouterInterface(ctx, rec.router.ID, subnet.ID); err != nil {
		if wanted.givenID != "" {
			rec.recordFailedCreate(kindInterface, err)
		}
		return fmt.Errorf("adding subnet %s to router %s: %w", subnet.ID, rec.router.ID, rec.explainInterfaceError(ctx, wanted, subnet, err))
	}
	rec.log.Info("Added router interface", "router", rec.router.ID, "subnet", subnet.ID)
	if wanted.givenID != "" {
		rec.recordResource(kindInterface, subnet.ID, own, nil)
	}
	return nil
}

// adoptInterface adopts an interface in a given subnet if an earlier process had the intent to create it. Others existed before the shoot and stay.
func (rec *reconciliation) adoptInterface(wanted subnetSpec, subnetID string) {
	if wanted.givenID != "" && rec.state.Intent(kindInterface) == subnetID {
		rec.recordResource(kindInterface, subnetID, own, nil)
	}
}

// explainInterfaceError handles the refusal of an interface: a given subnet whose gateway address is in use can only be used with that router.
func (rec *reconciliation) explainInterfaceError(ctx context.Context, wanted subnetSpec, subnet cloudopenstack.Subnet, err error) error {
	if wanted.givenID == "" || (!isStatus(err, http.StatusBadRequest) && !isStatus(err, http.StatusConflict)) {
		return err
	}
	if subnet.GatewayIP == "" {
		return refusedValue{"networks.subnetId", "subnet " + subnet.ID + " has no gateway address; give one that has"}.asConfigurationError(err)
	}
	ports, findErr := rec.cloud.ListPorts(ctx, cloudopenstack.PortFilter{SubnetIDs: []string{subnet.ID}})
	if findErr != nil {
		return err
	}
	gateway := cloudopenstack.FixedIP{SubnetID: subnet.ID, IPAddress: subnet.GatewayIP}
	i := slices.IndexFunc(ports, func(port cloudopenstack.Port) bool { return slices.Contains(port.FixedIPs, gateway) })
	switch {
	case i < 0 && isAddressTaken(err):
		return cloud.Errorf(cloud.Configuration, "networks.router.id: the gateway address %s of subnet %s is taken, by something that this project "+
			"cannot see; give the router that has it, or another subnet: %w", subnet.GatewayIP, subnet.ID, err)
	case i < 0:
		return err
	case isRouterInterface(ports[i]) && ports[i].DeviceID != rec.router.ID:
		return cloud.Errorf(cloud.Configuration, "networks.router.id: subnet %s is connected to router %s already; give that router: %w",
			subnet.ID, ports[i].DeviceID, err)
	case isRouterInterface(ports[i]):
		return err // it is connected by now
	default:
		return cloud.Errorf(cloud.Configuration, "networks.subnetId: the gateway address %s of subnet %s is taken by %s; free it, or give another subnet: %w",
			subnet.GatewayIP, subnet.ID, rec.describePort(ctx, ports[i]), err)
	}
}

// isAddressTaken reports whether an address was refused because it is in use.
func isAddressTaken(err error) bool {
	response, refused := errors.AsType[*cloudopenstack.ResponseError](err)
	return refused && (response.Type == "IpAddressInUse" || response.Type == "IpAddressAlreadyAllocated")
}

func connects(interfaces []cloudopenstack.Port, subnetID string) bool {
	return slices.ContainsFunc(interfaces, func(port cloudopenstack.Port) bool { return inSubnet(port, subnetID) })
}

func inSubnet(port cloudopenstack.Port, subnetID string) bool {
	return slices.ContainsFunc(port.FixedIPs, func(ip cloudopenstack.FixedIP) bool { return ip.SubnetID == subnetID })
}

// unmanagedInterfaces reports other interfaces of the shoot's own router, which would prevent its deletion.
func unmanagedInterfaces(routerID string, interfaces []cloudopenstack.Port, subnetIDs []string) []string {
	var findings []string
	for _, port := range interfaces {
		for _, ip := range port.FixedIPs {
			if !slices.Contains(subnetIDs, ip.SubnetID) {
				findings = append(findings, fmt.Sprintf("router %s has an interface (port %s) in subnet %s, which is not the shoot's", routerID, port.ID, ip.SubnetID))
			}
		}
	}
	return findings
}
