// Package aws connects shoots with a fake AWS, and writes the configuration that users and admins would write for it. Each cloud is one account in one
// region. It must not depend on a controller.
package aws

import (
	"context"
	"fmt"
	"strings"

	"github.com/trellis-garden/trellis/e2e/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake"
)

// Cloud is a fake AWS. Controllers call it directly: it logs their requests and injects faults itself. The requests of tests, by Do, are not logged.
type Cloud struct{ *fake.Cloud }

var _ cloud.Cloud = (*Cloud)(nil)

// OpenFake starts a fake.
func OpenFake() (cloud.Cloud, error) {
	c, err := fake.New()
	if err != nil {
		return nil, err
	}
	if err := c.Start("127.0.0.1:0"); err != nil {
		return nil, err
	}
	return &Cloud{Cloud: c}, nil
}

// Name implements cloud.Cloud.
func (c *Cloud) Name() string { return "fake AWS at " + c.URL() }

// ControllerArgs implements cloud.Cloud.
func (c *Cloud) ControllerArgs() []string { return []string{"--aws-endpoint-url=" + c.URL()} }

// OpenAccount implements cloud.Cloud. The fake has one account.
func (c *Cloud) OpenAccount(context.Context, string) (cloud.Account, error) {
	return &Account{cloud: c}, nil
}

// Account is the account of a cloud.
type Account struct{ cloud *Cloud }

var _ cloud.Account = (*Account)(nil)

// ResourceNames implements cloud.Account: the names are those of fake.Cloud.Resources, which begin with the kind.
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
		return fmt.Errorf("the account has %s", strings.Join(left, ", "))
	}
	return nil
}
