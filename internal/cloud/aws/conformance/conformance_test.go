package conformance_test

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/aws/auth"
	"github.com/trellis-garden/trellis/internal/cloud/aws/conformance"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake"
)

// TestAccount checks all behaviours in the account that the environment names, or in the fake, as a new account and as one whose changes take time.
func TestAccount(t *testing.T) {
	if account, found := conformance.FromEnvironment(); found {
		conformance.Run(t, account)
		return
	}
	late := fake.Transition{Reads: 1}
	for name, options := range map[string][]fake.Option{
		"fake": nil,
		"fake whose changes take time": {
			fake.WithTransition(fake.NATGatewayCreate, late), fake.WithTransition(fake.NATGatewayDelete, late), fake.WithTransition(fake.VPCCIDRAssociate, late),
		},
	} {
		t.Run(name, func(t *testing.T) {
			cloud, err := fake.New(options...)
			require.NoError(t, err)
			require.NoError(t, cloud.Start("127.0.0.1:0"))
			defer func() { assert.NoError(t, cloud.Close()) }()
			key := fake.DefaultKey()
			conformance.Run(t, conformance.Account{
				Endpoint: cloud.URL(), Region: fake.DefaultRegion, Zone: fake.DefaultRegion + "a", Timeout: 10 * time.Second, QPS: -1,
				Credentials: auth.Credentials{AccessKeyID: key.KeyID, SecretAccessKey: key.Secret},
			})
			assert.Empty(t, cloud.Resources(), "left behind")
		})
	}
}

func TestBehaviours(t *testing.T) {
	seen := map[string]bool{}
	for _, area := range conformance.Areas() {
		for _, b := range area.Behaviours {
			assert.Falsef(t, seen[b.Name], "twice: %s", b.Name)
			assert.NotEmpty(t, b.Source, b.Name)
			seen[b.Name] = true
		}
	}
}

// The page is what the list says. TRELLIS_WRITE_PAGES=1 writes it anew.
func TestPage(t *testing.T) {
	const path = "../../../../docs/reference/aws-behaviour.md"
	if os.Getenv("TRELLIS_WRITE_PAGES") != "" {
		require.NoError(t, os.WriteFile(path, []byte(conformance.Page()), 0o644))
	}
	written, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, conformance.Page(), string(written), "write it anew: TRELLIS_WRITE_PAGES=1 go test ./internal/cloud/aws/conformance")
}
