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

func TestValidateNamesFieldAndRemedy(t *testing.T) {
	for sentence, tc := range map[string]struct {
		does        func(*world)
		path, words string
	}{
		"no range of pods": {func(w *world) { w.ranges = nil }, "shoot.spec.networking.pods", "give the range"},
		"an image that nobody maps": {
			func(w *world) { w.pools[0].MachineImage.Version = "1.2.3" }, "spec.pools[0].machineImage",
			`the machines of pool "cpu" have no image: the CloudProfile maps machine image gardenlinux 1.2.3 in region "RegionOne" for architecture [amd64] ` +
				`to no image in Glance; choose another version of the image, or ask the CloudProfile's admin to correct machineImages`,
		},
		"a size that is none": {
			func(w *world) { w.pools[0].DataVolumes = []extensionsv1alpha1.DataVolume{{Name: "a", Size: "x"}} }, "spec.pools[0].dataVolumes[0].size", "like 50Gi",
		},
		"no zone": {func(w *world) { w.pools[0].Zones = nil }, "spec.pools[0].zones", "at least one"},
		"a policy that the CloudProfile does not allow": {
			func(w *world) { w.ask("cpu", "soft-affinity") }, "spec.pools[0].providerConfig.serverGroup.policy", "choose one of",
		},
		"another policy that the CloudProfile does not allow": {
			func(w *world) {
				w.ask("cpu", "soft-affinity")
				name := ownerOf(w.input()).names(groupWant{"cpu", "anti-affinity"})[0]
				w.record(&openstackv1alpha1.WorkerStatus{ServerGroupDependencies: []openstackv1alpha1.ServerGroupDependency{{PoolName: "cpu", Name: name}}})
			}, "spec.pools[0].providerConfig.serverGroup.policy", "choose one of",
		},
		"the shoot's own network": {
			func(w *world) {
				w.configs[0].AdditionalNetworks = []openstackv1alpha1.AdditionalNetwork{{ID: networkID}}
			},
			"spec.pools[0].providerConfig.additionalNetworks[0].id", "remove it",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			w := newWorld(t)
			tc.does(w)
			shoot := w.input()
			if w.status != nil {
				shoot.Worker.Status.ProviderStatus = w.encode(decoded(t, w))
			}
			errs := w.driver.Validate(shoot)
			require.Len(t, errs, 1)
			assert.Equal(t, tc.path, errs[0].Field)
			assert.Contains(t, errs[0].Error(), tc.words)
		})
	}
	for sentence, raw := range map[string]func(*worker.Shoot){
		"cloudProfile.spec.providerConfig": func(shoot *worker.Shoot) { shoot.Cluster.CloudProfile.Spec.ProviderConfig.Raw = []byte(`{}`) },
		"spec.pools[0].providerConfig": func(shoot *worker.Shoot) {
			shoot.Worker.Spec.Pools[0].ProviderConfig.Raw = []byte(`{"apiVersion":"openstack.provider.extensions.gardener.cloud/v1alpha1","kind":"WorkerConfig","x":1}`)
		},
	} {
		t.Run("unreadable: "+sentence, func(t *testing.T) {
			w := newWorld(t)
			shoot := w.input()
			raw(shoot)
			errs := w.driver.Validate(shoot)
			require.Len(t, errs, 1)
			assert.Equal(t, sentence, errs[0].Field)
		})
	}
}

func TestDriver_IncompleteInfrastructureStatus(t *testing.T) {
	for sentence, tc := range map[string]struct {
		does func(*world)
		says string
	}{
		"missing":           {func(w *world) { w.infra = openstackv1alpha1.NewInfrastructureStatus() }, "networks.id: the Infrastructure has not reported the network yet"},
		"no network":        {func(w *world) { w.infra.Networks.ID = "" }, "networks.id: the Infrastructure has not reported the network yet"},
		"no subnet":         {func(w *world) { w.infra.Networks.Subnets = w.infra.Networks.Subnets[:1] }, "networks.subnets: the Infrastructure has not reported the subnet"},
		"no security group": {func(w *world) { w.infra.SecurityGroups = nil }, "securityGroups: the Infrastructure has not reported the security group"},
	} {
		t.Run(sentence, func(t *testing.T) {
			w := newWorld(t)
			tc.does(w)
			shoot := w.input()
			require.Empty(t, w.driver.Validate(shoot))
			_, err := w.driver.Prepare(t.Context(), shoot)
			require.ErrorContains(t, err, tc.says)
			assert.Equal(t, cloud.Unknown, cloud.KindOf(err), "it passes, and is nobody's mistake")
		})
	}
	w := newWorld(t)
	shoot := w.input()
	shoot.Worker.Spec.InfrastructureProviderStatus.Raw = []byte(`{}`)
	require.Empty(t, w.driver.Validate(shoot))
	_, err := w.driver.Prepare(t.Context(), shoot)
	require.ErrorContains(t, err, "decoding spec.infrastructureProviderStatus")
	assert.Equal(t, cloud.Unknown, cloud.KindOf(err))
}

func decoded(t *testing.T, w *world) *openstackv1alpha1.WorkerStatus {
	t.Helper()
	status := openstackv1alpha1.NewWorkerStatus()
	require.NoError(t, json.Unmarshal(w.status.Raw, status))
	return status
}

func TestAShootThatNobodyMayLogInToNeedsNoKeyPair(t *testing.T) {
	w := newWorld(t)
	w.infra.Node.KeyName = ""
	assert.Empty(t, w.driver.Validate(w.input()))
}

// What the upstream extension has admitted is admitted.
func TestAShootOfUpstreamsGoesOnLiving(t *testing.T) {
	w := newWorld(t)
	w.ask("cpu", "soft-affinity")
	w.pools[0].Volume = &extensionsv1alpha1.Volume{Size: "50Gi", Encrypted: new(true)}
	w.configs[0].MachineLabels = []openstackv1alpha1.MachineLabel{{Name: "kubernetes.io/cluster-x", Value: "1"}}
	for _, name := range []string{"shoot--dev--one-cpu-0123456789", ownerOf(w.input()).names(groupWant{"cpu", "soft-affinity"})[0]} {
		status := openstackv1alpha1.NewWorkerStatus()
		status.ServerGroupDependencies = []openstackv1alpha1.ServerGroupDependency{{PoolName: "cpu", ID: "group", Name: name}}
		w.record(status)
		assert.Empty(t, w.driver.Validate(w.input()))
	}
}
