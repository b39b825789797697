package aws

import (
	"slices"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/controlplane"
	"github.com/trellis-garden/trellis/internal/golden"
)

func configFile(t *testing.T, plan *controlplane.Plan) string {
	t.Helper()
	i := slices.IndexFunc(plan.Configs, func(config controlplane.Config) bool { return config.Name == "cloud-provider-config" })
	require.GreaterOrEqual(t, i, 0)
	return string(plan.Configs[i].Files["cloudprovider.conf"])
}

func TestCloudConfig(t *testing.T) {
	folder := golden.Open(t, "testdata/cloudconfig")
	ipv4, ipv6 := gardencorev1beta1.IPFamilyIPv4, gardencorev1beta1.IPFamilyIPv6
	for name, change := range map[string]func(*controlplane.Shoot){
		"ipv4":      func(*controlplane.Shoot) {},
		"dualstack": withFamilies(ipv6, ipv4),
		"ipv6":      withFamilies(ipv6),
		"internal": func(shoot *controlplane.Shoot) {
			shoot.ControlPlane.Spec.InfrastructureProviderStatus = infrastructureStatus(`{"purpose":"nodes","id":"subnet-nodes-a","zone":"eu-west-1a"},
				{"purpose":"internal","id":"subnet-internal-a","zone":"eu-west-1a"}`, "")
		},
		"escaped": func(shoot *controlplane.Shoot) { shoot.TechnicalID = "shoot\"\n[Global]\nVPC = \"vpc-2" },
	} {
		folder.Check(t, name+".conf", configFile(t, planOf(t, awsShoot(change))))
	}
}

func TestCloudConfig_Unrepresentable(t *testing.T) {
	_, err := New().Plan(awsShoot(func(shoot *controlplane.Shoot) { shoot.TechnicalID = "a\r" }))
	require.ErrorContains(t, err, `"KubernetesClusterTag" of [Global] holds a carriage return`)
	assert.Equal(t, cloud.Configuration, cloud.KindOf(err))
}

// The order of the subnets in the status is upstream's, which is random: pods must not be replaced for it.
func TestCloudConfig_OrderOfSubnets(t *testing.T) {
	want := configFile(t, planOf(t, awsShoot()))
	reversed := awsShoot(func(shoot *controlplane.Shoot) {
		shoot.ControlPlane.Spec.InfrastructureProviderStatus = infrastructureStatus(`
			{"purpose":"public","id":"subnet-public-a","zone":"eu-west-1a"},{"purpose":"public","id":"subnet-public-b","zone":"eu-west-1b"},
			{"purpose":"nodes","id":"subnet-nodes-a","zone":"eu-west-1a"}`, "")
	})
	assert.Equal(t, want, configFile(t, planOf(t, reversed)))
}
