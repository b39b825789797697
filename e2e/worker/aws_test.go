package worker

import (
	"slices"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/e2e/internal/aws"
	"github.com/trellis-garden/trellis/e2e/internal/clusters"
	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/upstream"
)

// Pools of a shoot in AWS. Upstream names the classes of a pool with Kubernetes 1.34 or later by the fields of its configuration, of an older one by the bytes.
// When it reconciles a Worker twice, as in a restore, it names them by the data volumes in another order.
const (
	byFields      = "fields"
	byFieldsTwice = "twice"
	byBytes       = "bytes"
)

// workerConfigInAWS is a pool's configuration in the form in which the API server stores it.
const workerConfigInAWS = `{"apiVersion":"aws.provider.extensions.gardener.cloud/v1alpha1","dataVolumes":[{"iops":3500,"name":"logs"},{"name":"data"}],` +
	`"kind":"WorkerConfig","volume":{"iops":4000,"throughput":150}}`

// hashDataInAWS are upstream's inputs of the hash of each pool besides Gardener's, written out.
func hashDataInAWS(pool string) []string {
	logs, data, fields := []string{"11Gi", "gp3", "true"}, []string{"10Gi", "gp2"}, []string{"4000", "150", "logs", "3500", "data"}
	switch pool {
	case byFields:
		return slices.Concat(logs, data, fields)
	case byFieldsTwice:
		return slices.Concat(data, logs, fields)
	default:
		return slices.Concat(logs, data, []string{workerConfigInAWS})
	}
}

// adoptionFromAWS has all pools, the first in two zones.
func adoptionFromAWS() adoption {
	return adoption{
		pools: func() (pools []gardencorev1beta1.Worker) {
			for _, pool := range []gardencorev1beta1.Worker{aws.NewPool(byFields, 2, 2), aws.NewPool(byFieldsTwice, 1, 1), aws.NewPool(byBytes, 1, 1)} {
				pool.ProviderConfig = &runtime.RawExtension{Raw: []byte(workerConfigInAWS)}
				pool.DataVolumes = []gardencorev1beta1.DataVolume{
					{Name: "logs", VolumeSize: "11Gi", Type: new("gp3"), Encrypted: new(true)}, {Name: "data", VolumeSize: "10Gi", Type: new("gp2")},
				}
				if pool.Name == byBytes {
					pool.Kubernetes = &gardencorev1beta1.WorkerKubernetes{Version: new("1.33.4")}
				}
				pools = append(pools, pool)
			}
			return pools
		},
		apply: func(t *testing.T, env *environment, pool extensionsv1alpha1.WorkerPool) {
			t.Helper()
			machines, err := upstream.MachinesInAWS(env.Shoot, pool, env.ami(t), hashDataInAWS(pool.Name))
			require.NoError(t, err)
			_, err = upstream.ApplyMachines(t.Context(), env.seed.Gardenlet, env.Shoot, pool, machines)
			require.NoError(t, err)
		},
		servers: func(t *testing.T, env *environment) (found []string) {
			t.Helper()
			instances, err := aws.In(env.Clusters).Cloud.Instances(env.Shoot.Namespace())
			require.NoError(t, err)
			for _, instance := range instances {
				found = append(found, instance.ID)
			}
			slices.Sort(found)
			return found
		},
		check: func(t *testing.T, env *environment) {
			t.Helper()
			for _, machine := range env.listMachines(t) {
				assert.Equal(t, machinev1alpha1.MachineRunning, machine.Status.CurrentStatus.Phase, machine.Name)
			}
			assert.Contains(t, env.object(t).Status.LastOperation.Description, byFieldsTwice, "whoever reads it learns which pool has names of another order")
		},
	}
}

// ami is the image of all machines.
func (env *environment) ami(t *testing.T) string {
	t.Helper()
	config, is := env.Shoot.CloudProfileConfig.(*awsv1alpha1.CloudProfileConfig)
	require.True(t, is)
	return config.MachineImages[0].Versions[0].Regions[0].AMI
}

// newAWSEnvironment returns an environment with a shoot in AWS whose Infrastructure is ready, without machines.
func newAWSEnvironment(t *testing.T, options clusters.Options) *environment {
	t.Helper()
	options.Cloud = aws.Fake(0)
	env := newEnvironmentIn(t, options, controller.WorkerFor(aws.Type), adoptionFromAWS())
	env.Shoot.InfrastructureConfig, env.Shoot.Zones = aws.InfrastructureConfig(2), aws.ZoneNames(2)
	clusterstest.MakeInfrastructure(t, env.Clusters)
	env.startMachines(t)
	return env
}
