//go:build kind

package move

import (
	"cmp"
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/charts"
	"github.com/trellis-garden/trellis/charts/registration"
	"github.com/trellis-garden/trellis/e2e/internal/assets"
	"github.com/trellis-garden/trellis/e2e/internal/kindseed"
	"github.com/trellis-garden/trellis/e2e/internal/nodeimage"
	"github.com/trellis-garden/trellis/e2e/internal/upstream"
)

const (
	version = "v0.1.0-e2e"
	// timeout bounds each wait, and pageful each block of the guide.
	timeout      = 4 * time.Minute
	guideTimeout = 5 * time.Minute

	sectionMove, sectionBack = "## Move from upstream's extensions", "## Go back"
)

// environment has upstream's extensions and a shoot that they have created.
type environment struct {
	*kindseed.Env
	shoot    *kindseed.Shoot
	webhooks *upstream.Webhooks
	admin    *admin
	// writes is the number of writes of machine-controller-manager meanwhile.
	writes int
}

// TestMoveGuide follows the guide literally, there and back.
func TestMoveGuide(t *testing.T) {
	there, back := read(t, sectionMove, sectionBack), read(t, sectionBack, "")
	require.NotEmpty(t, there)
	require.NotEmpty(t, back)
	env := newEnvironment(t)
	env.createUpstreamShoot(t)
	before := env.shootObjects(t)
	env.assertUpstreamAlone(t)

	for _, b := range there {
		env.follow(t, b, before)
	}
	env.assertMoved(t)
	env.reconcile(t)
	assert.Equal(t, before, env.shootObjects(t), "nothing of the shoot is made anew when Trellis takes it over")

	for _, b := range back {
		env.follow(t, b, before)
	}
	env.assertUpstreamAlone(t)
	env.assertRemoved(t)
	assert.Greater(t, env.writes, 100)
}

// follow runs a block of the guide while gardenlet continues to write.
func (env *environment) follow(t *testing.T, b block, before shootObjects) {
	t.Helper()
	asking := env.startWriter(t)
	output := env.admin.follow(b)
	env.writes += asking.assertSeen(t, b, strings.HasPrefix(b.heading, "Step 3"))
	assert.Equal(t, before, env.shootObjects(t), "nothing of the shoot is made anew by %s", b.heading)
	if strings.Contains(b.script, "CHECK=") {
		assert.Contains(t, output, "All that is wanted on 1 seed is registered once, and ready.")
	}
}

func newEnvironment(t *testing.T) *environment {
	t.Helper()
	programs, err := assets.Ensure(t.Context(), os.Stderr, "kubectl")
	require.NoError(t, err)
	image, err := nodeimage.Ensure(t.Context(), os.Stderr)
	require.NoError(t, err)
	dir := t.TempDir()
	seed, err := kindseed.Start(t.Context(), kindseed.Options{
		Dir: writable(t, dir, "world"), NodeImage: image, Versions: []string{version}, Progress: os.Stderr,
		Cluster: cmp.Or(os.Getenv("TRELLIS_KIND_CLUSTER"), "trellis-move"),
	})
	require.NoError(t, err)
	env := &environment{Env: seed}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(seed.Report(context.Background(), 30))
		}
		if env.webhooks != nil {
			assert.NoError(t, env.webhooks.Stop())
		}
		assert.NoError(t, seed.Stop())
	})
	registrations, err := upstream.Registrations(kindseed.StandInImage)
	require.NoError(t, err)
	require.NoError(t, seed.InstallRegistrations(t.Context(), registrations...))
	env.webhooks, err = upstream.StartWebhooks(t.Context(), seed.Client, seed.Gateway, kindseed.Image("machine-controller-openstack", version))
	require.NoError(t, err)
	env.admin = newAdmin(t, programs, "GARDEN="+seed.Garden.Kubeconfig, "SEEDS="+seed.Kubeconfig,
		"REGISTRATIONS="+generate(t, writable(t, dir, "registrations")))
	return env
}

