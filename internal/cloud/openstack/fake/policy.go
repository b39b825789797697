package fake

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

// What a plain member may not do, in the words of Neutron's policy engine.

// denied is what Neutron answers when its policy does not allow an attribute.
func denied(action, resource, attribute string) *wire.Error {
	return disallowed(action+"_"+resource, "rule:"+action+"_"+resource+":"+attribute)
}

// disallowed names the rule of a call and what else had to be allowed.
func disallowed(rule, more string) *wire.Error {
	return core.Forbidden("PolicyNotAuthorized", "(rule:%s and %s) is disallowed by policy", rule, more)
}

// policyAction is how a policy calls what a request does.
func policyAction(q *request) string {
	if q.http.Method == http.MethodPut {
		return "update"
	}
	return "create"
}

func networkPolicy(q *request, in *networkInput) error {
	if q.admin() {
		return nil
	}
	for _, attribute := range []struct {
		name string
		sent bool
	}{
		{"shared", in.Shared.Or(false)},
		{"router:external", in.External.Or(false)},
		{"is_default", in.IsDefault.Set},
		{"provider:network_type", in.NetworkType.Set},
		{"provider:physical_network", in.PhysicalNetwork.Set},
		{"provider:segmentation_id", in.SegmentationID.Set},
	} {
		if attribute.sent {
			return denied(policyAction(q), "network", attribute.name)
		}
	}
	return nil
}

// portPolicy leaves to the network's owner what could disturb others in it, and to operators on which host a port is.
func portPolicy(q *request, n *Network, in *portInput, action string) error {
	if q.admin() {
		return nil
	}
	owner := q.owns(n.ProjectID)
	for _, attribute := range []struct {
		name    string
		refused bool
	}{
		{"binding:host_id", in.HostID.Set},
		{"binding:profile", in.Profile.Set},
		{"mac_address", in.MACAddress.Set && !owner},
		{"port_security_enabled", in.PortSecurity.Set && !owner},
		{"device_owner", strings.HasPrefix(in.DeviceOwner.Value, "network:") && !owner},
	} {
		if attribute.refused {
			return denied(action, "port", attribute.name)
		}
	}
	withAddress := func(ip fixedIPInput) bool { return ip.IPAddress != "" }
	if at := slices.IndexFunc(in.FixedIPs.Value, withAddress); at >= 0 && !owner {
		return portAddressDenied(action, in.FixedIPs.Value[at])
	}
	return nil
}

func portAddressDenied(action string, ip fixedIPInput) *wire.Error {
	rule := action + "_port"
	parts := fmt.Sprintf("rule:%s:fixed_ips:ip_address", rule)
	if ip.SubnetID != "" {
		parts = fmt.Sprintf("(%s and rule:%s:fixed_ips:subnet_id)", parts, rule)
	}
	return disallowed(rule, fmt.Sprintf("(rule:%s:fixed_ips and %s)", rule, parts))
}

// gatewayPolicy refuses what only administrators may choose, unless the cloud has opened it.
func (svc *neutronService) gatewayPolicy(q *request, in *gatewayInput) error {
	if q.admin() {
		return nil
	}
	policy := svc.config.policy
	refused := in.EnableSNAT.Set && !policy.SetSNAT || in.ExternalFixedIPs.Set && !policy.SetGatewaySubnet && !policy.SetGatewayAddress
	for _, ip := range in.ExternalFixedIPs.Value {
		refused = refused || ip.IPAddress != "" && !policy.SetGatewayAddress || ip.IPAddress == "" && !policy.SetGatewaySubnet
	}
	if !refused {
		return nil
	}
	rule := policyAction(q) + "_router"
	var parts []string
	for _, attribute := range in.given() {
		parts = append(parts, fmt.Sprintf("rule:%s:external_gateway_info:%s", rule, attribute))
	}
	return disallowed(rule, fmt.Sprintf("(rule:%s:external_gateway_info and (%s))", rule, strings.Join(parts, " and ")))
}

// maySeeSubnet reports whether somebody sees a subnet. Those of an external network are hidden unless the policy says otherwise.
func (svc *neutronService) maySeeSubnet(caller *identity, s *Subnet) bool {
	n := svc.networks.Get(s.NetworkID)
	return caller.owns(s.ProjectID) || caller.owns(n.ProjectID) || n.Shared || n.External && svc.config.policy.SeeExternalSubnets
}

// checkQuota answers as Neutron does when a create would go over a quota.
func (svc *neutronService) checkQuota(projectID, resource string, have, more int) error {
	if resource != "" && svc.exceeds(projectID, resource, have, more) {
		return core.Conflict("OverQuota", "Quota exceeded for resources: ['%s'].", resource)
	}
	return nil
}

// checkedBeforeQuota reports whether a create is refused before Neutron looks at the quota: it understands and authorises a request
// first, for which it looks up the network that things are in.
func checkedBeforeQuota(err error) bool {
	refusal, isRefusal := errors.AsType[*wire.Error](err)
	return isRefusal && slices.Contains([]string{"HTTPBadRequest", "PolicyNotAuthorized", "NetworkNotFound"}, refusal.Type)
}
