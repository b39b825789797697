package seed

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/gardener/gardener/pkg/component"
	"github.com/gardener/gardener/pkg/component/crddeployer"
	"github.com/gardener/gardener/pkg/component/extensions/crds"
	"golang.org/x/sync/errgroup"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/trellis-garden/trellis/e2e/internal/repo"
)

// hostingKinds are the CRDs of what components of control planes consist of besides Kubernetes' own kinds: files of modules.
// Gardener's packages that deploy them would bring others with them, of which some are the largest that there are.
func hostingKinds() map[string][]string {
	return map[string][]string{
		"github.com/gardener/gardener": {
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

// define makes kinds known to the API server.
func (s *Seed) define(ctx context.Context) error {
	extensions, err := crds.NewCRD(s.Client, true, true)
	if err != nil {
		return fmt.Errorf("reading Gardener's CRDs: %w", err)
	}
	definitions := []component.DeployWaiter{extensions}
	if s.knowing {
		manifests, err := readManifests(ctx, hostingKinds())
		if err != nil {
			return fmt.Errorf("reading the CRDs of control planes: %w", err)
		}
		others, err := crddeployer.New(s.Client, manifests, false)
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

// readManifests reads files of modules that this module depends on.
func readManifests(ctx context.Context, files map[string][]string) ([]string, error) {
	module, err := repo.Path("e2e")
	if err != nil {
		return nil, err
	}
	var manifests []string
	for dependency, paths := range files {
		cmd := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", dependency)
		cmd.Dir = module
		cmd.Env = append(os.Environ(), "GOWORK=off")
		dir, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("looking for module %s: %w", dependency, err)
		}
		for _, path := range paths {
			content, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), path))
			if err != nil {
				return nil, err
			}
			manifests = append(manifests, string(content))
		}
	}
	return manifests, nil
}

// warmUp lists every kind of Gardener's extensions once. The API server begins to cache a kind when it is first asked for
// it, and asks to come back in a second; for all kinds one after another that would be ten.
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
