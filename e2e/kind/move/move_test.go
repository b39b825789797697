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
	// patience bounds every wait, and pageful each block of the page.
	patience = 4 * time.Minute
	pageful  = 5 * time.Minute

	sectionMove, sectionBack, sectionNext = "## Move from upstream's extensions", "## Go back", "## Scale, upgrade, roll back, uninstall"
)

// landscape is one that has upstream's extensions and a shoot that they have brought into being.
type landscape struct {
	*kindseed.World
	shoot    *kindseed.Shoot
	webhooks *upstream.Webhooks
	admin    *admin
	// asked is how often somebody has written machine-controller-manager meanwhile.
	asked int
}

// TestThePage follows the page literally, there and back.
func TestThePage(t *testing.T) {
	there, back := read(t, sectionMove, sectionBack), read(t, sectionBack, sectionNext)
	require.NotEmpty(t, there)
	require.NotEmpty(t, back)
	l := newLandscape(t)
	l.leaveShoot(t)
	before := l.look(t)
	l.assertUpstreamAlone(t)

	for _, b := range there {
		l.follow(t, b, before)
	}
	l.assertMoved(t)
	l.reconcile(t)
	assert.Equal(t, before, l.look(t), "nothing of the shoot is made anew when Trellis takes it over")

	for _, b := range back {
		l.follow(t, b, before)
	}
	l.assertUpstreamAlone(t)
	l.assertForgotten(t)
	assert.Greater(t, l.asked, 100)
}

// follow runs a block of the page while gardenlet goes on.
func (l *landscape) follow(t *testing.T, b block, before shootThere) {
	t.Helper()
	asking := l.ask(t)
	said := l.admin.follow(b)
	l.asked += asking.assertSeen(t, b, strings.HasPrefix(b.heading, "Step 3"))
	assert.Equal(t, before, l.look(t), "nothing of the shoot is made anew by %s", b.heading)
	if strings.Contains(b.script, "CHECK=") {
		assert.Contains(t, said, "All that is wanted on 1 seed is registered once, and ready.")
	}
}

func newLandscape(t *testing.T) *landscape {
	t.Helper()
	programs, err := assets.Ensure(t.Context(), os.Stderr, "kubectl")
	require.NoError(t, err)
	image, err := nodeimage.Ensure(t.Context(), os.Stderr)
	require.NoError(t, err)
	dir := t.TempDir()
	world, err := kindseed.Start(t.Context(), kindseed.Options{
		Dir: writable(t, dir, "world"), NodeImage: image, Versions: []string{version}, Progress: os.Stderr,
		Cluster: cmp.Or(os.Getenv("TRELLIS_KIND_CLUSTER"), "trellis-move"),
	})
	require.NoError(t, err)
	l := &landscape{World: world}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(world.Report(context.Background(), 30))
		}
		if l.webhooks != nil {
			assert.NoError(t, l.webhooks.Stop())
		}
		assert.NoError(t, world.Stop())
	})
	registrations, err := upstream.Registrations(kindseed.StandInImage)
	require.NoError(t, err)
	require.NoError(t, world.InstallOthers(t.Context(), registrations...))
	l.webhooks, err = upstream.StartWebhooks(t.Context(), world.Client, world.Gateway, kindseed.Image("machine-controller", version))
	require.NoError(t, err)
	l.admin = newAdmin(t, programs, "GARDEN="+world.Garden.Kubeconfig, "SEEDS="+world.Kubeconfig,
		"REGISTRATIONS="+generate(t, writable(t, dir, "registrations")))
	return l
}

// generate writes our registrations, for images that the seed has.
func generate(t *testing.T, dir string) string {
	t.Helper()
	catalogue, err := registration.Read(charts.Catalogue())
	require.NoError(t, err)
	files, err := registration.Generate(catalogue, registration.Options{Version: version, ChartRepository: "localhost/charts"})
	require.NoError(t, err)
	require.NoError(t, registration.Write(dir, files))
	return dir
}

// leaveShoot brings a shoot into being as upstream does. All of its contracts are in upstream's form; see package upstream for what is left out.
func (l *landscape) leaveShoot(t *testing.T) {
	t.Helper()
	eventually(t, "upstream has registered its webhooks", func() bool { return l.hasWebhooks(t, upstream.ProviderOpenStackDeployment) })
	var err error
	l.shoot, err = l.NewShoot(t.Context(), "moved")
	require.NoError(t, err)
	l.shoot.Credentials["authURL"] = []byte(l.Cloud.AuthURL()) // as upstream's webhook completes them
	require.NoError(t, l.shoot.Host(t.Context()))
	theirs := &upstream.Shoot{Shoot: l.shoot.Shoot, Gardenlet: l.Gardenlet, Account: l.shoot.Account, Cloud: l.Cloud}
	require.NoError(t, theirs.Infrastructure(t.Context()))
	require.NoError(t, theirs.ControlPlane(t.Context()))
	require.NoError(t, theirs.Network(t.Context()))
	require.NoError(t, l.shoot.PrepareMachines(t.Context()))
	require.NoError(t, theirs.Worker(t.Context()))
	assert.Positive(t, l.webhooks.Calls(), "machine-controller-manager has its machine controller from upstream's webhook")
	l.shoot.LastOperationType, l.shoot.LastOperationState = gardencorev1beta1.LastOperationTypeReconcile, gardencorev1beta1.LastOperationStateSucceeded
}

// shootThere is what must survive a move.
type shootThere struct {
	// Cloud are the IDs of all that the shoot has in the cloud, by their kinds.
	Cloud []string
	// Machines are the names and UIDs of Machines and MachineSets.
	Machines []string
}

