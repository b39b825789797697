package conformance

import "github.com/stretchr/testify/assert"

func networks() []Behaviour {
	return []Behaviour{
		behaviour("a network needs nothing but a name, and is ACTIVE at once", func(c *Case) {
			made := c.Member.Post(Network, "/v2.0/networks", Body{"network": Body{"name": "one"}}).Succeeds(201)
			c.Remove(c.Member, Network, "/v2.0/networks/"+made.ID())
			assert.Equal(c, "ACTIVE", made.Text("status"))
			assert.Equal(c, c.Member.ProjectID, made.Text("project_id"))
			assert.Empty(c, made.Texts("subnets"))
		}),
	}
}