// generate writes our registrations, with the seed's images.
func generate(t *testing.T, dir string) string {
	t.Helper()
	catalogue, err := registration.Read(charts.Catalogue())
	require.NoError(t, err)
	files, err := registration.Generate(catalogue, registration.Options{Version: version, ChartRepository: "localhost/charts"})
	require.NoError(t, err)
	require.NoError(t, registration.Write(dir, files))
	return dir
}

// createUpstreamShoot creates a shoot in upstream's form, with all contracts; see package upstream for what is left out.
func (env *environment) createUpstreamShoot(t *testing.T) {
	t.Helper()
	eventually(t, "upstream has registered its webhooks", func() bool { return env.hasWebhooks(t, upstream.ProviderOpenStackDeployment) })
	var err error
	env.shoot, err = env.NewShoot(t.Context(), "moved")
	require.NoError(t, err)
	env.shoot.Credentials["authURL"] = []byte(env.Cloud.AuthURL()) // as upstream's webhook completes them
	require.NoError(t, env.shoot.Host(t.Context()))
	theirs := &upstream.Shoot{Shoot: env.shoot.Shoot, Gardenlet: env.Gardenlet, Account: env.shoot.Account, Cloud: env.Cloud}
	require.NoError(t, theirs.Infrastructure(t.Context()))
	require.NoError(t, theirs.ControlPlane(t.Context()))
	require.NoError(t, theirs.Network(t.Context()))
	require.NoError(t, env.shoot.PrepareMachines(t.Context()))
	require.NoError(t, theirs.Worker(t.Context()))
	assert.Positive(t, env.webhooks.Calls(), "machine-controller-manager has its machine controller from upstream's webhook")
	env.shoot.LastOperationType, env.shoot.LastOperationState = gardencorev1beta1.LastOperationTypeReconcile, gardencorev1beta1.LastOperationStateSucceeded
}

// shootObjects are the objects that must survive a move.
type shootObjects struct {
	// Cloud are the IDs of the shoot's resources in the cloud, by their kinds.
	Cloud []string
	// Machines are the names and UIDs of Machines and MachineSets.
	Machines []string
}

func (env *environment) shootObjects(t *testing.T) (there shootObjects) {
	t.Helper()
	resources, err := env.shoot.Account.Resources(t.Context())
	require.NoError(t, err)
	for _, resource := range resources {
		there.Cloud = append(there.Cloud, resource.Kind+" "+resource.ID+" "+resource.Name)
	}
	slices.Sort(there.Cloud)
	machines, sets := &machinev1alpha1.MachineList{}, &machinev1alpha1.MachineSetList{}
	require.NoError(t, env.Client.List(t.Context(), machines, client.InNamespace(env.shoot.Namespace())))
	require.NoError(t, env.Client.List(t.Context(), sets, client.InNamespace(env.shoot.Namespace())))
	for _, machine := range machines.Items {
		there.Machines = append(there.Machines, "Machine "+machine.Name+" "+string(machine.UID)+" "+machine.Spec.ProviderID)
	}
	for _, set := range sets.Items {
		there.Machines = append(there.Machines, "MachineSet "+set.Name+" "+string(set.UID))
	}
	slices.Sort(there.Machines)
	require.Len(t, machines.Items, 2)
	return there
}

// reconcile does what gardenlet does in each reconciliation of the shoot.
func (env *environment) reconcile(t *testing.T) {
	t.Helper()
	for _, do := range []func(context.Context) error{
		env.shoot.ReconcileInfrastructure, env.shoot.ReconcileControlPlane, env.shoot.RequestNetwork, env.shoot.ReconcileWorker, env.shoot.AwaitNetwork,
	} {
		require.NoError(t, do(t.Context()))
	}
}

// kinds lists a registration's primary kinds; empty if there is no such registration.
func (env *environment) kinds(t *testing.T, name string) (kinds []string) {
	t.Helper()
	object := &gardencorev1beta1.ControllerRegistration{}
	err := env.Garden.Client.Get(t.Context(), client.ObjectKey{Name: name}, object)
	require.NoError(t, client.IgnoreNotFound(err))
	for _, resource := range object.Spec.Resources {
		kinds = append(kinds, resource.Kind)
	}
	slices.Sort(kinds)
	return kinds
}

