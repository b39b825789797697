package webhooks

import (
	"os"
	"path/filepath"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/component/nodemanagement/machinecontrollermanager"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vpaautoscalingv1 "k8s.io/autoscaler/vertical-pod-autoscaler/pkg/apis/autoscaling.k8s.io/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/trellis-garden/trellis/e2e/internal/clusters"
	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
	"github.com/trellis-garden/trellis/e2e/internal/components"
	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/seed"
)

// machineControllerImage is what an operator's image vector says.
const machineControllerImage = "registry.example.org/machine-controller:v7"

// TestMachineController lets Gardener's own component deploy machine-controller-manager, and deploy it again, where the webhooks of the
// worker-controller are called. The container and the policy are what Gardener's functions for providers return.
func TestMachineController(t *testing.T) {
	t.Parallel()
	s := clusterstest.New(t, clusters.Options{Bare: true, Seed: []seed.Option{seed.WithControlPlaneKinds()}}).Source.Seed
	startWorkerController(t, s)

	inSeed := &gardencorev1beta1.Shoot{}
	selfHosted := &gardencorev1beta1.Shoot{}
	selfHosted.Spec.Provider.Workers = []gardencorev1beta1.Worker{{ControlPlane: &gardencorev1beta1.WorkerControlPlane{}}}
	for namespace, shoot := range map[string]*gardencorev1beta1.Shoot{"shoot--dev--in-seed": inSeed, "shoot--dev--self-hosted": selfHosted} {
		t.Run(namespace, func(t *testing.T) {
			testMachineController(t, s, namespace, shoot)
		})
	}
	t.Run("another provider's", func(t *testing.T) {
		newNamespace(t, s, "shoot--dev--other", "other")
		require.NoError(t, components.DeployMachineControllerManager(t.Context(), s.Client, "shoot--dev--other", false))
		deployment, vpa := machineControllerManager(t, s, "shoot--dev--other")
		assert.Len(t, deployment.Spec.Template.Spec.Containers, 1)
		assert.Len(t, vpa.Spec.ResourcePolicy.ContainerPolicies, 2)
	})
}

func startWorkerController(t *testing.T, s *seed.Seed) {
	t.Helper()
	what := controller.Worker()
	binary, err := what.Build(t.Context())
	require.NoError(t, err)
	kubeconfig, err := s.AddController(t.Context(), what.Name, what.Role)
	require.NoError(t, err)
	dir := t.TempDir()
	vector := filepath.Join(dir, "images.yaml")
	require.NoError(t, os.WriteFile(vector, []byte("images: [{name: machine-controller-manager-provider-openstack, ref: '"+machineControllerImage+"'}]"), 0o600))
	args, err := what.WebhookArgs()
	require.NoError(t, err)
	running, err := what.Start(t.Context(), controller.Options{
		Path: binary, Kubeconfig: kubeconfig, Output: filepath.Join(dir, "controller.log"), Args: args,
		Env: []string{"IMAGEVECTOR_OVERWRITE=" + vector},
	})
	require.NoError(t, err)
	t.Cleanup(running.Kill)
	require.NoError(t, what.AwaitWebhooks(t.Context(), s.Client))
}

func newNamespace(t *testing.T, s *seed.Seed, name, provider string) {
	t.Helper()
	require.NoError(t, s.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: name, Labels: map[string]string{"shoot.gardener.cloud/provider": provider},
	}}))
}

func machineControllerManager(t *testing.T, s *seed.Seed, namespace string) (*appsv1.Deployment, *vpaautoscalingv1.VerticalPodAutoscaler) {
	t.Helper()
	deployment, vpa := &appsv1.Deployment{}, &vpaautoscalingv1.VerticalPodAutoscaler{}
	require.NoError(t, s.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "machine-controller-manager"}, deployment))
	require.NoError(t, s.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "machine-controller-manager-vpa"}, vpa))
	return deployment, vpa
}

func testMachineController(t *testing.T, s *seed.Seed, namespace string, shoot *gardencorev1beta1.Shoot) {
	t.Helper()
	newNamespace(t, s, namespace, "openstack")
	selfHosted := len(shoot.Spec.Provider.Workers) > 0
	require.NoError(t, components.DeployMachineControllerManager(t.Context(), s.Client, namespace, selfHosted))

	want := machinecontrollermanager.ProviderSidecarContainer(shoot, namespace, "provider-openstack", machineControllerImage)
	want.TerminationMessagePath, want.TerminationMessagePolicy = "/dev/termination-log", corev1.TerminationMessageReadFile // as the API server has it
	deployment, vpa := machineControllerManager(t, s, namespace)
	containers := deployment.Spec.Template.Spec.Containers
	require.Len(t, containers, 2)
	assert.Equal(t, "machine-controller-manager", containers[0].Name)
	assert.Equal(t, asYAML(t, want), asYAML(t, containers[1]))
	policies := vpa.Spec.ResourcePolicy.ContainerPolicies
	require.Len(t, policies, 3)
	assert.Contains(t, policies, machinecontrollermanager.ProviderSidecarVPAContainerPolicy("provider-openstack"))

	// gardenlet's second pass takes the container away, which the webhook puts back before anything is stored.
	require.NoError(t, components.DeployMachineControllerManager(t.Context(), s.Client, namespace, selfHosted))
	again, vpaAgain := machineControllerManager(t, s, namespace)
	assert.Equal(t, asYAML(t, deployment.Spec), asYAML(t, again.Spec))
	assert.Equal(t, deployment.Generation, again.Generation, "nothing rolls")
	assert.Equal(t, asYAML(t, vpa.Spec), asYAML(t, vpaAgain.Spec))

	// What is out of date is brought up to date in its place, and what belongs to others stays.
	unrelated := corev1.Container{Name: "foreign", Image: "registry.example.org/foreign:v1"}
	again.Spec.Template.Spec.Containers[1].Image, again.Spec.Template.Spec.Containers[1].Args = "old", []string{"--old"}
	again.Spec.Template.Spec.Containers = append(again.Spec.Template.Spec.Containers, unrelated)
	again.Spec.Replicas = new(int32(0))
	require.NoError(t, s.Client.Update(t.Context(), again))
	assert.Equal(t, asYAML(t, want), asYAML(t, again.Spec.Template.Spec.Containers[1]))
	require.Len(t, again.Spec.Template.Spec.Containers, 3)
	assert.Equal(t, unrelated.Image, again.Spec.Template.Spec.Containers[2].Image)
	assert.Equal(t, int32(0), *again.Spec.Replicas)
}

// asYAML is for objects that hold quantities, which may be equal and differ inside.
func asYAML(t *testing.T, object any) string {
	t.Helper()
	text, err := yaml.Marshal(object)
	require.NoError(t, err)
	return string(text)
}
