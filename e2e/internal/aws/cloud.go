// Package aws connects shoots with the fake AWS: it writes the configuration that users and admins would write for it, and draws the resources. It must not
// depend on a controller.
package aws

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/trellis-garden/trellis/e2e/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake"
)

const (
	// GatewayTime is how long a cloud of Fake takes to create or to delete a NAT gateway.
	GatewayTime = 3 * time.Second
	// InstanceTime is how long it takes to start or to terminate an instance.
	InstanceTime = 500 * time.Millisecond
)

// Cloud is a fake AWS for shoots, which is one account.
type Cloud struct {
	*fake.Cloud
	opened bool
}

var _ cloud.Cloud = (*Cloud)(nil)

// NewFake starts a fake. Close stops it.
func NewFake(options ...fake.Option) (*Cloud, error) {
	c, err := fake.New(options...)
	if err != nil {
		return nil, err
	}
	if err := c.Start("127.0.0.1:0"); err != nil {
		return nil, err
	}
	return &Cloud{Cloud: c}, nil
}

// Fake returns a function that starts a fake for clusters.Options, whose calls take as long as latency, NAT gateways GatewayTime, and instances InstanceTime.
func Fake(latency time.Duration) func() (cloud.Cloud, error) {
	gateways, instances := fake.Transition{After: GatewayTime}, fake.Transition{After: InstanceTime}
	return start(
		fake.WithLatency(latency), fake.WithTransition(fake.NATGatewayCreate, gateways), fake.WithTransition(fake.NATGatewayDelete, gateways),
		fake.WithTransition(fake.InstanceStart, instances), fake.WithTransition(fake.InstanceTerminate, instances),
	)
}

// FakeReady is Fake with NAT gateways and instances that are created and deleted at once.
func FakeReady(latency time.Duration) func() (cloud.Cloud, error) {
	return start(fake.WithLatency(latency))
}

func start(options ...fake.Option) func() (cloud.Cloud, error) {
	return func() (cloud.Cloud, error) { return NewFake(options...) }
}

// Name implements cloud.Cloud.
func (c *Cloud) Name() string { return "fake AWS" }

// ControllerArgs implements cloud.Cloud: AWS has the same addresses for everybody, and the fake its own.
func (c *Cloud) ControllerArgs() []string { return []string{"--aws-endpoint-url=" + c.URL()} }

// OpenAccount implements cloud.Cloud. There is one account.
func (c *Cloud) OpenAccount(context.Context, string) (cloud.Account, error) {
	if c.opened {
		return nil, errors.New("the fake AWS has one account, which is in use")
	}
	c.opened = true
	return &Account{cloud: c}, nil
}

// Account is the account of a cloud.
type Account struct{ cloud *Cloud }

var _ cloud.MachineAccount = (*Account)(nil)

// ResourceNames implements cloud.Account.
func (a *Account) ResourceNames(context.Context) ([]string, error) { return a.cloud.Resources(), nil }

// CountByKind counts the resources of the account.
func (a *Account) CountByKind(context.Context) (map[string]int, error) {
	kinds := map[string]int{}
	for _, name := range a.cloud.Resources() {
		kind, _, found := strings.Cut(name, "/")
		if !found {
			kind = name[:strings.LastIndex(name, "-")]
		}
		kinds[kind]++
	}
	return kinds, nil
}

// Remove implements cloud.Account.
func (a *Account) Remove(context.Context) error {
	if left := a.cloud.Resources(); len(left) > 0 {
		return fmt.Errorf("the account is not empty: %s", strings.Join(left, ", "))
	}
	a.cloud.opened = false
	return nil
}
