package aws

import (
	"fmt"

	"github.com/trellis-garden/trellis/e2e/internal/clusters"
)

// Clusters are clusters whose cloud is the fake AWS.
type Clusters struct {
	*clusters.Clusters
	Cloud   *Cloud
	Account *Account
}

// In returns clusters that were started with the fake AWS. It panics for those of another cloud.
func In(c *clusters.Clusters) *Clusters {
	cloud, ofAWS := c.Cloud.(*Cloud)
	account, hasAccount := c.Account.(*Account)
	if !ofAWS || !hasAccount {
		panic(fmt.Sprintf("clusters of %T are no clusters of AWS", c.Cloud))
	}
	return &Clusters{Clusters: c, Cloud: cloud, Account: account}
}
