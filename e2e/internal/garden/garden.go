// Package garden starts the garden of a Gardener landscape for tests of registrations and of webhooks in the garden: the real gardener-apiserver
// with a kube-apiserver, gardener-controller-manager's controllers of ControllerRegistrations, credentials bindings and NamespacedCloudProfiles,
// and gardenlet's controllers of ControllerInstallations for any cluster that is a seed. All of Gardener's code runs in this process; etcd and
// kube-apiserver are processes. The package must not depend on registrations or charts.
//
// All clients are members of system:masters: neither Gardener's RBAC nor its SeedAuthorizer is exercised. Shoots are not reconciled: no gardenlet
// creates extension objects for them.
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

	"github.com/trellis-garden/trellis/e2e/internal/apiserver"
)

const (
	// stopTimeout bounds the end of a controller, on a machine that compiles at the same time.
	stopTimeout = 2 * time.Minute
	// retryInterval is how soon gardenlet checks again whether deleted objects are gone. Its own is 5 s, twice for each installation.
	retryInterval = 500 * time.Millisecond
)

// Garden is a running garden cluster.
type Garden struct {
	// Client is an administrator's and does not cache. Its scheme has all of Gardener's and Kubernetes' own kinds.
	Client client.Client
	// Kubeconfig is the path of an administrator's kubeconfig, Config its content, without client-side rate limits.
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

// Option configures a garden.
type Option func(*Garden)

// WithFeature enables a feature gate of gardener-apiserver.
func WithFeature(name string) Option {
	return func(g *Garden) { g.features = append(g.features, name+"=true") }
}

// WithCareInterval sets how often gardenlets check installations; default 30 s. They may notice changes only then.
func WithCareInterval(period time.Duration) Option {
	return func(g *Garden) { g.careInterval = period }
}

// Beside returns a function for clusters.Options, which starts a garden beside the seeds and stores it in g.
func Beside(g **Garden, options ...Option) func(ctx context.Context, programs, dir string) (stop func() error, err error) {
	return func(ctx context.Context, programs, dir string) (func() error, error) {
		started, err := Start(ctx, programs, dir, options...)
		if err != nil {
			return nil, err
		}
		*g = started
		return started.Stop, nil
	}
}

// Start starts a garden from the programs etcd and kube-apiserver in the folder programs, and waits until it is ready. It has the project "dev",
// a CloudProfile "openstack" and what else shoots need, but no seeds or registrations. All files are in dir, which the caller removes after Stop;
// the files *.log have the controllers' logs.
//
// A process can start one garden. gardener-apiserver in it configures klog, and with it client-go's logs: errors, on stderr.
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
	options, gardenerArgs, err := g.auditOptions()
	if err != nil {
		return err
	}
	environment, err := apiserver.New(programs, options)
	if err != nil {
		return err
	}
	g.environment = &gardenerenvtest.GardenerTestEnvironment{
		UseExistingGardener: new(false),
		Environment:         environment,
		// Without flags for admission plugins, Gardener's defaults are enabled.
		GardenerAPIServer: &gardenerenvtest.GardenerAPIServer{Args: append(gardenerArgs, "--log-level=error")},
	}
	if len(g.features) > 0 {
		g.environment.GardenerAPIServer.Args = append(g.environment.GardenerAPIServer.Args, "--feature-gates="+strings.Join(g.features, ","))
	}
	config, err := g.environment.Start()
	if err != nil {
		return fmt.Errorf("starting etcd, kube-apiserver and gardener-apiserver: %w", errors.Join(err, g.stopAPIServers()))
	}
	g.Config = rest.CopyConfig(config)
	g.Config.QPS = -1
	return nil
}

// prepare creates a garden's objects in the API servers.
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

// Stop stops all controllers, and then the API servers, which would otherwise wait for the controllers' watches.
func (g *Garden) Stop() error {
	var failures []error
	g.mutex.Lock()
	defer g.mutex.Unlock()
	for _, manager := range slices.Backward(g.managers) {
		failures = append(failures, manager.stop())
	}
	return errors.Join(append(failures, g.stopAPIServers())...)
}

// owns stops a manager together with the garden.
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
