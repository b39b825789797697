// Package garden starts the garden of a Gardener landscape as far as registrations of extensions go, and webhooks in the garden: the real
// gardener-apiserver beside a kube-apiserver, gardener-controller-manager's controllers of ControllerRegistrations, of what binds
// credentials and of NamespacedCloudProfiles, and gardenlet's of ControllerInstallations for any cluster that is to be a seed. All of Gardener's code runs in this process; etcd and kube-apiserver are processes. It must not know
// any registration, nor what a chart contains.
//
// Whoever asks is a member of system:masters: neither Gardener's RBAC nor its SeedAuthorizer is exercised. Shoots are never reconciled:
// there is nobody who would create extension objects for them.
package garden

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gardener/gardener/pkg/client/kubernetes"
	"github.com/gardener/gardener/pkg/features"
	"github.com/gardener/gardener/pkg/gardenlet/controller/controllerinstallation/controllerinstallation"
	gardenletfeatures "github.com/gardener/gardener/pkg/gardenlet/features"
	gardenerenvtest "github.com/gardener/gardener/test/envtest"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

const (
	// A machine that compiles something else at the same time takes its time.
	startTimeout = 5 * time.Minute
	stopTimeout  = 2 * time.Minute
	// retryInterval is when gardenlet looks again whether what it deletes has gone. Otherwise that would be after 5 s, twice for each installation.
	retryInterval = 500 * time.Millisecond
)

// Garden is a running garden cluster.
type Garden struct {
	// Client is an administrator's and does not cache. It knows all of Gardener's and Kubernetes' own kinds.
	Client client.Client
	// Kubeconfig is the path of an administrator's kubeconfig, Config what is in it, without client-side rate limits.
	Kubeconfig string
	Config     *rest.Config

	dir          string
	features     []string // feature gates of gardener-apiserver that are switched on
	audited      bool
	careInterval time.Duration // between two looks of gardenlets at installations; zero means gardenlet's default
	environment  *gardenerenvtest.GardenerTestEnvironment

	mutex    sync.Mutex
	managers []*runner // in the order in which they were started
}

// Option changes what kind of garden it is.
type Option func(*Garden)

// WithFeature switches on a feature gate of gardener-apiserver.
func WithFeature(name string) Option {
	return func(g *Garden) { g.features = append(g.features, name+"=true") }
}

// WithCareInterval has gardenlets look at installations more often than every 30 s: it may take them as long to notice what they have overwritten themselves.
func WithCareInterval(period time.Duration) Option {
	return func(g *Garden) { g.careInterval = period }
}

// Start starts a garden from the programs etcd and kube-apiserver in the folder programs, and waits until it serves. It has the project
// "dev", a CloudProfile "openstack" and what else shoots need there, but neither seeds nor registrations. Everything it writes goes to
// dir, which the caller removes after Stop; the files *.log tell what the controllers did.
//
// A process starts one garden in its life. gardener-apiserver in it takes klog over, and with it what client-go logs: errors, on stderr.
func Start(ctx context.Context, programs, dir string, options ...Option) (*Garden, error) {
	if err := features.DefaultFeatureGate.Add(nil); err != nil {
		return nil, fmt.Errorf("starting a second garden in this process: %w", err)
	}
	gardenletfeatures.RegisterFeatureGates() // no more can be added once gardener-apiserver runs
	controllerinstallation.RequeueDurationWhenResourceDeletionStillPresent = retryInterval
	g := &Garden{dir: dir}
	for _, option := range options {
		option(g)
	}
	if err := g.startAPIServers(programs); err != nil {
		return nil, err
	}
	if err := g.prepare(ctx); err != nil {
		return nil, errors.Join(err, g.Stop())
	}
	return g, nil
}

func (g *Garden) startAPIServers(programs string) error {
	g.environment = &gardenerenvtest.GardenerTestEnvironment{
		UseExistingGardener: new(false),
		Environment: &envtest.Environment{
			UseExistingCluster:       new(false),
			ControlPlaneStartTimeout: startTimeout,
			ControlPlaneStopTimeout:  stopTimeout,
		},
		// No flag for admission plugins: all are as Gardener ships them.
		GardenerAPIServer: &gardenerenvtest.GardenerAPIServer{Args: []string{"--log-level=error"}},
	}
	if len(g.features) > 0 {
		g.environment.GardenerAPIServer.Args = append(g.environment.GardenerAPIServer.Args, "--feature-gates="+strings.Join(g.features, ","))
	}
	g.environment.ControlPlane.GetAPIServer().Path = filepath.Join(programs, "kube-apiserver")
	if g.audited {
		if err := g.audit(); err != nil {
			return err
		}
	}
	g.environment.ControlPlane.Etcd = &envtest.Etcd{Path: filepath.Join(programs, "etcd")}
	g.environment.ControlPlane.Etcd.Configure().Append("unsafe-no-fsync")
	config, err := g.environment.Start()
	if err != nil {
		return fmt.Errorf("starting etcd, kube-apiserver and gardener-apiserver: %w", errors.Join(err, g.stopAPIServers()))
	}
	g.Config = rest.CopyConfig(config)
	g.Config.QPS = -1
	return nil
}

// prepare makes a garden of API servers.
func (g *Garden) prepare(ctx context.Context) error {
	var err error
	if g.Client, err = client.New(g.Config, client.Options{Scheme: kubernetes.GardenScheme}); err != nil {
		return fmt.Errorf("creating a client: %w", err)
	}
	g.Kubeconfig = filepath.Join(g.dir, "garden.kubeconfig")
	if err := os.WriteFile(g.Kubeconfig, g.environment.KubeConfig, 0o600); err != nil {
		return fmt.Errorf("writing the administrator's kubeconfig: %w", err)
	}
	for _, object := range baseObjects() {
		if err := g.Client.Create(ctx, object); err != nil {
			return fmt.Errorf("creating %T %s: %w", object, object.GetName(), err)
		}
	}
	return g.startControllerManager(ctx)
}

// Stop ends all controllers, and then the API servers, which would wait for the controllers' watches otherwise.
func (g *Garden) Stop() error {
	var failures []error
	g.mutex.Lock()
	defer g.mutex.Unlock()
	for _, manager := range slices.Backward(g.managers) {
		failures = append(failures, manager.stop())
	}
	return errors.Join(append(failures, g.stopAPIServers())...)
}

// owns ends a manager with the garden.
func (g *Garden) owns(manager *runner) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.managers = append(g.managers, manager)
}

func (g *Garden) stopAPIServers() error {
	if err := g.environment.Stop(); err != nil {
		return fmt.Errorf("stopping gardener-apiserver, kube-apiserver and etcd: %w", err)
	}
	return nil
}
