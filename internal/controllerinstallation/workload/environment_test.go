package workload

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
)

// timeout is longer than anything takes that ends.
const timeout = 5 * time.Minute

var shared environment

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.stop != nil {
		if err := shared.stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// environment is a real API server with Gardener's CRDs of ManagedResources and of extension kinds. No controller works in it.
type environment struct {
	once   sync.Once
	err    error
	stop   func() error
	config *rest.Config
	client client.WithWatch
}

// start returns the API server, which runs until the last test has ended.
func start(t *testing.T) *environment {
	t.Helper()
	shared.once.Do(func() { shared.err = shared.run(context.WithoutCancel(t.Context())) })
	require.NoError(t, shared.err, "is there an API server? make envtest-assets builds one")
	return &shared
}

func (e *environment) run(ctx context.Context) error {
	ctrllog.SetLogger(logr.Discard())
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	if assets == "" {
		assets = filepath.Join("..", "..", "..", ".cache", "envtest")
	}
	crds, err := gardenerCRDs(ctx)
	if err != nil {
		return err
	}
	env := &envtest.Environment{
		BinaryAssetsDirectory: assets, CRDDirectoryPaths: crds, ErrorIfCRDPathMissing: true,
		ControlPlaneStartTimeout: timeout, ControlPlaneStopTimeout: timeout,
	}
	if e.config, err = env.Start(); err != nil {
		return err
	}
	e.stop, e.config.QPS = env.Stop, -1
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, extensionsv1alpha1.AddToScheme, resourcesv1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	if e.client, err = client.NewWithWatch(e.config, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	return e.client.Create(ctx, namespaced("garden"))
}

// gardenerCRDs returns the paths of those that Gardener's own module ships.
func gardenerCRDs(ctx context.Context) ([]string, error) {
	command := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/gardener/gardener")
	command.Env = append(os.Environ(), "GOWORK=off")
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("looking for Gardener's module: %w", err)
	}
	var paths []string
	for _, pattern := range []string{"10-crd-extensions.gardener.cloud_*.yaml", "10-crd-resources.gardener.cloud_managedresources.yaml"} {
		found, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(output)), "example", "seed-crds", pattern))
		if err != nil || len(found) == 0 {
			return nil, fmt.Errorf("found no CRDs %s in %s", pattern, output)
		}
		paths = append(paths, found...)
	}
	return paths, nil
}

// newNamespace returns the name of one that is nobody else's.
func newNamespace(t *testing.T) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "shoot--test--"}}
	require.NoError(t, start(t).client.Create(t.Context(), namespace))
	return namespace.Name
}
