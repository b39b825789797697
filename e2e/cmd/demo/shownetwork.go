package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// showPlugin prints the number of objects in the shoot, the running programs, and the source of pods' addresses.
func (d *demo) showPlugin(ctx context.Context) error {
	resource, err := d.readNetworkResource(ctx)
	if err != nil {
		return err
	}
	for _, line := range drawApplied(*resource) {
		d.screen.Linef("  %s", line)
	}
	d.screen.Linef("")
	for _, reference := range resource.Status.Resources {
		key := client.ObjectKey{Namespace: reference.Namespace, Name: reference.Name}
		switch reference.Kind {
		case "DaemonSet":
			object := &appsv1.DaemonSet{}
			err = d.Cluster.Client.Get(ctx, key, object)
			d.screen.Linef("  %s", workloadLine(object.Name, reference.Kind, object.Spec.Template.Spec))
		case "Deployment":
			object := &appsv1.Deployment{}
			err = d.Cluster.Client.Get(ctx, key, object)
			d.screen.Linef("  %s", workloadLine(object.Name, reference.Kind, object.Spec.Template.Spec))
		}
		if err != nil {
			return err
		}
	}
	pools, err := d.plugin.ways(ctx, d.Cluster.Client)
	if err != nil {
		return err
	}
	for _, pool := range pools {
		d.screen.Linef("  %s", pool)
	}
	return nil
}

func workloadLine(name, kind string, spec corev1.PodSpec) string {
	var images []string
	for _, container := range spec.Containers {
		images = append(images, path.Base(container.Image))
	}
	return fmt.Sprintf("%-38s %s  %s", name, kind, strings.Join(slices.Compact(images), ", "))
}

// showEffective prints the effective configuration with defaults, a line for each field.
func (d *demo) showEffective(ctx context.Context) error {
	network, err := d.Source.Gardenlet.GetNetwork(ctx, d.shoot)
	if err != nil {
		return err
	}
	var status struct {
		Effective map[string]any `json:"effective"`
	}
	if err := json.Unmarshal(network.Status.ProviderStatus.Raw, &status); err != nil {
		return fmt.Errorf("reading the provider status of the Network: %w", err)
	}
	d.screen.Linef("  %-24s %v", "ipFamilies", network.Status.IPFamilies)
	for _, line := range effectiveLines(status.Effective) {
		d.screen.Linef("  %s", line)
	}
	return nil
}

// effectiveLines formats a field as a line, and nested fields after it.
func effectiveLines(effective map[string]any) []string {
	var lines []string
	for _, field := range slices.Sorted(maps.Keys(effective)) {
		if field != "apiVersion" && field != "kind" {
			lines = append(lines, fmt.Sprintf("%-24s %s", field, valueOf(effective[field])))
		}
	}
	return lines
}

func valueOf(value any) string {
	fields, nested := value.(map[string]any)
	if !nested {
		return fmt.Sprint(value)
	}
	var parts []string
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		part := valueOf(fields[field])
		if _, deeper := fields[field].(map[string]any); deeper {
			part = "(" + part + ")"
		}
		parts = append(parts, field+" "+part)
	}
	return strings.Join(parts, ", ")
}
