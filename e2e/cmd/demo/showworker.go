package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// server is a server of the cloud, which is a machine of the shoot.
type server struct {
	// id is the cloud's, name the machine's, node that of its Node.
	id, name, node string
	// boots is the image or the volume from which it boots.
	zone, kind, boots, address string
}

// showServers lists the servers with their Nodes and other resources in the cloud. It returns the number of servers.
func (d *demo) showServers(ctx context.Context) (int, error) {
	servers, others, err := d.in.servers(ctx)
	if err != nil {
		return 0, err
	}
	found, err := d.listNodes(ctx)
	if err != nil {
		return 0, err
	}
	slices.SortFunc(servers, func(a, b server) int { return cmp.Compare(a.name, b.name) })
	for _, one := range servers {
		d.screen.Linef("  %s", one.line(nodeOf(found, one.node)))
	}
	for _, other := range others {
		d.screen.Linef("  %s", other)
	}
	return len(servers), nil
}

// line describes a server and its Node.
func (s server) line(node *corev1.Node) string {
	zone := max(len(s.zone), 7)
	return fmt.Sprintf("%-44s %-*s %-10s %-22s %-12s %s", s.name, zone, s.zone, s.kind, s.boots, s.address, readiness(node))
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

// poolOf returns a machine's pool: its name consists of the shoot, the pool, the zone, the set and a suffix.
func poolOf(machine, namespace string) string {
	pool, _, _ := strings.Cut(strings.TrimPrefix(machine, namespace+"-"), "-")
	return pool
}

func (d *demo) listNodes(ctx context.Context) ([]corev1.Node, error) {
	list := &corev1.NodeList{}
	err := d.Cluster.Client.List(ctx, list)
	return list.Items, err
}
