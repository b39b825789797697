package aws

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake"
)

func newCloud(t *testing.T) *Cloud {
	t.Helper()
	c, err := NewFake()
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, c.Close()) })
	return c
}

func TestCloud_OpenAccount(t *testing.T) {
	c := newCloud(t)
	account, err := c.OpenAccount(t.Context(), "one")
	require.NoError(t, err)
	_, err = c.OpenAccount(t.Context(), "two")
	require.EqualError(t, err, "the fake AWS has one account, which is in use")
	_, err = cloud.WithMachines(account)
	require.NoError(t, err)

	_, err = c.Do(fake.IAM, "CreateRole", url.Values{"RoleName": {"nodes"}, "AssumeRolePolicyDocument": {`{"Version":"2012-10-17","Statement":[]}`}})
	require.NoError(t, err)
	names, err := account.ResourceNames(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{"role/nodes"}, names)
	require.EqualError(t, account.Remove(t.Context()), "the account is not empty: role/nodes")
	_, err = c.Do(fake.IAM, "DeleteRole", url.Values{"RoleName": {"nodes"}})
	require.NoError(t, err)
	require.NoError(t, account.Remove(t.Context()))
	_, err = c.OpenAccount(t.Context(), "two")
	require.NoError(t, err)
}

func TestAccount_NewShootIn(t *testing.T) {
	account := &Account{cloud: newCloud(t)}
	assert.Len(t, InfrastructureConfig(1).Networks.Zones, 1)
	assert.Len(t, account.NewShoot("one").Workers[0].Zones, 1)
	three := account.NewShootIn("three", 3)
	assert.Equal(t, []string{"eu-west-1a", "eu-west-1b", "eu-west-1c"}, three.Workers[0].Zones)
	last := InfrastructureConfig(3).Networks.Zones[2]
	assert.Equal(t, []string{"10.250.64.0/19", "10.250.104.0/22", "10.250.120.0/22"}, []string{*last.Workers, *last.Public, *last.Internal})
}