func (l *landscape) look(t *testing.T) (there shootThere) {
	t.Helper()
	resources, err := l.shoot.Account.Resources(t.Context())
	require.NoError(t, err)
	for _, resource := range resources {
		there.Cloud = append(there.Cloud, resource.Kind+" "+resource.ID+" "+resource.Name)
	}
	slices.Sort(there.Cloud)
	machines, sets := &machinev1alpha1.MachineList{}, &machinev1alpha1.MachineSetList{}
	require.NoError(t, l.Client.List(t.Context(), machines, client.InNamespace(l.shoot.Namespace())))
	require.NoError(t, l.Client.List(t.Context(), sets, client.InNamespace(l.shoot.Namespace())))
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

// reconcile does what gardenlet does with each reconcile of the shoot.
func (l *landscape) reconcile(t *testing.T) {
	t.Helper()
	for _, do := range []func(context.Context) error{
		l.shoot.OrderInfrastructure, l.shoot.OrderControlPlane, l.shoot.OrderNetwork, l.shoot.OrderWorker, l.shoot.AwaitNetwork,
	} {
		require.NoError(t, do(t.Context()))
	}
}

// kinds lists what a registration is primary for; nothing when there is no such registration.
func (l *landscape) kinds(t *testing.T, name string) (kinds []string) {
	t.Helper()
	object := &gardencorev1beta1.ControllerRegistration{}
	err := l.Garden.Client.Get(t.Context(), client.ObjectKey{Name: name}, object)
	require.NoError(t, client.IgnoreNotFound(err))
	for _, resource := range object.Spec.Resources {
		kinds = append(kinds, resource.Kind)
	}
	slices.Sort(kinds)
	return kinds
}

// assertUpstreamAlone makes sure that the landscape is what it was at the beginning.
func (l *landscape) assertUpstreamAlone(t *testing.T) {
	t.Helper()
	assert.Equal(t, []string{"BackupBucket", "BackupEntry", "Bastion", "ControlPlane", "DNSRecord", "Infrastructure", "Worker"}, l.kinds(t, upstream.ProviderOpenStack))
	assert.Equal(t, []string{"Network"}, l.kinds(t, upstream.NetworkingCalico))
	assert.Subset(t, l.arguments(t, upstream.ProviderOpenStackDeployment), []string{"--disable-controllers=", "--disable-webhooks="})
	assert.NotEmpty(t, l.arguments(t, upstream.NetworkingCalicoDeployment))
	assert.True(t, l.hasWebhooks(t, upstream.ProviderOpenStackDeployment))
}

// assertMoved makes sure that upstream keeps what Trellis does not serve, and nothing else.
func (l *landscape) assertMoved(t *testing.T) {
	t.Helper()
	assert.Equal(t, []string{"BackupBucket", "BackupEntry", "Bastion", "DNSRecord"}, l.kinds(t, upstream.ProviderOpenStack))
	assert.Empty(t, l.kinds(t, upstream.NetworkingCalico))
	assert.Subset(t, l.arguments(t, upstream.ProviderOpenStackDeployment), []string{
		"--disable-controllers=infrastructure,controlplane,worker,healthcheck", "--disable-webhooks=*",
	})
	assert.Empty(t, l.arguments(t, upstream.NetworkingCalicoDeployment), "no pod of networking-calico is left")
	assert.False(t, l.hasWebhooks(t, upstream.ProviderOpenStackDeployment))
	entries, err := kindseed.Registrations()
	require.NoError(t, err)
	for binary := range entries {
		require.NoError(t, l.AwaitInstalled(t.Context(), binary))
	}
}

// assertForgotten makes sure that nothing of Trellis is left in garden and seed.
func (l *landscape) assertForgotten(t *testing.T) {
	t.Helper()
	entries, err := kindseed.Registrations()
	require.NoError(t, err)
	for binary, entry := range entries {
		assert.Empty(t, l.kinds(t, entry.Name))
		err := l.Garden.Client.Get(t.Context(), client.ObjectKey{Name: entry.Name}, &gardencorev1.ControllerDeployment{})
		assert.NoError(t, client.IgnoreNotFound(err))
		assert.Error(t, err, "%s is registered", entry.Name)
		assert.False(t, l.hasWebhooks(t, kindseed.ObjectName(binary)))
		assert.Empty(t, l.arguments(t, kindseed.ObjectName(binary)))
		deployments := &appsv1.DeploymentList{}
		require.NoError(t, l.Client.List(t.Context(), deployments, client.MatchingLabels{"app.kubernetes.io/name": binary}))
		assert.Empty(t, deployments.Items)
	}
}

// arguments are those of a Deployment's pods, which must all have the same.
func (l *landscape) arguments(t *testing.T, deployment string) []string {
	t.Helper()
	pods := &corev1.PodList{}
	require.NoError(t, l.Client.List(t.Context(), pods, client.MatchingLabels{"app.kubernetes.io/name": deployment}))
	var arguments []string
	for i, pod := range pods.Items {
		if i > 0 {
			assert.Equal(t, arguments, pod.Spec.Containers[0].Args, pod.Name)
		}
		arguments = pod.Spec.Containers[0].Args
	}
	return arguments
}

func (l *landscape) hasWebhooks(t *testing.T, name string) bool {
	t.Helper()
	config := &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: name}}
	err := l.Client.Get(t.Context(), client.ObjectKeyFromObject(config), config)
	require.NoError(t, client.IgnoreNotFound(err))
	return err == nil
}

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !condition(); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			require.FailNow(t, "waited in vain until "+what)
		}
	}
}