// assertUpstreamAlone asserts that the landscape is as at the beginning.
func (env *environment) assertUpstreamAlone(t *testing.T) {
	t.Helper()
	assert.Equal(t, []string{"BackupBucket", "BackupEntry", "Bastion", "ControlPlane", "DNSRecord", "Infrastructure", "Worker"}, env.kinds(t, upstream.ProviderOpenStack))
	assert.Equal(t, []string{"Network"}, env.kinds(t, upstream.NetworkingCalico))
	assert.Subset(t, env.arguments(t, upstream.ProviderOpenStackDeployment), []string{"--disable-controllers=", "--disable-webhooks="})
	assert.NotEmpty(t, env.arguments(t, upstream.NetworkingCalicoDeployment))
	assert.True(t, env.hasWebhooks(t, upstream.ProviderOpenStackDeployment))
}

// assertMoved asserts that upstream keeps exactly what Trellis does not serve.
func (env *environment) assertMoved(t *testing.T) {
	t.Helper()
	assert.Equal(t, []string{"BackupBucket", "BackupEntry", "Bastion", "DNSRecord"}, env.kinds(t, upstream.ProviderOpenStack))
	assert.Empty(t, env.kinds(t, upstream.NetworkingCalico))
	assert.Subset(t, env.arguments(t, upstream.ProviderOpenStackDeployment), []string{
		"--disable-controllers=infrastructure,controlplane,worker,healthcheck", "--disable-webhooks=*",
	})
	assert.Empty(t, env.arguments(t, upstream.NetworkingCalicoDeployment), "no pod of networking-calico is left")
	assert.False(t, env.hasWebhooks(t, upstream.ProviderOpenStackDeployment))
	entries, err := kindseed.Registrations()
	require.NoError(t, err)
	for binary := range entries {
		require.NoError(t, env.AwaitInstalled(t.Context(), binary))
	}
}

// assertRemoved asserts that nothing of Trellis is left in garden and seed.
func (env *environment) assertRemoved(t *testing.T) {
	t.Helper()
	entries, err := kindseed.Registrations()
	require.NoError(t, err)
	for binary, entry := range entries {
		assert.Empty(t, env.kinds(t, entry.Name))
		err := env.Garden.Client.Get(t.Context(), client.ObjectKey{Name: entry.Name}, &gardencorev1.ControllerDeployment{})
		assert.NoError(t, client.IgnoreNotFound(err))
		assert.Error(t, err, "%s is registered", entry.Name)
		assert.False(t, env.hasWebhooks(t, kindseed.ObjectName(binary)))
		assert.Empty(t, env.arguments(t, kindseed.ObjectName(binary)))
		deployments := &appsv1.DeploymentList{}
		require.NoError(t, env.Client.List(t.Context(), deployments, client.MatchingLabels{"app.kubernetes.io/name": binary}))
		assert.Empty(t, deployments.Items)
	}
}

// arguments are those of a Deployment's pods, which must all have the same.
func (env *environment) arguments(t *testing.T, deployment string) []string {
	t.Helper()
	pods := &corev1.PodList{}
	require.NoError(t, env.Client.List(t.Context(), pods, client.MatchingLabels{"app.kubernetes.io/name": deployment}))
	var arguments []string
	for i, pod := range pods.Items {
		if i > 0 {
			assert.Equal(t, arguments, pod.Spec.Containers[0].Args, pod.Name)
		}
		arguments = pod.Spec.Containers[0].Args
	}
	return arguments
}

func (env *environment) hasWebhooks(t *testing.T, name string) bool {
	t.Helper()
	config := &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: name}}
	err := env.Client.Get(t.Context(), client.ObjectKeyFromObject(config), config)
	require.NoError(t, client.IgnoreNotFound(err))
	return err == nil
}

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(timeout); !condition(); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			require.FailNow(t, "waited in vain until "+what)
		}
	}
}
