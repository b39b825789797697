package fake

// registerLimits tells a project what it has of Nova, and may have.
func (svc *novaService) registerLimits(e endpoint) {
	svc.novaRoute(e, "GET /limits", func(q *request, _ int) (reply, error) {
		project := q.projectID
		used := svc.serverUsage(project)
		return ok(map[string]any{"limits": map[string]any{"rate": []any{}, "absolute": map[string]any{
			"maxTotalInstances": svc.limit(project, "instances"), "totalInstancesUsed": used["instances"],
			"maxTotalCores": svc.limit(project, "cores"), "totalCoresUsed": used["cores"],
			"maxTotalRAMSize": svc.limit(project, "ram"), "totalRAMUsed": used["ram"],
			"maxTotalKeypairs": svc.limit(project, "key_pairs"),
			"maxServerGroups":  svc.limit(project, "server_groups"), "totalServerGroupsUsed": svc.ownServerGroups(project),
			"maxServerGroupMembers": svc.limit(project, "server_group_members"),
		}}})
	})
}

// serverUsage is what a project's servers take of its quotas.
func (svc *novaService) serverUsage(projectID string) map[string]int {
	have := map[string]int{}
	for _, s := range svc.servers.Rows {
		if f := svc.flavors.Get(s.FlavorID); s.ProjectID == projectID && f != nil {
			have["instances"]++
			have["cores"] += f.VCPUs
			have["ram"] += f.RAM
		}
	}
	return have
}

func (svc *novaService) ownServerGroups(projectID string) int {
	return svc.groups.Count(func(g *ServerGroup) bool { return g.ProjectID == projectID })
}
