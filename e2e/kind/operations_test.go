//go:build kind

package kind

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/e2e/internal/kindseed"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

const (
	infrastructureController = "infrastructure-controller"
	networkController        = "network-controller"
	workerController         = "worker-controller"
)

// installedState are the properties of an installed controller that any change of it affects.
type installedState struct {
	Installation  string
	Deployment    types.UID
	Generation    int64
	Pods          map[types.UID]int32 // how often their containers have restarted
	NotInProgress time.Time           // since when
}

func (env *environment) installedState(t *testing.T, binary string) installedState {
	t.Helper()
	installation, err := env.Installation(t.Context(), binary)
	require.NoError(t, err)
	require.NotNil(t, installation, "%s is not installed", binary)
	deployment, err := env.Deployment(t.Context(), binary)
	require.NoError(t, err)
	found := installedState{
		Installation: installation.Name, Deployment: deployment.UID, Generation: deployment.Generation, Pods: map[types.UID]int32{},
	}
	pods, err := env.Pods(t.Context(), binary)
	require.NoError(t, err)
	for _, pod := range pods {
		for _, container := range pod.Status.ContainerStatuses {
			found.Pods[pod.UID] += container.RestartCount
		}
	}
	progressing := v1beta1helper.GetCondition(installation.Status.Conditions, gardencorev1beta1.ControllerInstallationProgressing)
	if progressing != nil && progressing.Status == gardencorev1beta1.ConditionFalse {
		found.NotInProgress = progressing.LastTransitionTime.UTC()
	}
	return found
}

// othersUnchanged records the state of all controllers but one, and returns a function that reports differences.
func (env *environment) othersUnchanged(t *testing.T, but ...string) func() {
	t.Helper()
	snapshot := func() map[string]installedState {
		found := map[string]installedState{}
		for _, binary := range controllers() {
			if !slices.Contains(but, binary) {
				found[binary] = env.installedState(t, binary)
			}
		}
		return found
	}
	before := snapshot()
	return func() {
		t.Helper()
		assert.Empty(t, cmp.Diff(before, snapshot()), "what is done with one controller touches no other")
	}
}

// keepDeployment restores a controller's deployment at the end of the test.
func (env *environment) keepDeployment(t *testing.T, binary string) {
	t.Helper()
	var now gardencorev1.HelmControllerDeployment
	require.NoError(t, env.ChangeDeployment(t.Context(), binary, func(helm *gardencorev1.HelmControllerDeployment) error {
		helm.DeepCopyInto(&now)
		return nil
	}))
	before, err := env.Deployment(t.Context(), binary)
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		defer cancel()
		assert.NoError(t, env.ChangeDeployment(ctx, binary, func(helm *gardencorev1.HelmControllerDeployment) error {
			now.DeepCopyInto(helm)
			return nil
		}))
		assert.NoError(t, env.rolledOut(ctx, binary, func(d *appsv1.Deployment) bool {
			return *d.Spec.Replicas == *before.Spec.Replicas && image(d) == image(before)
		}))
	})
}

func image(deployment *appsv1.Deployment) string {
	return deployment.Spec.Template.Spec.Containers[0].Image
}

// rolledOut waits until a Deployment is changed and rolled out, and gardenlet accepts the installation.
func (env *environment) rolledOut(ctx context.Context, binary string, changed func(*appsv1.Deployment) bool) error {
	var last *appsv1.Deployment
	for end := time.Now().Add(timeout); ; time.Sleep(100 * time.Millisecond) {
		var err error
		if last, err = env.Deployment(ctx, binary); err != nil {
			return err
		}
		if changed(last) && complete(last) {
			return env.AwaitInstalled(ctx, binary)
		}
		if time.Now().After(end) {
			return fmt.Errorf("waited in vain for the rollout of %s: %d replicas of %s are wanted; %+v", binary, *last.Spec.Replicas, image(last), last.Status)
		}
	}
}

func complete(d *appsv1.Deployment) bool {
	s := d.Status
	return s.ObservedGeneration >= d.Generation && s.Replicas == *d.Spec.Replicas && s.UpdatedReplicas == s.Replicas && s.AvailableReplicas == s.Replicas
}

// leaderLease is the Lease of a controller's leader election.
func (env *environment) leaderLease(t *testing.T, binary string) *coordinationv1.Lease {
	t.Helper()
	lease, err := env.Lease(t.Context(), binary, kindseed.LeaderElectionID(binary))
	require.NoError(t, err)
	return lease
}

