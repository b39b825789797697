package openstack

import (
	"context"
	"fmt"
	"slices"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
)

// ensureSubnet uses the given subnet, repairs the shoot's own, or creates one. Neutron allocates the range from a pool in the create request, so there is
// nothing to wait for.
func (rec *reconciliation) ensureSubnet(ctx context.Context, wanted subnetSpec) error {
	subnet, err := rec.reconcileSubnet(ctx, wanted)
	if err != nil {
		return err
	}
	rec.recordResource(wanted.kind, subnet.ID, ownerOf(wanted.givenID), nil)
	rec.setEnsuredSubnet(wanted.kind, subnet)
	rec.updateState(func(s *state) {
		s.SetFact(rangeKey(wanted.kind), effectiveRange(wanted.kind, subnet.CIDR))
		if wanted.kind == kindSubnet {
			s.SetFact(openstackv1alpha1.StateKeyWorkersCIDR, upstreamWorkersCIDR(wanted, subnet))
		}
	})
	return nil
}

// upstreamWorkersCIDR is the range if it is from a subnet pool, otherwise empty: the upstream extension adds the recorded value to the configured ranges of
// nodes, so that the shoot would have more ranges after moving back.
func upstreamWorkersCIDR(wanted subnetSpec, subnet cloudopenstack.Subnet) string {
	if wanted.poolID == "" {
		return ""
	}
	return subnet.CIDR
}

func (rec *reconciliation) reconcileSubnet(ctx context.Context, wanted subnetSpec) (cloudopenstack.Subnet, error) {
	observed, found := rec.observed.subnets[wanted.kind]
	switch {
	case wanted.givenID != "":
		if !observed.DHCP {
			rec.addFindings(fmt.Sprintf("subnet %s has DHCP switched off: nodes will have no address unless their image knows another way", observed.ID))
		}
		return observed, verifyGivenSubnet(wanted, observed, rec.net.ID)
	case found && observed.NetworkID != rec.net.ID:
		return observed, cloud.Errorf(cloud.Configuration, "subnet %s of the shoot lies in network %s instead of %s: remove the subnet, it will be created anew",
			observed.ID, observed.NetworkID, rec.net.ID)
	case found:
		return rec.repairSubnet(ctx, wanted, observed)
	}
	created, err := rec.cloud.CreateSubnet(ctx, cloudopenstack.SubnetCreate{
		NetworkID: rec.net.ID, Name: wanted.name, Description: rec.mark, IPVersion: wanted.version,
		CIDR: wanted.cidr, SubnetPoolID: wanted.poolID, PrefixLength: wanted.prefixLength,
		IPv6AddressMode: wanted.ipv6Mode, IPv6RAMode: wanted.ipv6Mode, DNSServers: wanted.dnsServers,
	})
	if err != nil {
		rec.recordFailedCreate(wanted.kind, err)
		return created, fmt.Errorf("creating subnet %q: %w", wanted.name, explainSubnetError(wanted, err))
	}
	rec.log.Info("Created subnet", "id", created.ID, "cidr", created.CIDR)
	return created, nil
}

func (rec *reconciliation) repairSubnet(ctx context.Context, wanted subnetSpec, observed cloudopenstack.Subnet) (cloudopenstack.Subnet, error) {
	update, findings := subnetChange(wanted, observed)
	rec.addFindings(findings...)
	if update == nil {
		return observed, nil
	}
	repaired, err := rec.cloud.UpdateSubnet(ctx, observed.ID, *update)
	if err != nil {
		return observed, fmt.Errorf("repairing subnet %s: %w", observed.ID, err)
	}
	rec.log.Info("Repaired subnet", "id", observed.ID)
	return repaired, nil
}

// subnetChange computes the repairs of the shoot's own subnet, and the findings.
func subnetChange(wanted subnetSpec, observed cloudopenstack.Subnet) (*cloudopenstack.SubnetUpdate, []string) {
	var update cloudopenstack.SubnetUpdate
	var findings []string
	changed := false
	if !observed.DHCP {
		update.DHCP = new(true)
		changed = true
	}
	if !slices.Equal(wanted.dnsServers, observed.DNSServers) {
		update.DNSServers = new(append([]string{}, wanted.dnsServers...))
		changed = true
	}
	if wanted.cidr != "" && !sameRange(wanted.cidr, observed.CIDR) {
		findings = append(findings, fmt.Sprintf("subnet %s has the range %s, not %s as configured; "+
			"the range of a subnet cannot be changed while nodes are in it", observed.ID, observed.CIDR, wanted.cidr))
	}
	if wanted.poolID != "" && observed.SubnetPoolID != wanted.poolID {
		findings = append(findings, fmt.Sprintf("subnet %s was not taken from subnet pool %s as configured", observed.ID, wanted.poolID))
	}
	if !changed {
		return nil, findings
	}
	return &update, findings
}

// verifyGivenSubnet refuses a subnet that is unsuitable for the shoot's nodes.
func verifyGivenSubnet(wanted subnetSpec, observed cloudopenstack.Subnet, networkID string) error {
	switch {
	case observed.NetworkID != networkID:
		return cloud.Errorf(cloud.Configuration, "networks.subnetId: subnet %s lies in network %s, not in %s as networks.id says",
			observed.ID, observed.NetworkID, networkID)
	case observed.IPVersion != wanted.version:
		return cloud.Errorf(cloud.Configuration, "networks.subnetId: subnet %s is an IPv%d subnet; give an IPv%d subnet",
			observed.ID, observed.IPVersion, wanted.version)
	case wanted.cidr != "" && !sameRange(wanted.cidr, observed.CIDR):
		return cloud.Errorf(cloud.Configuration, "networks.subnetId: subnet %s has the range %s, not %s as networks.workers says; "+
			"leave networks.workers out", observed.ID, observed.CIDR, wanted.cidr)
	default:
		return nil
	}
}

// sameRange compares CIDRs by meaning.
func sameRange(a, b string) bool {
	prefixA, errA := parsePrefix(a)
	prefixB, errB := parsePrefix(b)
	return errA == nil && errB == nil && prefixA == prefixB
}

// rangeKey is the key of the recorded range that nodes, pods or services have from the subnet.
func rangeKey(k kind) string {
	switch k {
	case kindSubnetIPv6:
		return openstackv1alpha1.StateKeyNodeSubnetIPv6CIDR
	case kindSubnetPods:
		return openstackv1alpha1.StateKeyPodSubnetIPv6CIDR
	case kindSubnetServices:
		return openstackv1alpha1.StateKeyServiceSubnetIPv6CIDR
	default:
		return keyWorkersCIDR
	}
}

// servicePrefixLength is the length of the IPv6 range of services. kube-apiserver refuses a larger range; the upstream extension uses the same, so that the
// range of a shoot stays when it moves.
const servicePrefixLength = 112

// effectiveRange is the used part of a subnet's range: all of it, and for services the first /112.
func effectiveRange(k kind, cidr string) string {
	prefix, err := parsePrefix(cidr)
	if err != nil || k != kindSubnetServices || prefix.Bits() == servicePrefixLength {
		return cidr
	}
	fitted, err := prefix.Addr().Prefix(servicePrefixLength)
	if err != nil {
		return cidr
	}
	return fitted.String()
}
