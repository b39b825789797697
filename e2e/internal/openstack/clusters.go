package openstack

import (
	"fmt"
	"time"

	"github.com/trellis-garden/trellis/e2e/internal/cloud"
	"github.com/trellis-garden/trellis/e2e/internal/clusters"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
)

// Clusters are clusters whose cloud is an OpenStack.
type Clusters struct {
	*clusters.Clusters
	Cloud   *Cloud
	Account *Account
}

// ServerTime is how long a cloud of Fake takes to create or delete a server.
const ServerTime = 500 * time.Millisecond

// OpenFake is NewFake for clusters.Options.
func OpenFake() (cloud.Cloud, error) { return NewFake() }

// Fake returns a function that starts a fake for clusters.Options, whose calls take as long as latency, and servers ServerTime.
func Fake(latency time.Duration) func() (cloud.Cloud, error) {
	return func() (cloud.Cloud, error) {
		c, err := NewFake()
		if err != nil {
			return nil, err
		}
		c.SetLatency(latency)
		c.Fake.SetTransition(fake.ServerBuild, fake.Transition{After: ServerTime})
		c.Fake.SetTransition(fake.ServerDelete, fake.Transition{After: ServerTime})
		return c, nil
	}
}

// FakeReady is Fake with servers that are created and deleted at once.
func FakeReady(latency time.Duration) func() (cloud.Cloud, error) {
	return func() (cloud.Cloud, error) {
		c, err := NewFake()
		if err != nil {
			return nil, err
		}
		c.SetLatency(latency)
		return c, nil
	}
}

// In returns clusters that were started with an OpenStack. It panics for those of another cloud.
func In(c *clusters.Clusters) *Clusters {
	openStack, ofOpenStack := c.Cloud.(*Cloud)
	account, hasAccount := c.Account.(*Account)
	if !ofOpenStack || !hasAccount {
		panic(fmt.Sprintf("clusters of %T are no clusters of OpenStack", c.Cloud))
	}
	return &Clusters{Clusters: c, Cloud: openStack, Account: account}
}
