package seed

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gardener/gardener/pkg/component"
	"github.com/gardener/gardener/pkg/component/crddeployer"
	"github.com/gardener/gardener/pkg/component/extensions/crds"
	"golang.org/x/sync/errgroup"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/repo"
)

const gardenerModule = "github.com/gardener/gardener"

// hostingKinds are the CRDs of control planes' components besides Kubernetes' own kinds: files of modules. Gardener's packages that deploy
// them have dependencies that are among the largest.
func hostingKinds() map[string][]string {
	return map[string][]string{
		gardenerModule: {
			"example/seed-crds/10-crd-resources.gardener.cloud_managedresources.yaml",
			"example/seed-crds/10-crd-autoscaling.k8s.io_verticalpodautoscalers.yaml",
			"example/seed-crds/10-crd-monitoring.coreos.com_prometheusrules.yaml",
			"example/seed-crds/10-crd-monitoring.coreos.com_scrapeconfigs.yaml",
			"example/seed-crds/10-crd-monitoring.coreos.com_servicemonitors.yaml",
			"example/seed-crds/10-crd-machine.sapcloud.io_machineclasses.yaml",
			"example/seed-crds/10-crd-machine.sapcloud.io_machinedeployments.yaml",
			"example/seed-crds/10-crd-machine.sapcloud.io_machinesets.yaml",
			"example/seed-crds/10-crd-machine.sapcloud.io_machines.yaml",
		},
		"github.com/gardener/etcd-druid/api": {"core/v1alpha1/crds/druid.gardener.cloud_etcds.yaml"},
	}
}

// installedKinds are further CRDs of objects in extensions' charts.
func installedKinds() map[string][]string {
	return map[string][]string{gardenerModule: {
		"example/seed-crds/10-crd-fluentbit.fluent.io_clusterfilters.yaml",
		"example/seed-crds/10-crd-fluentbit.fluent.io_clusterparsers.yaml",
		"example/seed-crds/10-crd-fluentbit.fluent.io_clustermultilineparsers.yaml",
	}}
}

// define creates CRDs in the API server.
func (s *Seed) define(ctx context.Context) error {
	if s.controlPlaneKinds {
		return define(ctx, s.Client, s.gardener, hostingKinds())
	}
	return define(ctx, s.Client, s.gardener)
}

// Define creates the CRDs of a seed in any cluster: those of Gardener's extensions, of control planes' components, and of objects in extensions'
// charts.
func Define(ctx context.Context, cluster client.Client) error {
	return define(ctx, cluster, "", hostingKinds(), installedKinds())
}

// define creates the CRDs of Gardener's extensions, and those in files of modules. The folder gardener has the source of another version of
// Gardener than this module's; empty for this module's.
func define(ctx context.Context, cluster client.Client, gardener string, besides ...map[string][]string) error {
	extensions, err := extensionKinds(cluster, gardener)
	if err != nil {
		return fmt.Errorf("reading Gardener's CRDs: %w", err)
	}
	definitions := []component.DeployWaiter{extensions}
	for _, files := range besides {
		manifests, err := readManifests(ctx, files, gardener)
		if err != nil {
			return fmt.Errorf("reading the CRDs of control planes: %w", err)
		}
		others, err := crddeployer.New(cluster, manifests, false)
		if err != nil {
			return fmt.Errorf("reading the CRDs of control planes: %w", err)
		}
		definitions = append(definitions, others)
	}
	all, ctx := errgroup.WithContext(ctx)
	for _, definition := range definitions {
		all.Go(func() error { return component.OpWait(definition).Deploy(ctx) })
	}
	if err := all.Wait(); err != nil {
		return fmt.Errorf("deploying CRDs: %w", err)
	}
	return nil
}

// extensionKinds are the CRDs of Gardener's extensions.
func extensionKinds(cluster client.Client, gardener string) (component.DeployWaiter, error) {
	if gardener == "" {
		return crds.NewCRD(cluster, true, true)
	}
	paths, err := filepath.Glob(filepath.Join(gardener, "example", "seed-crds", "10-crd-extensions.gardener.cloud_*.yaml"))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("there are none in %s", gardener)
	}
	var manifests []string
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		manifests = append(manifests, string(content))
	}
	return crddeployer.New(cluster, manifests, false)
}

// readManifests reads files of modules that this module depends on; those of Gardener from the folder gardener, unless it is empty.
func readManifests(ctx context.Context, files map[string][]string, gardener string) ([]string, error) {
	var manifests []string
	for dependency, paths := range files {
		dir := gardener
		if dir == "" || dependency != gardenerModule {
			var err error
			if dir, err = repo.ModuleDir(ctx, dependency); err != nil {
				return nil, err
			}
		}
		for _, path := range paths {
			content, err := os.ReadFile(filepath.Join(dir, path))
			if err != nil {
				return nil, err
			}
			manifests = append(manifests, string(content))
		}
	}
	return manifests, nil
}

// warmUp lists each kind of Gardener's extensions once. The API server fills its cache of a kind at the first request, and answers that with a
// Retry-After of a second; for all kinds one after another that would be ten.
func (s *Seed) warmUp(ctx context.Context) error {
	definitions := &apiextensionsv1.CustomResourceDefinitionList{}
	if err := s.Client.List(ctx, definitions); err != nil {
		return fmt.Errorf("listing the CRDs: %w", err)
	}
	all, ctx := errgroup.WithContext(ctx)
	for _, definition := range definitions.Items {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(schema.GroupVersionKind{
			Group: definition.Spec.Group, Version: definition.Spec.Versions[0].Name, Kind: definition.Spec.Names.ListKind,
		})
		all.Go(func() error { return s.Client.List(ctx, list) })
	}
	if err := all.Wait(); err != nil {
		return fmt.Errorf("listing Gardener's extensions: %w", err)
	}
	return nil
}
