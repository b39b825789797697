package garden

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/gardener/gardener/pkg/api/indexer"
	controllermanagerconfigv1alpha1 "github.com/gardener/gardener/pkg/apis/config/controllermanager/v1alpha1"
	"github.com/gardener/gardener/pkg/client/kubernetes"
	"github.com/gardener/gardener/pkg/controllermanager/controller/controllerdeployment/controllerdeployment"
	"github.com/gardener/gardener/pkg/controllermanager/controller/controllerregistration"
	"github.com/gardener/gardener/pkg/controllermanager/controller/credentialsbinding"
	"github.com/gardener/gardener/pkg/controllermanager/controller/namespacedcloudprofile"
	"github.com/gardener/gardener/pkg/controllermanager/controller/secretbinding"
	"github.com/gardener/gardener/pkg/controllermanager/controller/seed/extensionscheck"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const controllerManager = "gardener-controller-manager"

// ControllerManagerLog is the path of the log of gardener-controller-manager's controllers.
func (g *Garden) ControllerManagerLog() string { return filepath.Join(g.dir, controllerManager+".log") }

// startControllerManager starts gardener-controller-manager's controllers for registrations: installations, finalizers, and the condition
// ExtensionsReady of Seeds; and those whose labels and statuses webhooks in the garden read.
func (g *Garden) startControllerManager(ctx context.Context) error {
	log, err := logTo(g.dir, controllerManager)
	if err != nil {
		return err
	}
	mgr, err := manager.New(g.Config, manager.Options{
		Scheme:     kubernetes.GardenScheme,
		Logger:     log,
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)},
		Client:     client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}}}},
	})
	if err != nil {
		return fmt.Errorf("preparing %s: %w", controllerManager, err)
	}
	for _, index := range []func(context.Context, client.FieldIndexer) error{
		indexer.AddShootSeedName, indexer.AddShootStatusSeedName,
		indexer.AddBackupBucketSeedName, indexer.AddBackupBucketShootRefName, indexer.AddBackupBucketShootRefNamespace,
		indexer.AddBackupEntrySeedName, indexer.AddBackupEntryShootRefName, indexer.AddBackupEntryShootRefNamespace,
		indexer.AddControllerInstallationSeedRefName, indexer.AddControllerInstallationRegistrationRefName,
		indexer.AddControllerInstallationShootRefName, indexer.AddControllerInstallationShootRefNamespace,
		indexer.AddNamespacedCloudProfileParentRefName,
	} {
		if err := index(ctx, mgr.GetFieldIndexer()); err != nil {
			return fmt.Errorf("adding an index of %s: %w", controllerManager, err)
		}
	}
	configuration := controllermanagerconfigv1alpha1.ControllerManagerConfiguration{}
	controllermanagerconfigv1alpha1.SetObjectDefaults_ControllerManagerConfiguration(&configuration)
	if err := addControllersOfRegistrations(mgr, configuration); err != nil {
		return fmt.Errorf("preparing %s: %w", controllerManager, err)
	}
	if err := addControllersOfProjects(mgr, configuration.Controllers); err != nil {
		return fmt.Errorf("preparing %s: %w", controllerManager, err)
	}
	started, err := run(ctx, controllerManager, mgr)
	if err != nil {
		return err
	}
	g.owns(started)
	return nil
}

func addControllersOfRegistrations(mgr manager.Manager, configuration controllermanagerconfigv1alpha1.ControllerManagerConfiguration) error {
	if err := controllerregistration.AddToManager(mgr, configuration); err != nil {
		return err
	}
	if err := (&controllerdeployment.Reconciler{Config: *configuration.Controllers.ControllerDeployment}).AddToManager(mgr); err != nil {
		return err
	}
	return (&extensionscheck.Reconciler{Config: *configuration.Controllers.SeedExtensionsCheck}).AddToManager(mgr)
}

// addControllersOfProjects adds the controllers that label credentials with the provider type of their bindings, and that merge
// NamespacedCloudProfiles with their parents.
func addControllersOfProjects(mgr manager.Manager, configuration controllermanagerconfigv1alpha1.ControllerManagerControllerConfiguration) error {
	if err := (&secretbinding.Reconciler{Config: *configuration.SecretBinding}).AddToManager(mgr); err != nil {
		return err
	}
	if err := (&credentialsbinding.Reconciler{Config: *configuration.CredentialsBinding}).AddToManager(mgr); err != nil {
		return err
	}
	return (&namespacedcloudprofile.Reconciler{Config: *configuration.NamespacedCloudProfile}).AddToManager(mgr)
}
