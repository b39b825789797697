package aws

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
)

func TestDriver_Lifecycle(t *testing.T) {
	for zones := 1; zones <= 3; zones += 2 {
		t.Run(map[int]string{1: "one zone", 3: "three zones"}[zones], func(t *testing.T) {
			env := newEnvironment(t)
			if zones == 3 {
				env.addZone("b", "10.250.32.0/19", "10.250.100.0/22", "10.250.116.0/22")
				env.addZone("c", "10.250.64.0/19", "10.250.104.0/22", "10.250.120.0/22")
			}
			outcome := env.mustReconcile()
			created := env.calls()
			t.Logf("create: %d %v", len(created), created)
			assert.LessOrEqual(t, len(created), 20+10*zones)
			status := outcome.ProviderStatus.(*awsv1alpha1.InfrastructureStatus)
			assert.Len(t, status.VPC.Subnets, 3*zones)
			assert.Len(t, outcome.EgressCIDRs, zones)
			assert.Empty(t, outcome.Findings)

			again := env.mustReconcile()
			noop := env.calls()
			t.Logf("no-op: %d %v", len(noop), noop)
			assert.LessOrEqual(t, len(noop), 13)
			assert.Equal(t, outcome, again)

			require.NoError(t, env.delete())
			deleted := env.calls()
			t.Logf("delete: %d %v", len(deleted), deleted)
			assert.LessOrEqual(t, len(deleted), 15+6*zones)
			assert.Empty(t, env.cloud.Resources())
			env.setClock(2 * env.driver.options.VisibleAfter)
			require.NoError(t, env.delete(), "again")
			assert.Empty(t, env.cloud.Resources())
		})
	}
}
