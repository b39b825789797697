package oldest

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
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
	"github.com/trellis-garden/trellis/e2e/internal/assets"
	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/ground"
	"github.com/trellis-garden/trellis/e2e/internal/ground/groundtest"
	"github.com/trellis-garden/trellis/e2e/internal/mcm"
	"github.com/trellis-garden/trellis/e2e/internal/nodes"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
)

// live brings a shoot to life by all four controllers, and returns what the API server has kept of it.
func live(t *testing.T, options ground.Options) fields {
	g := groundtest.New(t, options)
	groundtest.AssertNoErrors(t, g)
	groundtest.MakeInfrastructure(t, g)
	describe(t, g)
	runMachines(t, g)
	for _, what := range []controller.Binary{controller.ControlPlane(), controller.Network(), controller.Worker()} {
		start(t, g, what)
	}
	fulfil(t, g)
	awaitHealthy(t, g)
	assertNothingForbidden(t, g)
	return fieldsOf(t, g.Source.Client)
}

// describe lets the shoot have much of what there are fields for.
func describe(t *testing.T, g *ground.Ground) {
	t.Helper()
	openstack.OfferMachines(g.Shoot, g.Cloud)
	g.Shoot.Credentials["authURL"] = []byte(g.Cloud.AuthURL()) // as the webhook of the controlplane-controller completes them
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
	g.Shoot.Workers = []gardencorev1beta1.Worker{rolled, manual}
}

// runMachines runs machine-controller-manager with the machine controller, and what runs on machines.
func runMachines(t *testing.T, g *ground.Ground) {
	t.Helper()
	programs, err := assets.Ensure(t.Context(), os.Stderr, assets.Machines()...)
	require.NoError(t, err)
	machineController, err := controller.Machine().Build(t.Context(), false)
	require.NoError(t, err)
	pods := mcm.Start(t.Context(), g.Source.Seed, mcm.Options{
		Manager: filepath.Join(programs, "machine-controller-manager"), MachineController: machineController, Dir: t.TempDir(),
	})
	t.Cleanup(func() {
		assert.NoError(t, pods.Stop())
		if t.Failed() {
			t.Log(pods.Tails(40))
		}
	})
	played, err := nodes.Start(t.Context(), g.Cluster.Config, g.Account.Servers(g.Shoot, g.Cloud.Region()))
	require.NoError(t, err)
	t.Cleanup(played.Stop)
}

// start starts a controller, and waits until its webhooks are called if the API server can reach them.
func start(t *testing.T, g *ground.Ground, what controller.Binary) {
	t.Helper()
	path, err := what.Build(t.Context(), false)
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
	_, err = g.Source.StartController(t.Context(), what, options)
	require.NoError(t, err)
	if hasWebhooks {
		require.NoError(t, what.AwaitWebhooks(t.Context(), g.Source.Client))
	}
}

// fulfil orders all that there is besides the Infrastructure, and waits for it, in gardenlet's order.
func fulfil(t *testing.T, g *ground.Ground) {
	t.Helper()
	them := g.Source.Gardenlet
	require.NoError(t, them.Prepare(t.Context(), g.Shoot))
	plane := them.ControlPlane(g.Shoot)
	require.NoError(t, plane.Deploy(t.Context()))
	require.NoError(t, plane.Wait(t.Context()))
	network, err := them.Network(g.Shoot)
	require.NoError(t, err)
	require.NoError(t, network.Deploy(t.Context()))
	require.NoError(t, network.Wait(t.Context()))

	api := gardenlet.APIServer{URL: g.Cluster.URL(), CA: g.Cluster.CA}
	require.NoError(t, them.PrepareMachines(t.Context(), g.Shoot, api))
	require.NoError(t, them.FulfilWorker(t.Context(), g.Shoot))
}

// awaitHealthy waits until gardener-resource-manager has applied everything, and everything of ours says that it is well.
func awaitHealthy(t *testing.T, g *ground.Ground) {
	t.Helper()
	groundtest.Eventually(t, "everything is applied", func() bool {
		resources := &resourcesv1alpha1.ManagedResourceList{}
		require.NoError(t, g.Source.Client.List(t.Context(), resources, client.InNamespace(g.Shoot.Namespace())))
		for _, resource := range resources.Items {
			if !isTrue(resource.Status.Conditions, resourcesv1alpha1.ResourcesApplied) {
				return false
			}
		}
		return len(resources.Items) > 3
	})
	groundtest.Eventually(t, "everything says that it is well", func() bool {
		plane, err := g.Source.Gardenlet.GetControlPlane(t.Context(), g.Shoot)
		require.NoError(t, err)
		network, err := g.Source.Gardenlet.GetNetwork(t.Context(), g.Shoot)
		require.NoError(t, err)
		worker, err := g.Source.Gardenlet.GetWorker(t.Context(), g.Shoot)
		require.NoError(t, err)
		return isTrue(plane.Status.Conditions, gardencorev1beta1.ShootControlPlaneHealthy) &&
			isTrue(network.Status.Conditions, gardencorev1beta1.ShootSystemComponentsHealthy) &&
			isTrue(worker.Status.Conditions, gardencorev1beta1.ShootEveryNodeReady)
	})
}

func isTrue(conditions []gardencorev1beta1.Condition, kind gardencorev1beta1.ConditionType) bool {
	condition := helper.GetCondition(conditions, kind)
	return condition != nil && condition.Status == gardencorev1beta1.ConditionTrue
}

// assertNothingForbidden makes sure that no API server has refused anything of a controller for want of a right, or as invalid.
func assertNothingForbidden(t *testing.T, g *ground.Ground) {
	t.Helper()
	writes, err := g.Source.Writes("")
	require.NoError(t, err)
	for _, write := range writes {
		for _, refused := range []int{http.StatusForbidden, http.StatusBadRequest, http.StatusUnprocessableEntity} {
			assert.NotEqual(t, refused, write.Code, write.String())
		}
	}
}
