package aws

// Resource is a resource of EC2 or EFS that a list returns.
type Resource interface {
	// Identity returns by what a resource is recognized: its ID and its tags.
	Identity() (id string, tags Tags)
}

// Identity implements Resource.
func (v VPC) Identity() (string, Tags) { return v.ID, v.Tags }

// Identity implements Resource.
func (d DHCPOptions) Identity() (string, Tags) { return d.ID, d.Tags }

// Identity implements Resource.
func (s Subnet) Identity() (string, Tags) { return s.ID, s.Tags }

// Identity implements Resource.
func (g InternetGateway) Identity() (string, Tags) { return g.ID, g.Tags }

// Identity implements Resource.
func (g EgressOnlyGateway) Identity() (string, Tags) { return g.ID, g.Tags }

// Identity implements Resource.
func (g NATGateway) Identity() (string, Tags) { return g.ID, g.Tags }

// Identity implements Resource.
func (a Address) Identity() (string, Tags) { return a.AllocationID, a.Tags }

// Identity implements Resource.
func (t RouteTable) Identity() (string, Tags) { return t.ID, t.Tags }

// Identity implements Resource.
func (g SecurityGroup) Identity() (string, Tags) { return g.ID, g.Tags }

// Identity implements Resource.
func (e Endpoint) Identity() (string, Tags) { return e.ID, e.Tags }

// Identity implements Resource.
func (k KeyPair) Identity() (string, Tags) { return k.ID, k.Tags }

// Identity implements Resource.
func (f FileSystem) Identity() (string, Tags) { return f.ID, f.Tags }
