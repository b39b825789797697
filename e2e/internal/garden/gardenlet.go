package garden

import (
	"context"
	"fmt"
	"time"

	"github.com/gardener/gardener/pkg/api/indexer"
	gardenletconfigv1alpha1 "github.com/gardener/gardener/pkg/apis/config/gardenlet/v1alpha1"
	"github.com/gardener/gardener/pkg/apis/core"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/gardener/gardener/pkg/client/kubernetes"
	"github.com/gardener/gardener/pkg/controller/tokenrequestor"
	"github.com/gardener/gardener/pkg/gardenlet/controller/controllerinstallation"
	gardenerutils "github.com/gardener/gardener/pkg/utils/gardener"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// GardenerVersion is the version of Gardener in gardenlet's values for charts.
const GardenerVersion = "v1.149.3"

// Gardenlet serves the ControllerInstallations of a seed.
type Gardenlet struct{ runner *runner }

// Stop stops the gardenlet. What it has installed stays. Garden.Stop does the same.
func (g *Gardenlet) Stop() error { return g.runner.stop() }

// StartGardenlet runs gardenlet's own controllers of ControllerInstallations for a seed of AddSeed, with the cluster of seedConfig: they render
// charts into ManagedResources, report their health, and report whether extension objects still need an installation; and the controller that
// fills Secrets with tokens for the garden. The cluster must have the CRDs of Gardener's extensions and of ManagedResources, and a
// gardener-resource-manager. The namespace "garden" is created there unless it exists.
//
// The gardenlet continues when ctx ends; Stop stops it. A cluster can be one seed only.
func (g *Garden) StartGardenlet(ctx context.Context, seedName string, seedConfig *rest.Config) (*Gardenlet, error) {
	name := "gardenlet-" + seedName
	mgr, err := g.gardenletManager(name, seedConfig)
	if err != nil {
		return nil, err
	}
	garden, err := g.gardenOf(seedName)
	if err != nil {
		return nil, fmt.Errorf("preparing %s: %w", name, err)
	}
	for _, index := range []func(context.Context, client.FieldIndexer) error{
		indexer.AddControllerInstallationSeedRefName, indexer.AddControllerInstallationRegistrationRefName,
	} {
		if err := index(ctx, garden.GetFieldIndexer()); err != nil {
			return nil, fmt.Errorf("adding an index of %s: %w", name, err)
		}
	}
	if err := mgr.Add(garden); err != nil {
		return nil, fmt.Errorf("preparing %s: %w", name, err)
	}
	if err := createGardenNamespace(ctx, mgr.GetConfig()); err != nil {
		return nil, err
	}
	if err := addControllersOfInstallations(ctx, mgr, garden, seedName, g.careInterval); err != nil {
		return nil, fmt.Errorf("preparing %s: %w", name, err)
	}
	started, err := run(ctx, name, mgr)
	if err != nil {
		return nil, err
	}
	g.owns(started)
	return &Gardenlet{runner: started}, nil
}

func (g *Garden) gardenletManager(name string, seedConfig *rest.Config) (manager.Manager, error) {
	log, err := logTo(g.dir, name)
	if err != nil {
		return nil, err
	}
	unlimited := rest.CopyConfig(seedConfig)
	unlimited.QPS = -1
	mgr, err := manager.New(unlimited, manager.Options{
		Scheme:     kubernetes.SeedScheme,
		Logger:     log,
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)}, // there is one gardenlet for each seed
	})
	if err != nil {
		return nil, fmt.Errorf("preparing %s: %w", name, err)
	}
	return mgr, nil
}

// gardenOf is the garden from the view of a seed's gardenlet.
func (g *Garden) gardenOf(seedName string) (cluster.Cluster, error) {
	return cluster.New(g.Config, func(options *cluster.Options) {
		options.Scheme = kubernetes.GardenScheme
		options.Client.Cache = &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}, &corev1.ConfigMap{}, &corev1.ServiceAccount{}}}
		options.Cache.ByObject = map[client.Object]cache.ByObject{
			&gardencorev1beta1.ControllerInstallation{}: {Field: fields.OneTermEqualSelector(core.SeedRefName, seedName)},
			&gardencorev1beta1.Seed{}:                   {Field: fields.OneTermEqualSelector(metav1.ObjectNameField, seedName)},
		}
	})
}

func createGardenNamespace(ctx context.Context, seedConfig *rest.Config) error {
	seed, err := client.New(seedConfig, client.Options{Scheme: kubernetes.SeedScheme})
	if err != nil {
		return fmt.Errorf("creating a client for the seed: %w", err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: v1beta1constants.GardenNamespace, Labels: map[string]string{v1beta1constants.GardenRole: v1beta1constants.GardenNamespace},
	}}
	if err := seed.Create(ctx, namespace); client.IgnoreAlreadyExists(err) != nil {
		return fmt.Errorf("creating namespace %s in the seed: %w", namespace.Name, err)
	}
	return nil
}

// addControllersOfInstallations adds gardenlet's controllers as it does (cmd/gardenlet/app and pkg/gardenlet/controller in Gardener).
func addControllersOfInstallations(
	ctx context.Context, mgr manager.Manager, garden cluster.Cluster, seedName string, care time.Duration,
) error {
	configuration := gardenletconfigv1alpha1.GardenletConfiguration{
		SeedConfig: &gardenletconfigv1alpha1.SeedConfig{SeedTemplate: gardencorev1beta1.SeedTemplate{ObjectMeta: metav1.ObjectMeta{Name: seedName}}},
	}
	gardenletconfigv1alpha1.SetObjectDefaults_GardenletConfiguration(&configuration)
	if care > 0 {
		configuration.Controllers.ControllerInstallationCare.SyncPeriod = &metav1.Duration{Duration: care}
	}
	seed, err := kubernetes.NewWithConfig(
		kubernetes.WithRESTConfig(mgr.GetConfig()),
		kubernetes.WithRuntimeAPIReader(mgr.GetAPIReader()),
		kubernetes.WithRuntimeClient(mgr.GetClient()),
		kubernetes.WithRuntimeCache(mgr.GetCache()),
	)
	if err != nil {
		return err
	}
	if err := controllerinstallation.AddToManager(
		ctx, mgr, garden, mgr, seed, configuration,
		&gardencorev1beta1.Gardener{Name: "gardenlet", Version: GardenerVersion}, Identity,
		false, nil, seedName, v1beta1constants.GardenNamespace,
	); err != nil {
		return err
	}
	return (&tokenrequestor.Reconciler{
		ConcurrentSyncs: 5,
		Class:           new(resourcesv1alpha1.ResourceManagerClassGarden),
		TargetNamespace: gardenerutils.ComputeGardenNamespace(seedName),
	}).AddToManager(mgr, mgr, garden)
}
