package openstack

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud"
)

// Nova responds to a request that exceeds a quota with the same 403 as to a user without permission, and only the text differs. So the
// project's usage and limits are read. If that fails, the quota counts as not exceeded, and the error is not changed.

// usage is the used number of something and its limit; a negative or unknown limit is none.
type usage struct {
	name       string
	used, more int
	limit      *int
}

func (u usage) exceeded() bool {
	return u.limit != nil && *u.limit >= 0 && u.used+u.more > *u.limit
}

// exceededQuotas names the quotas that are exceeded, or is empty.
func exceededQuotas(all ...usage) string {
	var over []string
	for _, u := range all {
		if u.exceeded() {
			over = append(over, fmt.Sprintf("%s (%d of %d, %d more needed)", u.name, u.used, *u.limit, u.more))
		}
	}
	return strings.Join(over, ", ")
}

// asQuotaError returns an error of the kind cloud.QuotaExceeded if a quota is exceeded, otherwise the given one.
func asQuotaError(err error, exceeded string) error {
	if exceeded == "" {
		return err
	}
	return &cloud.Error{Kind: cloud.QuotaExceeded, Message: "the project's quota is used up: " + exceeded, Err: err}
}

// ComputeLimits are Nova's limits and usage of the project. A limit that is nil or negative is none.
type ComputeLimits struct {
	MaxInstances    *int `json:"maxTotalInstances"`
	Instances       int  `json:"totalInstancesUsed"`
	MaxCores        *int `json:"maxTotalCores"`
	Cores           int  `json:"totalCoresUsed"`
	MaxRAM          *int `json:"maxTotalRAMSize"` // MiB
	RAM             int  `json:"totalRAMUsed"`
	MaxMetadata     *int `json:"maxServerMeta"` // of one server
	MaxGroups       *int `json:"maxServerGroups"`
	Groups          int  `json:"totalServerGroupsUsed"`
	MaxGroupMembers *int `json:"maxServerGroupMembers"`
}

// GetComputeLimits returns Nova's limits and usage of the project.
func (s *Session) GetComputeLimits(ctx context.Context) (ComputeLimits, error) {
	var response struct {
		Limits struct {
			Absolute ComputeLimits `json:"absolute"`
		} `json:"limits"`
	}
	err := s.do(ctx, call{service: computeService, method: http.MethodGet, path: "limits", response: &response})
	return response.Limits.Absolute, err
}

func (s *Session) exceededServerGroupQuotas(ctx context.Context) string {
	has, err := s.GetComputeLimits(ctx)
	if err != nil {
		return ""
	}
	return exceededQuotas(usage{name: "server groups", used: has.Groups, more: 1, limit: has.MaxGroups})
}

// exceededServerQuotas names the quotas that a server exceeds: those of its flavor and its metadata, that of its group, and that of the
// ports that Nova would create for it.
func (s *Session) exceededServerQuotas(ctx context.Context, server ServerCreate) string {
	has, err := s.GetComputeLimits(ctx)
	if err != nil {
		return ""
	}
	all := []usage{
		{name: "instances", used: has.Instances, more: 1, limit: has.MaxInstances},
		{name: "metadata items of a server", more: len(server.Metadata), limit: has.MaxMetadata},
	}
	if flavor, err := s.flavors().get(ctx, server.FlavorID); err == nil {
		all = append(all,
			usage{name: "cores", used: has.Cores, more: flavor.VCPUs, limit: has.MaxCores},
			usage{name: "MiB of RAM", used: has.RAM, more: flavor.RAM, limit: has.MaxRAM})
	}
	if server.ServerGroupID != "" {
		if group, err := s.GetServerGroup(ctx, server.ServerGroupID); err == nil {
			all = append(all, usage{name: "members of a server group", used: len(group.Members), more: 1, limit: has.MaxGroupMembers})
		}
	}
	if len(server.NetworkIDs) > 0 {
		all = append(all, s.portUsage(ctx, len(server.NetworkIDs)))
	}
	return exceededQuotas(all...)
}

func (s *Session) portUsage(ctx context.Context, more int) usage {
	ports := usage{name: "ports", more: more}
	quota, err := s.GetNetworkQuota(ctx)
	if err != nil || quota.Ports == nil || *quota.Ports < 0 {
		return ports
	}
	existing, err := s.ports().list(ctx, projectFilter(s.Token().ProjectID))
	if err != nil {
		return ports
	}
	ports.used, ports.limit = len(existing), quota.Ports
	return ports
}

// NetworkQuota has Neutron's quotas of the project. A quota that is nil or negative is none.
type NetworkQuota struct {
	Ports *int `json:"port"`
}

// GetNetworkQuota returns Neutron's quotas of the project. The response does not contain the usage: it is the number of the project's own resources.
func (s *Session) GetNetworkQuota(ctx context.Context) (NetworkQuota, error) {
	var response struct {
		Quota NetworkQuota `json:"quota"`
	}
	path := "quotas/" + url.PathEscape(s.Token().ProjectID)
	err := s.do(ctx, call{service: networkService, method: http.MethodGet, path: path, response: &response})
	return response.Quota, err
}

// VolumeQuota has Cinder's quotas of the project. A quota that is nil or negative is none.
type VolumeQuota struct {
	Volumes   *int `json:"volumes"`
	Gigabytes *int `json:"gigabytes"` // GiB, of volumes and, in most clouds, snapshots
}

// GetVolumeQuota returns Cinder's quotas of the project. Without Cinder it fails, see IsServiceMissing.
func (s *Session) GetVolumeQuota(ctx context.Context) (VolumeQuota, error) {
	var response struct {
		Quota VolumeQuota `json:"quota_set"`
	}
	path := "os-quota-sets/" + url.PathEscape(s.Token().ProjectID)
	err := s.do(ctx, call{service: blockStorageService, method: http.MethodGet, path: path, response: &response})
	return response.Quota, err
}

// projectFilter selects the ports that count against a project's quota: a list also shows others' in the project's networks.
type projectFilter string

func (p projectFilter) query() url.Values      { return url.Values{"project_id": {string(p)}} }
func (p projectFilter) matches(port Port) bool { return port.ProjectID == string(p) }
