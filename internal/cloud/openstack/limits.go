package openstack

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud"
)

// Nova refuses what goes over a quota with the same 403 as a user without permission, and only prose tells them apart. So it is
// asked for what the project has and may have. What cannot be found out counts as no excess: the refusal stays what it looks
// like.

// usage is how much of something there is and may be; a negative or unknown limit is none.
type usage struct {
	name       string
	used, more int
	limit      *int
}

func (u usage) exceeded() bool {
	return u.limit != nil && *u.limit >= 0 && u.used+u.more > *u.limit
}

// excess names what goes over its limit, or is empty.
func excess(all ...usage) string {
	var over []string
	for _, u := range all {
		if u.exceeded() {
			over = append(over, fmt.Sprintf("%s (%d of %d, %d more needed)", u.name, u.used, *u.limit, u.more))
		}
	}
	return strings.Join(over, ", ")
}

// quotaOr returns a refusal as one of kind cloud.QuotaExceeded when there is an excess, otherwise as it is.
func quotaOr(refusal error, excess string) error {
	if excess == "" {
		return refusal
	}
	return &cloud.Error{Kind: cloud.QuotaExceeded, Message: "the project's quota is used up: " + excess, Err: refusal}
}

// limits are what Nova says of the project.
type limits struct {
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

func (s *Session) limits(ctx context.Context) (limits, error) {
	var answer struct {
		Limits struct {
			Absolute limits `json:"absolute"`
		} `json:"limits"`
	}
	err := s.do(ctx, call{service: computeService, method: http.MethodGet, path: "limits", answer: &answer})
	return answer.Limits.Absolute, err
}

func (s *Session) serverGroupExcess(ctx context.Context) string {
	has, err := s.limits(ctx)
	if err != nil {
		return ""
	}
	return excess(usage{name: "server groups", used: has.Groups, more: 1, limit: has.MaxGroups})
}

// serverExcess names the quotas that a server goes over: those of its flavor and its metadata, that of its group, and that of the
// ports which Nova would make for it.
func (s *Session) serverExcess(ctx context.Context, server ServerCreate) string {
	has, err := s.limits(ctx)
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
	return excess(all...)
}

func (s *Session) portUsage(ctx context.Context, more int) usage {
	var answer struct {
		Quota struct {
			Port *int `json:"port"`
		} `json:"quota"`
	}
	project := s.Token().ProjectID
	ports := usage{name: "ports", more: more}
	err := s.do(ctx, call{service: networkService, method: http.MethodGet, path: "quotas/" + url.PathEscape(project), answer: &answer})
	if err != nil || answer.Quota.Port == nil || *answer.Quota.Port < 0 {
		return ports
	}
	existing, err := s.ports().list(ctx, ofProject(project))
	if err != nil {
		return ports
	}
	ports.used, ports.limit = len(existing), answer.Quota.Port
	return ports
}

// ofProject selects the ports that count against a project's quota: a list also shows others' in the project's networks.
type ofProject string

func (p ofProject) query() url.Values      { return url.Values{"project_id": {string(p)}} }
func (p ofProject) matches(port Port) bool { return port.ProjectID == string(p) }
