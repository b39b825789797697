package openstack

import (
	"encoding/json"
	"testing"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/worker"
)

func TestValidate(t *testing.T) {
	for sentence, tc := range map[string]struct {
		mutate      func(*environment)
		path, words string
	}{
		"no pod range": {func(env *environment) { env.ranges = nil }, "shoot.spec.networking.pods", "give the range"},
		"image without mapping": {
			func(env *environment) { env.pools[0].MachineImage.Version = "1.2.3" }, "spec.pools[0].machineImage",
			`the machines of pool "cpu" have no image: the CloudProfile maps machine image gardenlinux 1.2.3 in region "RegionOne" for architecture [amd64] ` +
				`to no image in Glance; choose another version of the image, or ask the CloudProfile's admin to correct machineImages`,
		},
		"invalid size": {
			func(env *environment) {
				env.pools[0].DataVolumes = []extensionsv1alpha1.DataVolume{{Name: "a", Size: "x"}}
			}, "spec.pools[0].dataVolumes[0].size", "like 50Gi",
		},
		"no zone": {func(env *environment) { env.pools[0].Zones = nil }, "spec.pools[0].zones", "at least one"},
		"policy that the CloudProfile does not allow": {
			func(env *environment) { env.setServerGroup("cpu", "soft-affinity") }, "spec.pools[0].providerConfig.serverGroup.policy", "choose one of",
		},
		"changed policy that the CloudProfile does not allow": {
			func(env *environment) {
				env.setServerGroup("cpu", "soft-affinity")
				name := ownerOf(env.shootInput()).names(groupWant{"cpu", "anti-affinity"})[0]
				env.record(&openstackv1alpha1.WorkerStatus{ServerGroupDependencies: []openstackv1alpha1.ServerGroupDependency{{PoolName: "cpu", Name: name}}})
			}, "spec.pools[0].providerConfig.serverGroup.policy", "choose one of",
		},
		"the shoot's own network": {
			func(env *environment) {
				env.configs[0].AdditionalNetworks = []openstackv1alpha1.AdditionalNetwork{{ID: networkID}}
			},
			"spec.pools[0].providerConfig.additionalNetworks[0].id", "remove it",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			env := newEnvironment(t)
			tc.mutate(env)
			shoot := env.shootInput()
			if env.status != nil {
				shoot.Worker.Status.ProviderStatus = env.encode(decoded(t, env))
			}
			errs := env.driver.Validate(shoot)
			require.Len(t, errs, 1)
			assert.Equal(t, tc.path, errs[0].Field)
			assert.Contains(t, errs[0].Error(), tc.words)
		})
	}
	for path, damage := range map[string]func(*worker.Shoot){
		"cloudProfile.spec.providerConfig": func(shoot *worker.Shoot) { shoot.Cluster.CloudProfile.Spec.ProviderConfig.Raw = []byte(`{}`) },
		"spec.pools[0].providerConfig": func(shoot *worker.Shoot) {
			shoot.Worker.Spec.Pools[0].ProviderConfig.Raw = []byte(`{"apiVersion":"openstack.provider.extensions.gardener.cloud/v1alpha1","kind":"WorkerConfig","x":1}`)
		},
	} {
		t.Run("invalid "+path, func(t *testing.T) {
			env := newEnvironment(t)
			shoot := env.shootInput()
			damage(shoot)
			errs := env.driver.Validate(shoot)
			require.Len(t, errs, 1)
			assert.Equal(t, path, errs[0].Field)
		})
	}
}

func TestDriver_IncompleteInfrastructureStatus(t *testing.T) {
	for sentence, tc := range map[string]struct {
		mutate   func(*environment)
		wantText string
	}{
		"missing":           {func(env *environment) { env.infra = openstackv1alpha1.NewInfrastructureStatus() }, "networks.id: the Infrastructure has not reported the network yet"},
		"no network":        {func(env *environment) { env.infra.Networks.ID = "" }, "networks.id: the Infrastructure has not reported the network yet"},
		"no subnet":         {func(env *environment) { env.infra.Networks.Subnets = env.infra.Networks.Subnets[:1] }, "networks.subnets: the Infrastructure has not reported the subnet"},
		"no security group": {func(env *environment) { env.infra.SecurityGroups = nil }, "securityGroups: the Infrastructure has not reported the security group"},
	} {
		t.Run(sentence, func(t *testing.T) {
			env := newEnvironment(t)
			tc.mutate(env)
			shoot := env.shootInput()
			require.Empty(t, env.driver.Validate(shoot))
			_, err := env.driver.Prepare(t.Context(), shoot)
			require.ErrorContains(t, err, tc.wantText)
			assert.Equal(t, cloud.Unknown, cloud.KindOf(err), "the error is transient and not the user's")
		})
	}
	env := newEnvironment(t)
	shoot := env.shootInput()
	shoot.Worker.Spec.InfrastructureProviderStatus.Raw = []byte(`{}`)
	require.Empty(t, env.driver.Validate(shoot))
	_, err := env.driver.Prepare(t.Context(), shoot)
	require.ErrorContains(t, err, "decoding spec.infrastructureProviderStatus")
	assert.Equal(t, cloud.Unknown, cloud.KindOf(err))
}

func decoded(t *testing.T, env *environment) *openstackv1alpha1.WorkerStatus {
	t.Helper()
	status := openstackv1alpha1.NewWorkerStatus()
	require.NoError(t, json.Unmarshal(env.status.Raw, status))
	return status
}

func TestValidate_NoKeyPair(t *testing.T) {
	env := newEnvironment(t)
	env.infra.Node.KeyName = ""
	assert.Empty(t, env.driver.Validate(env.shootInput()))
}

// The driver accepts pools that the upstream extension has admitted.
func TestValidate_AcceptedByUpstream(t *testing.T) {
	env := newEnvironment(t)
	env.setServerGroup("cpu", "soft-affinity")
	env.pools[0].Volume = &extensionsv1alpha1.Volume{Size: "50Gi", Encrypted: new(true)}
	env.configs[0].MachineLabels = []openstackv1alpha1.MachineLabel{{Name: "kubernetes.io/cluster-x", Value: "1"}}
	for _, name := range []string{"shoot--dev--one-cpu-0123456789", ownerOf(env.shootInput()).names(groupWant{"cpu", "soft-affinity"})[0]} {
		status := openstackv1alpha1.NewWorkerStatus()
		status.ServerGroupDependencies = []openstackv1alpha1.ServerGroupDependency{{PoolName: "cpu", ID: "group", Name: name}}
		env.record(status)
		assert.Empty(t, env.driver.Validate(env.shootInput()))
	}
}
