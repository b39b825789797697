package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/process"
	"github.com/trellis-garden/trellis/e2e/internal/workload"
)

const (
	// uninitialized is the taint of a Node that no cloud-controller-manager has initialized (k8s.io/cloud-provider/api).
	uninitialized = "node.cloudprovider.kubernetes.io/uninitialized"
	// nodeTimeout bounds the work of the cloud-controller-manager.
	nodeTimeout = 2 * time.Minute

	ccmDeployment = "cloud-controller-manager"
	ccmProgram    = "openstack-cloud-controller-manager"
)

// initializeNodes runs the only container of the ControlPlane that can run here, as its Deployment describes it.
func (d *openStackDemo) initializeNodes(ctx context.Context) error {
	d.screen.Heading("The cloud-controller-manager, run as its Deployment describes it, initializes the nodes")
	ctx, cancel := context.WithTimeout(ctx, nodeTimeout)
	defer cancel()
	for _, part := range []struct {
		name string
		do   func(context.Context) (string, error)
	}{
		{"process", d.startContainer},
		{"initialized", d.waitInitialized},
		{"ready", d.waitReady},
	} {
		if err := d.screen.Step(part.name, func(io.Writer) (string, error) { return part.do(ctx) }); err != nil {
			return err
		}
	}
	found, err := d.listNodes(ctx)
	for _, node := range found {
		d.screen.Linef("  %-44s %s", node.Name, nodeLine(&node))
	}
	return err
}

// waitReady waits until the network plugin's pods are ready on all nodes.
func (d *demo) waitReady(ctx context.Context) (string, error) {
	for {
		found, err := d.listNodes(ctx)
		if err != nil {
			return "", err
		}
		pods := &corev1.PodList{}
		if err := d.Cluster.Client.List(ctx, pods, client.InNamespace(metav1.NamespaceSystem)); err != nil {
			return "", err
		}
		if ready := readyOn(found, pods.Items, d.plugin.daemonSet); ready == len(found) {
			return fmt.Sprintf("DaemonSet %s is on %d of %d nodes", d.plugin.daemonSet, ready, len(found)), nil
		}
		if err := sleep(ctx, interval); err != nil {
			return "", err
		}
	}
}

// readyOn counts the nodes on which a pod of a DaemonSet is ready.
func readyOn(found []corev1.Node, pods []corev1.Pod, daemonSet string) int {
	ready := map[string]bool{}
	for i := range pods {
		if owner := metav1.GetControllerOf(&pods[i]); owner != nil && owner.Name == daemonSet && isReady(&pods[i]) {
			ready[pods[i].Spec.NodeName] = true
		}
	}
	on := 0
	for _, node := range found {
		if ready[node.Name] {
			on++
		}
	}
	return on
}

func isReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(condition corev1.PodCondition) bool {
		return condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue
	})
}

// startContainer sets an address for the process, as a pod has one, and shorter intervals than in a seed.
func (d *openStackDemo) startContainer(ctx context.Context) (_ string, err error) {
	if d.containerAddress, err = process.FreeAddress(); err != nil {
		return "", err
	}
	host, port, _ := strings.Cut(d.containerAddress, ":")
	d.container, err = workload.RunContainer(ctx, d.Source.Client, workload.Run{
		Namespace: d.shoot.Namespace(), Deployment: ccmDeployment, Container: ccmProgram,
		Program: filepath.Join(d.Programs, ccmProgram),
		Flags: map[string]string{
			"bind-address": host, "secure-port": port, "node-monitor-period": "1s", "concurrent-node-syncs": "5", "route-reconciliation-period": "1s",
			// The next process need not wait long for the lease of the previous one, which was killed.
			"leader-elect-lease-duration": "3s", "leader-elect-renew-deadline": "2s", "leader-elect-retry-period": "500ms",
		},
		Dir: filepath.Join(d.Dir, ccmDeployment),
	})
	if err != nil {
		return "", err
	}
	return d.waitContainer(ctx)
}

// restartContainer replaces the process, as the Deployment's new pod does.
func (d *openStackDemo) restartContainer(ctx context.Context) (string, error) {
	if err := d.container.Restart(ctx); err != nil {
		return "", err
	}
	return d.waitContainer(ctx)
}

func (d *openStackDemo) waitContainer(ctx context.Context) (string, error) {
	return fmt.Sprintf("%s, pid %d", ccmProgram, d.container.PID()), d.container.WaitForTLS(ctx, "https://"+d.containerAddress+"/healthz")
}

func (d *demo) stopContainer() {
	if d.container != nil {
		d.container.Stop()
		d.container = nil
	}
}

// waitInitialized waits until the cloud-controller-manager has initialized all nodes.
func (d *openStackDemo) waitInitialized(ctx context.Context) (string, error) {
	for {
		found, err := d.listNodes(ctx)
		if err != nil {
			return "", err
		}
		if len(found) > 0 && !slices.ContainsFunc(found, isUninitialized) {
			return count(len(found), "node"), nil
		}
		if err := sleep(ctx, interval); err != nil {
			return "", err
		}
	}
}

// isUninitialized reports whether no cloud-controller-manager has initialized a node. An initialized one has more addresses than its name.
func isUninitialized(node corev1.Node) bool {
	return slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool { return taint.Key == uninitialized }) ||
		!slices.ContainsFunc(node.Status.Addresses, func(address corev1.NodeAddress) bool { return address.Type == corev1.NodeInternalIP })
}

// nodeLine describes what a cloud-controller-manager has set on a node.
func nodeLine(found *corev1.Node) string {
	parts := []string{found.Spec.ProviderID}
	for _, address := range found.Status.Addresses {
		if address.Type == corev1.NodeInternalIP {
			parts = append(parts, address.Address)
		}
	}
	parts = append(parts, "zone "+found.Labels[corev1.LabelTopologyZone], found.Labels[corev1.LabelInstanceTypeStable])
	return strings.Join(parts, ", ")
}
