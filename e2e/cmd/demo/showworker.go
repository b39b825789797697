package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/conformance"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
)

// showServers lists the servers with their Nodes and other resources in the cloud. It returns the number of servers.
func (d *openStackDemo) showServers(ctx context.Context) (int, error) {
	flavors, err := d.namesOf(ctx, conformance.Compute, "/v2.1/flavors", "flavors")
	if err != nil {
		return 0, err
	}
	images, err := d.namesOf(ctx, conformance.Image, "/v2/images", "images")
	if err != nil {
		return 0, err
	}
	found, err := d.listNodes(ctx)
	if err != nil {
		return 0, err
	}
	state := d.cloud.Fake.State(d.account.Project)
	slices.SortFunc(state.Servers, func(a, b fake.Server) int { return cmp.Compare(a.Name, b.Name) })
	for _, server := range state.Servers {
		boots := images[server.ImageID]
		if len(server.Disks) > 0 {
			boots = bootVolume(state.Volumes, server.Disks[0].VolumeID)
		}
		d.screen.Linef("  %s", serverLine(server, flavors[server.FlavorID], boots, addressOf(state.Ports, server.ID), nodeOf(found, server.Name)))
	}
	for _, group := range state.ServerGroups {
		d.screen.Linef("  %-44s server group, %s, %s", group.Name, group.Policy, count(len(group.Members), "member"))
	}
	return len(state.Servers), nil
}

// serverLine describes a server and its Node.
func serverLine(server fake.Server, flavor, boots, address string, node *corev1.Node) string {
	return fmt.Sprintf("%-44s %-7s %-10s %-22s %-12s %s", server.Name, server.AvailabilityZone, flavor, boots, address, readiness(node))
}

// readiness describes the Node of a server.
func readiness(node *corev1.Node) string {
	if node == nil {
		return "no Node"
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
			return "Node Ready"
		}
	}
	return "Node not ready"
}

func nodeOf(found []corev1.Node, name string) *corev1.Node {
	for i := range found {
		if found[i].Name == name {
			return &found[i]
		}
	}
	return nil
}

func addressOf(ports []fake.Port, server string) string {
	for _, port := range ports {
		if port.DeviceID == server && len(port.FixedIPs) > 0 {
			return port.FixedIPs[0].IPAddress
		}
	}
	return "no port"
}

func bootVolume(volumes []fake.Volume, id string) string {
	for _, volume := range volumes {
		if volume.ID == id {
			return fmt.Sprintf("volume of %d GB", volume.Size)
		}
	}
	return "no volume"
}

// poolOf returns a machine's pool: its name consists of the shoot, the pool, the zone, the set and a suffix.
func poolOf(machine, namespace string) string {
	pool, _, _ := strings.Cut(strings.TrimPrefix(machine, namespace+"-"), "-")
	return pool
}

// namesOf returns the names of resources in the cloud by their IDs.
func (d *openStackDemo) namesOf(ctx context.Context, service conformance.Service, path, kind string) (map[string]string, error) {
	response, err := d.account.DoAsMember(ctx, http.MethodGet, service, path, nil)
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	for _, object := range response.Objects(kind) {
		names[object.ID()] = object.Text("name")
	}
	return names, nil
}

func (d *openStackDemo) listNodes(ctx context.Context) ([]corev1.Node, error) {
	list := &corev1.NodeList{}
	err := d.Cluster.Client.List(ctx, list)
	return list.Items, err
}