// setLatency delays all requests to the cloud until the end of the test.
func (env *environment) setLatency(t *testing.T, latency time.Duration) {
	t.Helper()
	require.NoError(t, env.Remote.SetLatency(t.Context(), latency))
	t.Cleanup(func() { assert.NoError(t, env.Remote.SetLatency(context.Background(), 0)) })
}

// cloudWrites are the cloud's write requests since the log was reset.
func (env *environment) cloudWrites(t *testing.T) wire.Calls {
	t.Helper()
	calls, err := env.Remote.Calls(t.Context())
	require.NoError(t, err)
	return calls.Where(func(c wire.Call) bool { return c.IsWrite() && c.Service != services.Keystone })
}

// startReconcile requests a reconciliation of an Infrastructure and returns a function that waits for it.
func startReconcile(t *testing.T, shoot *kindseed.Shoot) <-chan error {
	done := make(chan error, 1)
	go func() { done <- shoot.ReconcileInfrastructure(t.Context()) }()
	return done
}

// shootInventory describes the resources of an undisturbed shoot: the number of each kind, and the keys of its state.
type shootInventory struct {
	Resources map[string]int
	State     []string
}

// shootInventory reads a shoot's resources, and requires that its status and state name exactly those in the cloud.
func (env *environment) shootInventory(t *testing.T, shoot *kindseed.Shoot) shootInventory {
	t.Helper()
	infrastructure, err := env.Gardenlet.Get(t.Context(), shoot.Shoot)
	require.NoError(t, err)
	require.NotNil(t, infrastructure.Status.ProviderStatus, shoot.Name)
	require.NotNil(t, infrastructure.Status.State, shoot.Name)
	assert.Nil(t, infrastructure.Status.LastError, shoot.Name)
	var status openstackv1alpha1.InfrastructureStatus
	require.NoError(t, json.Unmarshal(infrastructure.Status.ProviderStatus.Raw, &status))
	var state openstackv1alpha1.InfrastructureState
	require.NoError(t, json.Unmarshal(infrastructure.Status.State.Raw, &state))
	resources, err := shoot.Account.Resources(t.Context())
	require.NoError(t, err)

	found := shootInventory{Resources: map[string]int{}, State: slices.Sorted(maps.Keys(state.Data))}
	held := map[string][]string{}
	for _, resource := range resources {
		found.Resources[resource.Kind]++
		held[resource.Kind] = append(held[resource.Kind], resource.ID)
	}
	inStatus := map[string][]string{"network": {status.Networks.ID}, "router": {status.Networks.Router.ID}, "key pair": {status.Node.KeyName}}
	for _, subnet := range status.Networks.Subnets {
		inStatus["subnet"] = append(inStatus["subnet"], subnet.ID)
	}
	for _, group := range status.SecurityGroups {
		inStatus["security group"] = append(inStatus["security group"], group.ID)
	}
	inState := map[string][]string{}
	for kind, key := range map[string]string{
		"network": openstackv1alpha1.StateKeyNetwork, "router": openstackv1alpha1.StateKeyRouter, "subnet": openstackv1alpha1.StateKeySubnet,
		"security group": openstackv1alpha1.StateKeySecurityGroup, "key pair": openstackv1alpha1.StateKeyKeyPair,
	} {
		inState[kind] = []string{state.Data[key]}
		assert.Equal(t, held[kind], inStatus[kind], "%s of shoot %s: the cloud holds what the status says", kind, shoot.Name)
		assert.Equal(t, held[kind], inState[kind], "%s of shoot %s: the cloud holds what the state says", kind, shoot.Name)
	}
	return found
}

// deleteShoots deletes shoots that only have an Infrastructure, and requires that nothing of them is left.
func (env *environment) deleteShoots(t *testing.T, shoots ...*kindseed.Shoot) {
	t.Helper()
	for _, shoot := range shoots {
		shoot.LastOperationType = gardencorev1beta1.LastOperationTypeDelete
		require.NoError(t, shoot.DestroyInfrastructure(t.Context()))
		requireEmpty(t, shoot)
		require.NoError(t, env.Gardenlet.Cleanup(t.Context(), shoot.Shoot))
	}
	for _, shoot := range shoots {
		require.NoError(t, shoot.Release(t.Context()))
	}
}

func requireEmpty(t *testing.T, shoot *kindseed.Shoot) {
	t.Helper()
	left, err := shoot.Account.Resources(t.Context())
	require.NoError(t, err)
	require.Empty(t, left, "shoot %s leaves nothing in the cloud", shoot.Name)
}

// isImage reports whether a Deployment has a version of a controller.
func isImage(binary, version string) func(*appsv1.Deployment) bool {
	return func(d *appsv1.Deployment) bool { return image(d) == kindseed.Image(binary, version) }
}
