package contracttest

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
)

// APIServer is a running etcd and kube-apiserver with the CRDs of Gardener's extension contracts, of ManagedResources and of machines.
type APIServer struct {
	// Config is an administrator's, without client-side rate limits.
	Config *rest.Config
	// Client is an administrator's client. It does not cache, and none of its calls is subject to faults.
	Client client.WithWatch

	mapper  meta.RESTMapper
	testEnv *envtest.Environment
}

// Shared starts an API server when the first test of a package needs it, and keeps it for the others. Declare one in
// a package's tests and run them with Shared.Run from TestMain; without a test that needs it, none is started.
type Shared struct {
	once   sync.Once
	server *APIServer
	err    error
}

// Run runs the tests, stops the API server if there is one, and returns the exit code.
func (s *Shared) Run(m *testing.M) int {
	code := m.Run()
	if s.server == nil {
		return code
	}
	if err := s.server.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return code
}

// Get returns the API server. It fails the test if the binaries are missing.
func (s *Shared) Get(t testing.TB) *APIServer {
	t.Helper()
	s.once.Do(func() { s.server, s.err = NewAPIServer(t.Context()) })
	if s.err != nil {
		t.Fatal(s.err)
	}
	return s.server
}

// StartAPIServer starts an API server that is stopped when the test ends.
func StartAPIServer(t testing.TB) *APIServer {
	t.Helper()
	server, err := NewAPIServer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	return server
}

// NewAPIServer starts an API server; the caller stops it. It looks for the binaries in KUBEBUILDER_ASSETS and then in
// .cache/envtest of the working directory and its parents.
func NewAPIServer(ctx context.Context) (*APIServer, error) {
	binaries, err := binaryDirectory()
	if err != nil {
		return nil, err
	}
	crds, err := gardenerCRDs(ctx)
	if err != nil {
		return nil, err
	}
	// controller-runtime prints a stack trace if no logger is set. Managers under test have their own.
	ctrllog.SetLogger(logr.Discard())

	testEnv := &envtest.Environment{
		BinaryAssetsDirectory:    binaries,
		CRDDirectoryPaths:        crds,
		ErrorIfCRDPathMissing:    true,
		ControlPlaneStartTimeout: 2 * time.Minute,
		ControlPlaneStopTimeout:  time.Minute,
	}
	// Many processes under test use it at the same time, without client-side rate limits.
	testEnv.ControlPlane.GetAPIServer().Configure().
		Set("max-requests-inflight", "4000").
		Set("max-mutating-requests-inflight", "2000").
		Set("enable-priority-and-fairness", "false")
	config, err := testEnv.Start()
	if err != nil {
		return nil, fmt.Errorf("starting API server from %s: %w", binaries, err)
	}
	config.QPS = -1
	server, err := newAPIServer(testEnv, config)
	if err != nil {
		_ = testEnv.Stop()
		return nil, err
	}
	return server, nil
}

func newAPIServer(testEnv *envtest.Environment, config *rest.Config) (*APIServer, error) {
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("building HTTP client of the API server: %w", err)
	}
	mapper, err := apiutil.NewDynamicRESTMapper(config, httpClient)
	if err != nil {
		return nil, fmt.Errorf("discovering the API server's resources: %w", err)
	}
	scheme, err := NewScheme()
	if err != nil {
		return nil, err
	}
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme, Mapper: mapper, HTTPClient: httpClient})
	if err != nil {
		return nil, fmt.Errorf("building client of the API server: %w", err)
	}
	return &APIServer{Config: config, Client: c, mapper: mapper, testEnv: testEnv}, nil
}

// NewScheme returns a scheme with Kubernetes' own types, Gardener's extension types, ManagedResources and machines, which tests read and
// write. Processes under test have their own, see Program.
func NewScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, extensionsv1alpha1.AddToScheme, resourcesv1alpha1.AddToScheme, machinev1alpha1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("building scheme: %w", err)
		}
	}
	return scheme, nil
}

// Stop ends both processes and removes their data.
func (s *APIServer) Stop() error {
	if err := s.testEnv.Stop(); err != nil {
		return fmt.Errorf("stopping API server: %w", err)
	}
	return nil
}

// NewNamespace creates a namespace with a unique name.
func (s *APIServer) NewNamespace(ctx context.Context) (string, error) {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "shoot--test--"}}
	if err := s.Client.Create(ctx, namespace); err != nil {
		return "", fmt.Errorf("creating namespace: %w", err)
	}
	return namespace.Name, nil
}

// restMapper replaces the discovery of every manager: the set of resources never changes.
func (s *APIServer) restMapper(*rest.Config, *http.Client) (meta.RESTMapper, error) {
	return s.mapper, nil
}

func binaryDirectory() (string, error) {
	if directory := os.Getenv("KUBEBUILDER_ASSETS"); directory != "" {
		return directory, nil
	}
	directory, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("looking for the API server's binaries: %w", err)
	}
	for {
		candidate := filepath.Join(directory, ".cache", "envtest")
		if _, err := os.Stat(filepath.Join(candidate, "kube-apiserver")); err == nil {
			return candidate, nil
		}
		parent := filepath.Dir(directory)
		if parent == directory {
			return "", fmt.Errorf("there is no kube-apiserver in .cache/envtest and KUBEBUILDER_ASSETS is not set: run make envtest-assets")
		}
		directory = parent
	}
}

// gardenerCRDs returns the paths of the CRDs that Gardener's own module ships for its extension kinds, ManagedResources and machines.
func gardenerCRDs(ctx context.Context) ([]string, error) {
	command := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/gardener/gardener")
	command.Env = append(os.Environ(), "GOWORK=off")
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("looking for Gardener's module: %w", err)
	}
	directory := filepath.Join(strings.TrimSpace(string(output)), "example", "seed-crds")
	var paths []string
	for _, pattern := range []string{
		"10-crd-extensions.gardener.cloud_*.yaml", "10-crd-resources.gardener.cloud_managedresources.yaml", "10-crd-machine.sapcloud.io_*.yaml",
	} {
		found, err := filepath.Glob(filepath.Join(directory, pattern))
		if err != nil || len(found) == 0 {
			return nil, fmt.Errorf("found no CRDs %s in %s", pattern, directory)
		}
		paths = append(paths, found...)
	}
	return paths, nil
}
