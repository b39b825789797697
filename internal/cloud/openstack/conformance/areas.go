package conformance

// Area is a part of the cloud.
type Area struct {
	Name       string
	Behaviours []Behaviour
}

// Areas returns all behaviours in the order in which they are tried. Sentences are unique.
func Areas() []Area {
	return []Area{
		{"logins", logins()},
		{"catalog", catalog()},
		{"networks", networks()},
		{"subnets", subnets()},
		{"subnet pools", subnetPools()},
		{"ports", ports()},
		{"lists", lists()},
		{"tags and descriptions", tagsAndDescriptions()},
		{"revisions", revisions()},
		{"routers", routers()},
		{"router interfaces", routerInterfaces()},
		{"floating IPs", floatingIPs()},
		{"security groups", securityGroups()},
		{"security group rules", securityGroupRules()},
		{"what a plain member may not do", policy()},
		{"quotas", quotas()},
		{"key pairs", keyPairs()},
		{"flavors and images", flavorsAndImages()},
		{"server groups", serverGroups()},
		{"servers", servers()},
		{"volumes", volumes()},
		{"load balancers", loadBalancers()},
		{"what stays behind", leftovers()},
		{"our own client", trellisClient()},
	}
}
