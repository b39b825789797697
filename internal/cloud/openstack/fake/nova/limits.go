package nova

import "github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"

// registerLimits serves a project's usage and quotas of Nova.
func (svc *Service) registerLimits(e core.Endpoint) {
	svc.novaRoute(e, "GET /limits", func(q *core.Request, _ int) (core.Reply, error) {
		project := q.ProjectID
		used := svc.serverUsage(project)
		return core.OK(map[string]any{"limits": map[string]any{"rate": []any{}, "absolute": map[string]any{
			"maxTotalInstances": svc.Limit(project, "instances"), "totalInstancesUsed": used["instances"],
			"maxTotalCores": svc.Limit(project, "cores"), "totalCoresUsed": used["cores"],
			"maxTotalRAMSize": svc.Limit(project, "ram"), "totalRAMUsed": used["ram"],
			"maxTotalKeypairs": svc.Limit(project, "key_pairs"),
			"maxServerGroups":  svc.Limit(project, "server_groups"), "totalServerGroupsUsed": svc.ownServerGroups(project),
			"maxServerGroupMembers": svc.Limit(project, "server_group_members"),
		}}})
	})
}

// serverUsage is the usage of quotas by a project's servers.
func (svc *Service) serverUsage(projectID string) map[string]int {
	have := map[string]int{}
	for _, s := range svc.Servers.Rows {
		if f := svc.flavors.Get(s.FlavorID); s.ProjectID == projectID && f != nil {
			have["instances"]++
			have["cores"] += f.VCPUs
			have["ram"] += f.RAM
		}
	}
	return have
}

func (svc *Service) ownServerGroups(projectID string) int {
	return svc.Groups.Count(func(g *ServerGroup) bool { return g.ProjectID == projectID })
}
