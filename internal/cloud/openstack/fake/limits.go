package fake

// registerLimits tells a project what it has of Nova, and may have.
func (c *Cloud) registerLimits(e endpoint) {
	c.novaRoute(e, "GET /limits", func(q *request, _ int) (reply, error) {
		project := q.projectID
		used := c.serverUsage(project)
		return ok(map[string]any{"limits": map[string]any{"rate": []any{}, "absolute": map[string]any{
			"maxTotalInstances": c.limit(project, "instances"), "totalInstancesUsed": used["instances"],
			"maxTotalCores": c.limit(project, "cores"), "totalCoresUsed": used["cores"],
			"maxTotalRAMSize": c.limit(project, "ram"), "totalRAMUsed": used["ram"],
			"maxTotalKeypairs": c.limit(project, "key_pairs"),
			"maxServerGroups":  c.limit(project, "server_groups"), "totalServerGroupsUsed": c.ownServerGroups(project),
			"maxServerGroupMembers": c.limit(project, "server_group_members"),
		}}})
	})
}

// serverUsage is what a project's servers take of its quotas.
func (c *Cloud) serverUsage(projectID string) map[string]int {
	have := map[string]int{}
	for _, s := range c.nova.servers.Rows {
		if f := c.nova.flavors.Get(s.FlavorID); s.ProjectID == projectID && f != nil {
			have["instances"]++
			have["cores"] += f.VCPUs
			have["ram"] += f.RAM
		}
	}
	return have
}

func (c *Cloud) ownServerGroups(projectID string) int {
	return c.nova.groups.Count(func(g *ServerGroup) bool { return g.ProjectID == projectID })
}
