package openstack_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/infrastructure"
	"github.com/trellis-garden/trellis/internal/infrastructure/infrastructuretest"
	"github.com/trellis-garden/trellis/internal/infrastructure/openstack"
	"github.com/trellis-garden/trellis/internal/observer"
)

// A primary and a secondary controller work side by side: the conditions follow the cloud, and the cloud does not change.
func TestObserver_Controller(t *testing.T) {
	server := contracttest.StartAPIServer(t)
	namespace, err := server.NewNamespace(t.Context())
	require.NoError(t, err)
	identity := infrastructuretest.Identity{TechnicalID: namespace, UID: "d5f9bd42-5fd0-4e4c-9f4c-7a7a86e5b8a1"}
	cloud, err := newSuiteCloud(identity, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, cloud.Close()) })
	infra := createInfrastructure(t, server, namespace, identity, cloud)

	host := contracttest.Host{
		Server: server, Namespace: namespace, Faults: &contracttest.Faults{}, Journal: &contracttest.Journal{}, CacheTransform: infrastructure.CacheTransform,
	}
	instance, err := host.Start(context.WithoutCancel(t.Context()), func(mgr manager.Manager, _ contracttest.Transport) error {
		driver := openstack.New(cloudopenstack.NewSessions(cloudopenstack.Options{}), openstack.Options{})
		observers := map[string]infrastructure.Observer{
			openstack.Type: openstack.NewObserver(cloudopenstack.NewReaders(cloudopenstack.Options{QPS: -1}), 200*time.Millisecond),
		}
		return errors.Join(
			infrastructure.AddToScheme(mgr.GetScheme()),
			infrastructure.Add(mgr, map[string]infrastructure.Driver{openstack.Type: driver}, contract.Options{Types: []string{openstack.Type}}),
			infrastructure.AddObserver(mgr, observers, observer.Options{Types: []string{openstack.Type}, Interval: 200 * time.Millisecond}),
		)
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, instance.Stop()) })

	waitFor := func(name string, status gardencorev1beta1.ConditionStatus) string {
		t.Helper()
		message := ""
		for _, observation := range infrastructure.Observations() {
			if observation.Name != name {
				continue
			}
			require.Eventually(t, func() bool {
				require.NoError(t, server.Client.Get(t.Context(), client.ObjectKeyFromObject(infra), infra))
				condition := v1beta1helper.GetCondition(infra.Status.Conditions, observation.Condition)
				if condition == nil {
					return false
				}
				message = condition.Message
				return condition.Status == status
			}, time.Minute, 20*time.Millisecond, "%s does not become %s", observation.Condition, status)
		}
		return message
	}
	for _, observation := range infrastructure.Observations() {
		waitFor(observation.Name, gardencorev1beta1.ConditionTrue)
	}
	var status openstackv1alpha1.InfrastructureStatus
	require.NoError(t, json.Unmarshal(infra.Status.ProviderStatus.Raw, &status))
	rename := func(name string) {
		_, err := cloud.fake.DoAsOperator(fake.DefaultProject, "PUT", services.Neutron, "/v2.0/networks/"+status.Networks.ID,
			map[string]any{"network": map[string]any{"name": name}})
		require.NoError(t, err)
	}
	cloud.fake.ResetLog()
	rename("theirs")
	assert.Contains(t, waitFor(infrastructure.ObservationDrift, gardencorev1beta1.ConditionFalse), `has the name "theirs"`)
	rename(namespace)
	waitFor(infrastructure.ObservationDrift, gardencorev1beta1.ConditionTrue)

	_, err = cloud.fake.CreateResource(fake.DefaultProject, "volumes", fake.Attrs{
		"name": "pv-1", "size": 1, "metadata": map[string]string{"cinder.csi.openstack.org/cluster": namespace},
	})
	require.NoError(t, err)
	cluster := &extensionsv1alpha1.Cluster{}
	require.NoError(t, server.Client.Get(t.Context(), client.ObjectKey{Name: namespace}, cluster))
	var shoot gardencorev1beta1.Shoot
	require.NoError(t, json.Unmarshal(cluster.Spec.Shoot.Raw, &shoot))
	shoot.CreationTimestamp = metav1.NewTime(time.Now().Add(2 * time.Hour)) // so that the volume is older
	cluster.Spec.Shoot.Raw, err = json.Marshal(shoot)
	require.NoError(t, err)
	require.NoError(t, server.Client.Update(t.Context(), cluster))
	assert.Contains(t, waitFor(infrastructure.ObservationOrphans, gardencorev1beta1.ConditionFalse), "(pv-1) of cluster "+namespace+" is older than this shoot")
	assert.Empty(t, cloud.fake.Log().Where(wire.Call.IsWrite), "the secondary controller logged in before, and writes nothing")
}

// createInfrastructure creates the objects of a shoot as gardenlet does.
func createInfrastructure(
	t *testing.T, server *contracttest.APIServer, namespace string, identity infrastructuretest.Identity, cloud *suiteCloud,
) *extensionsv1alpha1.Infrastructure {
	t.Helper()
	inputs := cloud.Inputs()
	config, err := openstackv1alpha1.Encode(inputs.InfrastructureConfig)
	require.NoError(t, err)
	profile, err := openstackv1alpha1.Encode(inputs.CloudProfileConfig)
	require.NoError(t, err)
	fixture := contracttest.Fixture{
		ProviderType: openstack.Type, TechnicalID: identity.TechnicalID, UID: types.UID(identity.UID),
		InfrastructureConfig: config, CloudProfileConfig: profile, Credentials: inputs.Credentials,
	}
	cluster, err := fixture.Cluster(namespace)
	require.NoError(t, err)
	infra := &extensionsv1alpha1.Infrastructure{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: "one", Annotations: map[string]string{v1beta1constants.GardenerOperation: v1beta1constants.GardenerOperationReconcile},
		},
		Spec: extensionsv1alpha1.InfrastructureSpec{
			DefaultSpec: extensionsv1alpha1.DefaultSpec{Type: openstack.Type, ProviderConfig: config}, Region: contracttest.Region,
			SecretRef:    corev1.SecretReference{Namespace: namespace, Name: v1beta1constants.SecretNameCloudProvider},
			SSHPublicKey: inputs.SSHPublicKey,
		},
	}
	for _, object := range []client.Object{cluster, fixture.Secret(namespace), infra} {
		require.NoError(t, server.Client.Create(t.Context(), object))
	}
	return infra
}
