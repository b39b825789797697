package manager

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/go-logr/logr"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	ctrlmanager "sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/trellis-garden/trellis/internal/buildinfo"
	"github.com/trellis-garden/trellis/internal/kinds"
)

// gracefulShutdown bounds the graceful shutdown: the context of running reconciliations is cancelled, and they save their state. It is less than a
// pod's default grace period of 30 seconds.
const gracefulShutdown = 25 * time.Second

// How a leader keeps its Lease. All are longer than by default. An API server that is rolled out or overloaded may not answer for 20 seconds, which is no
// reason to end, and renewals are most of what an idle controller does. A leader that ends lets go of its Lease; only after a crash, another one leads after
// the Lease's duration and the period.
const (
	// leaseDuration is how long a Lease holds that nobody renews.
	leaseDuration = 30 * time.Second
	// leaseRenewDeadline is how long a leader tries to renew its Lease, before it ends.
	leaseRenewDeadline = 20 * time.Second
	// leaseRetryPeriod is how often a leader renews its Lease, and the others look at it.
	leaseRetryPeriod = 8 * time.Second
)

// pprofVariable is the environment variable with the default of --pprof-bind-address.
const pprofVariable = "TRELLIS_PPROF_BIND_ADDRESS"

// podNamespaceFile is the file in which the kubelet stores the namespace of a pod.
const podNamespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// environment is the input of a process besides its command line.
type environment struct {
	// podNamespace is the namespace of the pod that the process runs in, empty outside a pod.
	podNamespace string
	// kubeconfig is the value of KUBECONFIG.
	kubeconfig string
	// gardenKubeconfig is the value of GARDEN_KUBECONFIG.
	gardenKubeconfig string
	// pprofBindAddress is the value of TRELLIS_PPROF_BIND_ADDRESS.
	pprofBindAddress string
	// setGlobalLogger sets the logger of libraries that log through globals; may be nil.
	setGlobalLogger func(logr.Logger)
}

func readEnvironment() environment {
	// Without a readable file, the process does not run in a pod.
	namespace, _ := os.ReadFile(podNamespaceFile)
	return environment{
		podNamespace: strings.TrimSpace(string(namespace)),
		kubeconfig:   os.Getenv(clientcmd.RecommendedConfigPathEnvVar),
		// gardener-operator sets this variable, and upstream's admission reads it.
		gardenKubeconfig: os.Getenv("GARDEN_KUBECONFIG"),
		// A chart's extraEnv can set it, where an argument cannot be added.
		pprofBindAddress: os.Getenv(pprofVariable),
		setGlobalLogger: func(log logr.Logger) {
			logf.SetLogger(log)
			klog.SetLoggerWithOptions(log, klog.ContextualLogger(true))
		},
	}
}

func (b Binary) newManager(cfg config, log logr.Logger) (ctrlmanager.Manager, error) {
	restConfig, err := loadRESTConfig(cfg.kubeconfig)
	if err != nil {
		return nil, err
	}
	restConfig.UserAgent = userAgent(b.Name)

	scheme, err := b.newScheme()
	if err != nil {
		return nil, err
	}
	options := managerOptions(cfg, scheme, log)
	if !b.Garden {
		options.MapperProvider = newRESTMapper
	}
	if b.CacheTransform != nil {
		options.Cache.DefaultTransform = b.CacheTransform
	}
	mgr, err := ctrlmanager.New(restConfig, options)
	if err != nil {
		return nil, fmt.Errorf("creating manager: %w", err)
	}
	return mgr, nil
}

func (b Binary) newScheme() (*k8sruntime.Scheme, error) {
	scheme := k8sruntime.NewScheme()
	builder := k8sruntime.NewSchemeBuilder(
		kinds.In(coordinationv1.SchemeGroupVersion, &coordinationv1.Lease{}),
		// A namespace owns the configurations of webhooks, and Secrets have their certificates.
		kinds.In(corev1.SchemeGroupVersion, &corev1.Namespace{}, &corev1.Secret{}, &corev1.SecretList{}),
		kinds.In(admissionregistrationv1.SchemeGroupVersion,
			&admissionregistrationv1.MutatingWebhookConfiguration{}, &admissionregistrationv1.ValidatingWebhookConfiguration{}),
		b.AddToScheme,
	)
	if err := builder.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("registering API types: %w", err)
	}
	return scheme, nil
}

func managerOptions(cfg config, scheme *k8sruntime.Scheme, log logr.Logger) ctrlmanager.Options {
	return ctrlmanager.Options{
		Scheme:                  scheme,
		Logger:                  log,
		Cache:                   cache.Options{DefaultTransform: cache.TransformStripManagedFields()},
		NewClient:               newUncachedClient,
		HealthProbeBindAddress:  cfg.healthBindAddress,
		Metrics:                 metricsserver.Options{BindAddress: cfg.metricsBindAddress, FilterProvider: uncompressed},
		PprofBindAddress:        noAddress, // see addDebugServer
		LeaderElection:          cfg.leaderElection,
		LeaderElectionID:        cfg.leaderElectionID,
		LeaderElectionNamespace: cfg.leaderElectionNamespace,
		LeaseDuration:           new(leaseDuration),
		RenewDeadline:           new(leaseRenewDeadline),
		RetryPeriod:             new(leaseRetryPeriod),
		// Safe, because the process ends as soon as the manager does.
		LeaderElectionReleaseOnCancel: true,
		GracefulShutdownTimeout:       new(gracefulShutdown),
	}
}

// newUncachedClient returns a client that reads from the API server. Informers exist for events, not for reads: a read through a cache would silently
// start an informer for the kind and keep every Secret, or every Cluster with its CloudProfile, in memory.
func newUncachedClient(config *rest.Config, options client.Options) (client.Client, error) {
	options.Cache = nil
	return client.New(config, options)
}

// loadRESTConfig reads the kubeconfig at path or, without one, uses the pod's service account. It never reads a file in the home directory: a
// controller must not act on the cluster that a shell happens to point at.
func loadRESTConfig(path string) (*rest.Config, error) {
	config, err := rest.InClusterConfig()
	if path != "" {
		config, err = clientcmd.BuildConfigFromFlags("", path)
	}
	switch {
	case errors.Is(err, rest.ErrNotInCluster):
		return nil, errors.New("no API server to talk to: give --kubeconfig, set KUBECONFIG, or run in a pod")
	case err != nil:
		return nil, fmt.Errorf("loading kubeconfig %q: %w", cmp.Or(path, "of the pod"), err)
	}
	// The API server limits clients itself (API Priority and Fairness); a limit here would only slow down many concurrent reconciliations.
	config.QPS = -1
	return config, nil
}

func userAgent(name string) string {
	return fmt.Sprintf("%s/%s (%s/%s) trellis", name, buildinfo.Read().Version, runtime.GOOS, runtime.GOARCH)
}
