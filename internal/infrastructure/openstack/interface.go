package openstack

import (
	"context"
	"fmt"
	"slices"

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
		return fmt.Errorf("adding subnet %s to router %s: %w", subnet.ID, p.router.ID, err)
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
