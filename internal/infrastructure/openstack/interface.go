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

// ensureInterface connects a subnet to the router. The answer of the call is all there is to wait for: with distributed
// routers and OVN the port may stay DOWN until the first node is there.
func (p *pass) ensureInterface(ctx context.Context, wanted subnetWant) error {
	subnet := p.heldSubnet(wanted.kind)
	if connects(p.seen.interfaces, subnet.ID) {
		p.keepInterface(wanted, subnet.ID)
		return nil
	}
	if _, err := p.cloud.AddRouterInterface(ctx, p.router.ID, subnet.ID); err != nil {
		if wanted.givenID != "" {
			p.notCreated(kindInterface, err)
		}
		return fmt.Errorf("adding subnet %s to router %s: %w", subnet.ID, p.router.ID, p.blameInterface(ctx, wanted, subnet, err))
	}
	p.log.Info("Added router interface", "router", p.router.ID, "subnet", subnet.ID)
	if wanted.givenID != "" {
		p.hold(kindInterface, subnet.ID, own, nil)
	}
	return nil
}

// keepInterface takes over an interface in a given subnet if a predecessor was about to create it. Every other one was
// there before the shoot and stays.
func (p *pass) keepInterface(wanted subnetWant, subnetID string) {
	if wanted.givenID != "" && p.ledger.intent(kindInterface) == subnetID {
		p.hold(kindInterface, subnetID, own, nil)
	}
}

// blameInterface looks for the user's part in the refusal of an interface: a given subnet whose gateway address is taken
// can only be used with the router that has it.
func (p *pass) blameInterface(ctx context.Context, wanted subnetWant, subnet cloudopenstack.Subnet, err error) error {
	if wanted.givenID == "" || (!isStatus(err, http.StatusBadRequest) && !isStatus(err, http.StatusConflict)) {
		return err
	}
	if subnet.GatewayIP == "" {
		return refusedValue{"networks.subnetId", "subnet " + subnet.ID + " has no gateway address; give one that has"}.orConfiguration(err)
	}
	ports, findErr := p.cloud.ListPorts(ctx, cloudopenstack.PortFilter{SubnetIDs: []string{subnet.ID}})
	if findErr != nil {
		return err
	}
	gateway := cloudopenstack.FixedIP{SubnetID: subnet.ID, IPAddress: subnet.GatewayIP}
	i := slices.IndexFunc(ports, func(port cloudopenstack.Port) bool { return slices.Contains(port.FixedIPs, gateway) })
	switch {
	case i < 0 && isTaken(err):
		return cloud.Errorf(cloud.Configuration, "networks.router.id: the gateway address %s of subnet %s is taken, by something that this project "+
			"cannot see; give the router that has it, or another subnet: %w", subnet.GatewayIP, subnet.ID, err)
	case i < 0:
		return err
	case isRouterInterface(ports[i]) && ports[i].DeviceID != p.router.ID:
		return cloud.Errorf(cloud.Configuration, "networks.router.id: subnet %s is connected to router %s already; give that router: %w",
			subnet.ID, ports[i].DeviceID, err)
	case isRouterInterface(ports[i]):
		return err // it is connected by now
	default:
		return cloud.Errorf(cloud.Configuration, "networks.subnetId: the gateway address %s of subnet %s is taken by %s; free it, or give another subnet: %w",
			subnet.GatewayIP, subnet.ID, p.describePort(ctx, ports[i]), err)
	}
}

// isTaken tells whether an address was refused since somebody else has it.
func isTaken(err error) bool {
	answer, refused := errors.AsType[*cloudopenstack.ResponseError](err)
	return refused && (answer.Type == "IpAddressInUse" || answer.Type == "IpAddressAlreadyAllocated")
}

func connects(interfaces []cloudopenstack.Port, subnetID string) bool {
	return slices.ContainsFunc(interfaces, func(port cloudopenstack.Port) bool { return inSubnet(port, subnetID) })
}

func inSubnet(port cloudopenstack.Port, subnetID string) bool {
	return slices.ContainsFunc(port.FixedIPs, func(ip cloudopenstack.FixedIP) bool { return ip.SubnetID == subnetID })
}

// foreignInterfaces reports what else is connected to the shoot's own router. It would keep the router from being deleted.
func foreignInterfaces(routerID string, interfaces []cloudopenstack.Port, subnetIDs []string) []string {
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
