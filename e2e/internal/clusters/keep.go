package clusters

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// Keep copies the logs of all processes to a new folder, and writes the objects of each seed there, one file per kind. Credentials are left out.
func (c *Clusters) Keep(ctx context.Context, dir string) error {
	failures := []error{KeepLogs(c.options.Dir, dir)}
	for i, s := range c.Seeds {
		for _, kind := range keptKinds() {
			failures = append(failures, s.keepObjects(ctx, kind, filepath.Join(dir, fmt.Sprintf("seed-%d-%s.yaml", i+1, strings.ToLower(kind.Kind)))))
		}
	}
	return errors.Join(failures...)
}

func keptKinds() []schema.GroupVersionKind {
	var kinds []schema.GroupVersionKind
	for version, names := range map[schema.GroupVersion][]string{
		{Group: "extensions.gardener.cloud", Version: "v1alpha1"}: {"Cluster", "Infrastructure", "ControlPlane", "Network", "Worker"},
		{Group: "resources.gardener.cloud", Version: "v1alpha1"}:  {"ManagedResource"},
		{Group: "machine.sapcloud.io", Version: "v1alpha1"}:       {"MachineDeployment", "MachineSet", "Machine"},
		{Group: "apps", Version: "v1"}:                            {"Deployment", "DaemonSet"},
		{Version: "v1"}:                                           {"Pod", "Event"},
	} {
		for _, name := range names {
			kinds = append(kinds, version.WithKind(name))
		}
	}
	return kinds
}

// keepObjects writes all objects of a kind to a file, if there are any.
func (s *Seed) keepObjects(ctx context.Context, kind schema.GroupVersionKind, file string) error {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	if err := s.Client.List(ctx, list); meta.IsNoMatchError(err) {
		return nil // a seed without control planes
	} else if err != nil {
		return fmt.Errorf("listing %s: %w", kind.Kind, err)
	}
	if len(list.Items) == 0 {
		return nil
	}
	content, err := yaml.Marshal(list)
	if err != nil {
		return err
	}
	return os.WriteFile(file, content, 0o600)
}

// KeepLogs copies the logs below a folder to a new folder. The name of a copy has that of its folder.
func KeepLogs(from, to string) error {
	if err := errors.Join(os.RemoveAll(to), os.MkdirAll(to, 0o755)); err != nil {
		return err
	}
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".log" {
			return err
		}
		relative, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, strings.ReplaceAll(relative, string(filepath.Separator), "-")), content, 0o600)
	})
}
