package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// pluginEntry is a network plugin of the demo.
type pluginEntry struct {
	// name is the type of the Network, and daemonSet what runs on each node.
	name, daemonSet string
	// overlay is true if the shoot in OpenStack begins with an overlay only when the user says so.
	overlay bool
	// ways describes the pods' ranges, and the encapsulation of their packets.
	ways func(context.Context, client.Client) ([]string, error)
}

const gardenetAgent = "gardenet-agent"

// plugins lists the network plugins of the demo, the default first.
func plugins() []pluginEntry {
	return []pluginEntry{
		{name: "calico", daemonSet: "calico-node", ways: calicoPools},
		{name: "gardenet", daemonSet: gardenetAgent, overlay: true, ways: gardenetWays},
	}
}

// pluginNamed returns the network plugin of a name; the default without one.
func pluginNamed(name string) (pluginEntry, error) {
	all := plugins()
	var names []string
	for _, entry := range all {
		if entry.name == cmp.Or(name, all[0].name) {
			return entry, nil
		}
		names = append(names, entry.name)
	}
	return pluginEntry{}, fmt.Errorf("NETWORK or --network: there is no demo of %q; the network plugins are %s", name, strings.Join(names, " and "))
}

// resource is the name of the plugin's ManagedResource in the shoot.
func (p pluginEntry) resource() string { return "extension-networking-" + p.name + "-config" }

// config returns a user's configuration of the overlay.
func (p pluginEntry) config(overlay map[string]any) map[string]any {
	return map[string]any{"apiVersion": p.name + ".networking.extensions.gardener.cloud/v1alpha1", "kind": "NetworkConfig", "overlay": overlay}
}

func calicoPools(ctx context.Context, shoot client.Client) ([]string, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: "crd.projectcalico.org", Version: "v1", Kind: "IPPoolList"})
	if err := shoot.List(ctx, list); err != nil {
		return nil, err
	}
	var lines []string
	for _, pool := range list.Items {
		lines = append(lines, poolLine(pool))
	}
	return lines, nil
}

func poolLine(pool unstructured.Unstructured) string {
	text := func(field string) string {
		value, _, _ := unstructured.NestedString(pool.Object, "spec", field)
		return value
	}
	if disabled, _, _ := unstructured.NestedBool(pool.Object, "spec", "disabled"); disabled {
		return fmt.Sprintf("%-38s IPPool %s, not for pods", pool.GetName(), text("cidr"))
	}
	return fmt.Sprintf("%-38s IPPool %s, IP-in-IP %s, VXLAN %s", pool.GetName(), text("cidr"), text("ipipMode"), text("vxlanMode"))
}

// gardenetWays reads the configuration of the DaemonSet's pods.
func gardenetWays(ctx context.Context, shoot client.Client) ([]string, error) {
	agents := &appsv1.DaemonSet{}
	if err := shoot.Get(ctx, client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: gardenetAgent}, agents); err != nil {
		return nil, err
	}
	var lines []string
	for _, volume := range agents.Spec.Template.Spec.Volumes {
		if volume.ConfigMap == nil {
			continue
		}
		object := &corev1.ConfigMap{}
		if err := shoot.Get(ctx, client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: volume.ConfigMap.Name}, object); err != nil {
			return nil, err
		}
		line, err := wayLine(object.Data["config.json"])
		if err != nil {
			return nil, err
		}
		lines = append(lines, fmt.Sprintf("%-38s ConfigMap  %s", object.Name, line))
	}
	return lines, nil
}

func wayLine(document string) (string, error) {
	var config struct {
		PodRanges []string `json:"podRanges"`
		Routes    string   `json:"routes"`
		Tunnel    *struct {
			ID   int `json:"id"`
			Port int `json:"port"`
		} `json:"tunnel"`
	}
	if err := json.Unmarshal([]byte(document), &config); err != nil {
		return "", fmt.Errorf("reading the configuration of agents: %w", err)
	}
	line := strings.Join(config.PodRanges, ", ") + ", routes of the " + config.Routes
	if config.Tunnel != nil {
		line += fmt.Sprintf(", VXLAN %d at port %d", config.Tunnel.ID, config.Tunnel.Port)
	}
	return line, nil
}
