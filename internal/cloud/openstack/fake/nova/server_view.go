package nova

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/http"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/neutron"
)

// serverView is a server on the wire.
func (svc *Service) serverView(q *core.Request, s *Server, micro int) map[string]any {
	view := svc.serverCore(q, s, micro)
	maps.Copy(view, map[string]any{
		"OS-EXT-AZ:availability_zone": s.AvailabilityZone, "config_drive": "", "key_name": core.OrNull(s.KeyName),
		"OS-SRV-USG:launched_at": core.OrNull(s.LaunchedAt), "OS-SRV-USG:terminated_at": nil,
		"OS-EXT-STS:task_state": core.OrNull(s.TaskState), "OS-EXT-STS:vm_state": vmState(s.Status), "OS-EXT-STS:power_state": powerState(s.Status),
		"os-extended-volumes:volumes_attached": s.disksView(micro),
	})
	if s.ConfigDrive {
		view["config_drive"] = "True"
	}
	if groups := svc.serverGroupNames(s); len(groups) > 0 {
		view["security_groups"] = groups
	}
	if q.Admin() {
		view["OS-EXT-SRV-ATTR:host"], view["OS-EXT-SRV-ATTR:hypervisor_hostname"] = core.OrNull(s.Host), core.OrNull(s.Host)
		view["OS-EXT-SRV-ATTR:instance_name"] = "instance-" + s.ID[:8]
		if micro >= 203 {
			view["OS-EXT-SRV-ATTR:user_data"] = core.OrNull(s.UserData)
		}
	}
	return view
}

// serverCore are the attributes of a server in responses to changes.
func (svc *Service) serverCore(q *core.Request, s *Server, micro int) map[string]any {
	view := map[string]any{
		"id": s.ID, "name": s.Name, "tenant_id": s.ProjectID, "user_id": s.UserID, "status": s.Status, "metadata": s.Metadata,
		"created": s.CreatedAt, "updated": s.UpdatedAt, "accessIPv4": "", "accessIPv6": "", "OS-DCF:diskConfig": "MANUAL",
		"image": "", "flavor": svc.serverFlavor(q, s, micro), "hostId": s.hostID(), "addresses": svc.serverAddresses(s),
		"links": novaLinks(q, "servers", s.ID),
	}
	if s.ImageID != "" {
		view["image"] = map[string]any{"id": s.ImageID, "links": novaLinks(q, "images", s.ImageID)[1:]}
	}
	switch s.Status {
	case "ACTIVE", "BUILD":
		view["progress"] = 0
	case "ERROR":
		view["fault"] = map[string]any{"code": http.StatusInternalServerError, "created": s.UpdatedAt, "message": s.Fault}
	}
	for since, attribute := range map[int]struct {
		name  string
		value any
	}{
		209: {"locked", false}, 219: {"description", s.Description}, 226: {"tags", s.Tags}, 263: {"trusted_image_certificates", nil},
		271: {"server_groups", core.Without([]string{s.GroupID}, func(id string) bool { return svc.Groups.Get(id) == nil })}, 273: {"locked_reason", nil},
	} {
		if micro >= since {
			view[attribute.name] = attribute.value
		}
	}
	return view
}

// hostID identifies a host within a project, without its name.
func (s *Server) hostID() string {
	if s.Host == "" {
		return ""
	}
	sum := sha256.Sum224([]byte(s.ProjectID + s.Host))
	return hex.EncodeToString(sum[:])
}

// vmState is Nova's internal name of a status.
func vmState(status string) string {
	switch status {
	case "BUILD":
		return "building"
	case "SHUTOFF":
		return "stopped"
	default:
		return strings.ToLower(status)
	}
}

func powerState(status string) int {
	switch status {
	case "ACTIVE":
		return 1
	case "SHUTOFF":
		return 4
	default:
		return 0
	}
}

func (s *Server) disksView(micro int) []any {
	out := []any{}
	for _, d := range s.Disks {
		view := map[string]any{"id": d.VolumeID}
		if micro >= 203 {
			view["delete_on_termination"] = d.DeleteOnTermination
		}
		out = append(out, view)
	}
	return out
}

// serverGroupNames are the security groups of the ports of a server, port by port.
func (svc *Service) serverGroupNames(s *Server) []any {
	out := []any{}
	for _, p := range svc.serverPorts(s.ID) {
		for _, id := range p.SecurityGroups {
			if g := svc.neutron.Groups.Get(id); g != nil {
				out = append(out, map[string]any{"name": g.Name})
			}
		}
	}
	return out
}

// serverFlavor is a reference before microversion 2.47, and a copy since.
func (svc *Service) serverFlavor(q *core.Request, s *Server, micro int) map[string]any {
	f := svc.flavors.Get(s.FlavorID)
	if micro < 247 || f == nil {
		return map[string]any{"id": s.FlavorID, "links": novaLinks(q, "flavors", s.FlavorID)[1:]}
	}
	return map[string]any{
		"original_name": f.Name, "vcpus": f.VCPUs, "ram": f.RAM, "disk": f.Disk, "ephemeral": f.Ephemeral, "swap": 0, "extra_specs": f.specs(),
	}
}

// serverAddresses are grouped by the name of the network, with floating IPs last.
func (svc *Service) serverAddresses(s *Server) map[string]any {
	fixed, floating := map[string][]any{}, map[string][]any{}
	view := func(p *neutron.Port, addr, kind string) map[string]any {
		version := 6
		if neutron.AddrOf(addr).Is4() {
			version = 4
		}
		return map[string]any{"addr": addr, "version": version, "OS-EXT-IPS:type": kind, "OS-EXT-IPS-MAC:mac_addr": p.MACAddress}
	}
	for _, p := range svc.serverPorts(s.ID) {
		network := svc.neutron.Networks.Get(p.NetworkID).Name
		for _, ip := range p.FixedIPs {
			fixed[network] = append(fixed[network], view(p, ip.IPAddress, "fixed"))
		}
		for _, f := range svc.neutron.Fips.Rows {
			if string(f.PortID) == p.ID {
				floating[network] = append(floating[network], view(p, f.FloatingIPAddress, "floating"))
			}
		}
	}
	out := map[string]any{}
	for network, addresses := range fixed {
		out[network] = append(addresses, floating[network]...)
	}
	return out
}
