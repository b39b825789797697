package oldest

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/e2e/internal/clusters"
	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
)

// runShoot brings a shoot to life by all four controllers, and returns what the API server has kept of it.
func runShoot(t *testing.T, options clusters.Options) fields {
	options.Cloud, options.Machines = openstack.OpenFake, true
	c := openstack.In(clusterstest.NewHosting(t, options))
	clusterstest.AssertNoErrors(t, c)
	clusterstest.MakeInfrastructure(t, c.Clusters)
	configureShoot(t, c)
	runMachines(t, c)
	for _, what := range []controller.Binary{controller.ControlPlane(), controller.Network(), controller.Worker()} {
		start(t, c, what)
	}
	reconcile(t, c)
	awaitHealthy(t, c)
	assertNothingForbidden(t, c)
	return fieldsOf(t, c.Source.Client)
}

// configureShoot lets the shoot have much of what there are fields for.
func configureShoot(t *testing.T, c *openstack.Clusters) {
	t.Helper()
	c.Account.OfferMachines(c.Shoot)
	c.Shoot.Credentials["authURL"] = []byte(c.Cloud.AuthURL()) // as the webhook of the controlplane-controller completes them
	config, err := json.Marshal(openstackv1alpha1.WorkerConfig{
		TypeMeta: metav1.TypeMeta{APIVersion: openstackv1alpha1.GroupVersion().String(), Kind: "WorkerConfig"},
		NodeTemplate: &extensionsv1alpha1.NodeTemplate{
			Capacity:        corev1.ResourceList{"cpu": resource.MustParse("1"), "gpu": resource.MustParse("0"), "memory": resource.MustParse("2Gi")},
			VirtualCapacity: corev1.ResourceList{"example.org/licenses": resource.MustParse("2")},
		},
		ServerGroup: &openstackv1alpha1.ServerGroup{Policy: "soft-anti-affinity"},
	})
	require.NoError(t, err)
	rolled := openstack.NewPool("rolled", 1, 1)
	rolled.ProviderConfig = &runtime.RawExtension{Raw: config}
	rolled.Labels, rolled.Annotations = map[string]string{"example.org/team": "a"}, map[string]string{"example.org/note": "b"}
	rolled.Taints = []corev1.Taint{{Key: "example.org/only", Value: "batch", Effect: corev1.TaintEffectPreferNoSchedule}}
	rolled.Priority = new(int32(3))
	rolled.ClusterAutoscaler = &gardencorev1beta1.ClusterAutoscalerOptions{ScaleDownUtilizationThreshold: new(0.5)}
	rolled.MachineControllerManagerSettings = &gardencorev1beta1.MachineControllerManagerSettings{
		MachineDrainTimeout:    &metav1.Duration{Duration: time.Minute},
		MachineHealthTimeout:   &metav1.Duration{Duration: time.Hour},
		MachineCreationTimeout: &metav1.Duration{Duration: time.Hour},
		MaxEvictRetries:        new(int32(3)),
		NodeConditions:         []string{"ReadonlyFilesystem"},
	}
	manual := openstack.NewPool("manual", 1, 1)
	manual.UpdateStrategy = new(gardencorev1beta1.ManualInPlaceUpdate)
	manual.MaxSurge, manual.MaxUnavailable = new(intstr.FromInt32(0)), new(intstr.FromInt32(1))
	c.Shoot.Workers = []gardencorev1beta1.Worker{rolled, manual}
}

// runMachines runs machine-controller-manager with the machine controller, and what runs on machines.
func runMachines(t *testing.T, c *openstack.Clusters) {
	t.Helper()
	machineController, err := controller.Machine().Build(t.Context())
	require.NoError(t, err)
	require.NoError(t, c.StartMachines(t.Context(), clusters.MachineOptions{Controller: machineController}))
}

// start starts a controller, and waits until its webhooks are called if the API server can reach them.
func start(t *testing.T, c *openstack.Clusters, what controller.Binary) {
	t.Helper()
	path, err := what.Build(t.Context())
	require.NoError(t, err)
	options := controller.Options{Path: path}
	hasWebhooks := what.Name == controller.Worker().Name
	switch {
	case hasWebhooks:
		options.Args, err = what.WebhookArgs()
		require.NoError(t, err)
	case what.Name == controller.ControlPlane().Name:
		options.Args = []string{"--disable-webhooks=*"} // they act on what nobody deploys here
	}
	_, err = c.Source.StartController(t.Context(), what, options)
	require.NoError(t, err)
	if hasWebhooks {
		require.NoError(t, what.AwaitWebhooks(t.Context(), c.Source.Client))
	}
}

// reconcile orders all that there is besides the Infrastructure, and waits for it, in gardenlet's order.
func reconcile(t *testing.T, c *openstack.Clusters) {
	t.Helper()
	them := c.Source.Gardenlet
	require.NoError(t, them.Prepare(t.Context(), c.Shoot))
	plane := them.ControlPlane(c.Shoot)
	require.NoError(t, plane.Deploy(t.Context()))
	require.NoError(t, plane.Wait(t.Context()))
	network, err := them.Network(c.Shoot)
	require.NoError(t, err)
	require.NoError(t, network.Deploy(t.Context()))
	require.NoError(t, network.Wait(t.Context()))

	api := gardenlet.APIServer{URL: c.Cluster.URL(), CA: c.Cluster.CA}
	require.NoError(t, them.PrepareMachines(t.Context(), c.Shoot, api))
	require.NoError(t, them.ReconcileWorker(t.Context(), c.Shoot))
}

// awaitHealthy waits until gardener-resource-manager has applied everything, and everything of ours says that it is well.
func awaitHealthy(t *testing.T, c *openstack.Clusters) {
	t.Helper()
	clusterstest.Eventually(t, "everything is applied", func() bool {
		resources := &resourcesv1alpha1.ManagedResourceList{}
		require.NoError(t, c.Source.Client.List(t.Context(), resources, client.InNamespace(c.Shoot.Namespace())))
		for _, resource := range resources.Items {
			if !clusterstest.IsTrue(resource.Status.Conditions, resourcesv1alpha1.ResourcesApplied) {
				return false
			}
		}
		return len(resources.Items) > 3
	})
	clusterstest.Eventually(t, "everything says that it is well", func() bool {
		plane, err := c.Source.Gardenlet.GetControlPlane(t.Context(), c.Shoot)
		require.NoError(t, err)
		network, err := c.Source.Gardenlet.GetNetwork(t.Context(), c.Shoot)
		require.NoError(t, err)
		worker, err := c.Source.Gardenlet.GetWorker(t.Context(), c.Shoot)
		require.NoError(t, err)
		return clusterstest.IsTrue(plane.Status.Conditions, gardencorev1beta1.ShootControlPlaneHealthy) &&
			clusterstest.IsTrue(network.Status.Conditions, gardencorev1beta1.ShootSystemComponentsHealthy) &&
			clusterstest.IsTrue(worker.Status.Conditions, gardencorev1beta1.ShootEveryNodeReady)
	})
}

// assertNothingForbidden makes sure that no API server has refused anything of a controller for want of a right, or as invalid.
func assertNothingForbidden(t *testing.T, c *openstack.Clusters) {
	t.Helper()
	writes, err := c.Source.Writes("")
	require.NoError(t, err)
	for _, write := range writes {
		for _, refused := range []int{http.StatusForbidden, http.StatusBadRequest, http.StatusUnprocessableEntity} {
			assert.NotEqual(t, refused, write.Code, write.String())
		}
	}
}
