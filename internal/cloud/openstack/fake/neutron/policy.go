package neutron

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// What a plain member may not do, with the names of Neutron's policy rules.

// denied is Neutron's response if its policy denies an attribute.
func denied(action, resource, attribute string) *wire.Error {
	return disallowed(action+"_"+resource, "rule:"+action+"_"+resource+":"+attribute)
}

// disallowed names the rule of a call and the further rules that were required.
func disallowed(rule, more string) *wire.Error {
	return core.Forbidden("PolicyNotAuthorized", "(rule:%s and %s) is disallowed by policy", rule, more)
}

// policyAction is the policy's name of an action.
func policyAction(q *core.Request) string {
	if q.HTTP.Method == http.MethodPut {
		return "update"
	}
	return "create"
}

func networkPolicy(q *core.Request, in *networkInput) error {
	if q.Admin() {
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

// portPolicy reserves attributes that affect others in a network for its owner, and the choice of a host for operators.
func portPolicy(q *core.Request, n *Network, in *portInput, action string) error {
	if q.Admin() {
		return nil
	}
	owner := q.Owns(n.ProjectID)
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
	withAddress := func(ip FixedIPInput) bool { return ip.IPAddress != "" }
	if at := slices.IndexFunc(in.FixedIPs.Value, withAddress); at >= 0 && !owner {
		return portAddressDenied(action, in.FixedIPs.Value[at])
	}
	return nil
}

func portAddressDenied(action string, ip FixedIPInput) *wire.Error {
	rule := action + "_port"
	parts := fmt.Sprintf("rule:%s:fixed_ips:ip_address", rule)
	if ip.SubnetID != "" {
		parts = fmt.Sprintf("(%s and rule:%s:fixed_ips:subnet_id)", parts, rule)
	}
	return disallowed(rule, fmt.Sprintf("(rule:%s:fixed_ips and %s)", rule, parts))
}

// gatewayPolicy refuses attributes for administrators, unless the cloud permits them to members.
func (svc *Service) gatewayPolicy(q *core.Request, in *gatewayInput) error {
	if q.Admin() {
		return nil
	}
	policy := svc.Config.Policy
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

// maySeeSubnet reports whether a caller may read a subnet. Those of external networks are hidden unless the policy permits them.
func (svc *Service) maySeeSubnet(caller *core.Identity, s *Subnet) bool {
	n := svc.Networks.Get(s.NetworkID)
	return caller.Owns(s.ProjectID) || caller.Owns(n.ProjectID) || n.Shared || n.External && svc.Config.Policy.SeeExternalSubnets
}

// checkQuota returns Neutron's error if a create would exceed a quota.
func (svc *Service) checkQuota(projectID, resource string, have, more int) error {
	if resource != "" && svc.Exceeds(projectID, resource, have, more) {
		return core.Conflict("OverQuota", "Quota exceeded for resources: ['%s'].", resource)
	}
	return nil
}

// checkedBeforeQuota reports whether a create is refused before Neutron checks the quota: it validates and authorizes a request first, for which it
// reads the network.
func checkedBeforeQuota(err error) bool {
	refusal, isRefusal := errors.AsType[*wire.Error](err)
	return isRefusal && slices.Contains([]string{"HTTPBadRequest", "PolicyNotAuthorized", "NetworkNotFound"}, refusal.Type)
}
