package conformance_test

import (
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/conformance"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
)

// TestFake_MatchesRecords tries every behaviour on the fake and holds its answers against those that are kept of a
// real OpenStack.
func TestFake_MatchesRecords(t *testing.T) {
	records, err := conformance.ReadRecords("testdata/zed")
	require.NoError(t, err)
	for _, result := range conformance.Run(t, startFake(t), io.Discard) {
		if !result.Tried {
			continue
		}
		record, known := records[result.Name]
		if assert.Truef(t, known, "no real cloud was asked yet: %s", result.Name) {
			assert.Emptyf(t, conformance.Differences(result.Exchanges, record), "%s: %s", result.Area, result.Name)
		}
	}
}

func TestBehaviours_UniqueNames(t *testing.T) {
	seen := map[string]bool{}
	for _, area := range conformance.Areas() {
		for _, b := range area.Behaviours {
			assert.Falsef(t, seen[b.Name], "twice: %s", b.Name)
			seen[b.Name] = true
		}
	}
}

func startFake(t *testing.T) conformance.Cloud {
	t.Helper()
	// Long enough that what comes at once finds a load balancer busy.
	busy := fake.Transition{After: 30 * time.Millisecond}
	cloud := fake.New(fake.WithTransition(fake.LoadBalancerCreate, busy),
		fake.WithTransition(fake.LoadBalancerUpdate, busy), fake.WithTransition(fake.LoadBalancerDelete, busy))
	require.NoError(t, cloud.Start("127.0.0.1:0"))
	t.Cleanup(func() { assert.NoError(t, cloud.Close()) })
	return conformance.Cloud{
		Name: "fake", AuthURL: cloud.AuthURL(), Region: fake.DefaultRegion, ExternalNetwork: fake.ExternalNetwork,
		Operator: conformance.Login{User: fake.AdminUser, Password: fake.AdminPassword, Project: fake.AdminProject},
	}
}
