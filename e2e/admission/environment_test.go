package admission

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/trellis-garden/trellis/e2e/internal/clusters"
	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/garden"
	"github.com/trellis-garden/trellis/e2e/internal/repo"
)

const (
	// timeout bounds each wait. It is long, because it only takes time if a test fails.
	timeout  = 5 * time.Minute
	interval = 50 * time.Millisecond
	// namespace is the binary's namespace in the runtime cluster, owner the namespace in the garden that owns its webhook configurations.
	namespace, owner = "garden", "extension-admission"
)

// environment is a garden, its runtime cluster, and one or more processes of the binary.
type environment struct {
	*garden.Garden
	runtime *clusters.Seed
	// extensions is an administrator's client for gardener-operator's Extensions in the runtime cluster.
	extensions   client.Client
	loadBalancer *loadBalancer
	// kubeconfigs are the binary's.
	gardenKubeconfig, runtimeKubeconfig string

	path, dir string
	started   int // processes
	stored    int // shoots
}

func newEnvironment(t *testing.T) *environment {
	t.Helper()
	env := &environment{dir: t.TempDir(), loadBalancer: newLoadBalancer(t)}
	// Pools with in-place updates are an alpha feature of Gardener.
	env.runtime = clusterstest.New(t, clusters.Options{Bare: true, Garden: garden.Beside(&env.Garden, garden.WithFeature("InPlaceNodeUpdates"))}).Source
	var err error
	env.path, err = controller.Admission().Build(t.Context())
	require.NoError(t, err)
	env.setUp(t)
	return env
}

// setUp creates the objects of all cases.
func (env *environment) setUp(t *testing.T) {
	t.Helper()
	_, err := envtest.InstallCRDs(env.runtime.Config, envtest.CRDInstallOptions{
		Paths:              []string{gardenerFile(t, "example/operator/10-crd-operator.gardener.cloud_extensions.yaml")},
		ErrorIfPathMissing: true,
	})
	require.NoError(t, err)
	env.extensions = (&warnings{}).clientOf(t, env.runtime.Config, extensionScheme())
	require.NoError(t, env.runtime.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}))
	require.NoError(t, env.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: owner}}))

	// Gardener's own validation keeps one type per kind, the last one: for the kinds of clouds that is azure.
	require.NoError(t, env.Register(t.Context(), garden.Registration{Name: "clouds", Resources: slices.Concat(
		garden.Primary("openstack", "Infrastructure", "ControlPlane", "Worker"), garden.Primary("azure", "Infrastructure", "ControlPlane", "Worker"),
	)}))
	require.NoError(t, env.Register(t.Context(), garden.Registration{Name: "aws", Resources: garden.Primary("aws", "Infrastructure", "ControlPlane", "Worker")}))
	require.NoError(t, env.Register(t.Context(), garden.Registration{Name: "others", Resources: slices.Concat(
		garden.Primary("calico", "Network"), garden.Primary("cilium", "Network"),
		garden.Primary(garden.MachineImage, "OperatingSystemConfig"), garden.Primary(garden.DNS, "DNSRecord"),
		garden.Primary("gvisor", "ContainerRuntime"), garden.Primary("kata", "ContainerRuntime"),
	)}))
	for _, object := range slices.Concat(baseObjects(), awsObjects()) {
		env.store(t, object)
	}
	var last error
	eventually(t, "shoots can be created", func() bool {
		last = env.Client.Create(t.Context(), newShoot("first"), client.DryRunAll)
		return last == nil
	}, &last)
}

// store creates an object. gardener-apiserver reads references from caches, which learn of new objects a moment later: until then it returns an
// internal error.
func (env *environment) store(t *testing.T, object client.Object) {
	t.Helper()
	var last error
	eventually(t, fmt.Sprintf("%T %s is stored", object, object.GetName()), func() bool {
		last = env.Client.Create(t.Context(), object)
		return !apierrors.IsInternalError(last)
	}, &last)
	require.NoError(t, last, "%T %s", object, object.GetName())
}

// options are those of a further process.
func (env *environment) options(listen string, args ...string) controller.AdmissionOptions {
	env.started++
	return controller.AdmissionOptions{
		Path: env.path, Output: filepath.Join(env.dir, fmt.Sprintf("admission-%d.log", env.started)),
		Runtime: env.runtimeKubeconfig, Garden: env.gardenKubeconfig, Namespace: namespace, OwnerNamespace: owner,
		Address: env.loadBalancer.address, Listen: listen, Args: args,
	}
}

// start starts the binary, makes it the only one behind the webhooks' address, and waits until the API servers call it.
func (env *environment) start(t *testing.T, args ...string) *controller.Controller {
	t.Helper()
	listen := freeAddress(t)
	options := env.options(listen, args...)
	running, err := controller.Admission().StartAdmission(t.Context(), options)
	require.NoError(t, err)
	t.Cleanup(func() { env.tail(t, running, options.Output) })
	env.loadBalancer.setBackends(listen)
	env.waitForWebhooks(t)
	return running
}

// tail ends a process and prints its log if the test failed.
func (env *environment) tail(t *testing.T, running *controller.Controller, output string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	running.End(ctx)
	if !t.Failed() {
		return
	}
	content, err := os.ReadFile(output)
	require.NoError(t, err)
	lines := strings.Split(string(content), "\n")
	t.Logf("the end of %s:\n%s", filepath.Base(output), strings.Join(lines[max(0, len(lines)-30):], "\n"))
}

// waitForWebhooks waits until all API servers call the webhooks: those of the garden and that of the runtime cluster refuse invalid objects.
func (env *environment) waitForWebhooks(t *testing.T) {
	t.Helper()
	var last error
	eventually(t, "gardener-apiserver asks", func() bool {
		shoot := newShoot("asked")
		infrastructure(`{unheardOf: true}`)(shoot)
		last = env.Client.Create(t.Context(), shoot, client.DryRunAll)
		return deniedByUs(last)
	}, &last)
	eventually(t, "kube-apiserver asks", func() bool {
		secret := newSecret("asked", map[string]string{"unheardOf": "true"})
		secret.Labels = labelled("openstack")
		last = env.Client.Create(t.Context(), secret, client.DryRunAll)
		return deniedByUs(last)
	}, &last)
	eventually(t, "the runtime cluster asks", func() bool {
		last = env.extensions.Create(t.Context(), newExtension("asked", garden.Primary("openstack", "Infrastructure")), client.DryRunAll)
		return deniedByUs(last)
	}, &last)
}

func eventually(t *testing.T, what string, condition func() bool, last *error) {
	t.Helper()
	for start := time.Now(); !condition(); time.Sleep(interval) {
		if time.Since(start) > timeout {
			require.FailNow(t, "waited in vain until "+what, "last: %v", *last)
		}
	}
}

// gardenerFile returns the path of a file of the Gardener that this module depends on.
func gardenerFile(t *testing.T, path string) string {
	t.Helper()
	dir, err := repo.ModuleDir(t.Context(), "github.com/gardener/gardener")
	require.NoError(t, err)
	return filepath.Join(dir, path)
}
