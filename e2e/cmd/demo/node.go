package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/e2e/internal/process"
	"github.com/trellis-garden/trellis/e2e/internal/workload"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/conformance"
)

const (
	// uninitialized is the taint of a node that no cloud-controller-manager has seen (k8s.io/cloud-provider/api).
	uninitialized = "node.cloudprovider.kubernetes.io/uninitialized"
	// nodeTimeout bounds what the cloud-controller-manager does.
	nodeTimeout = 2 * time.Minute

	// podsOfNode is the range of the node's pods, which kube-controller-manager would choose.
	podsOfNode = "100.96.0.0/24"

	ccmDeployment = "cloud-controller-manager"
	ccmProgram    = "openstack-cloud-controller-manager"
)

// node is a node of the shoot, and the server that it is in the cloud.
type node struct{ name, server string }

// initializeNode runs the one container that can be run here as its Deployment says, and lets it meet a node.
func (d *demo) initializeNode(ctx context.Context) error {
	d.screen.Heading("Is it good for anything? The cloud-controller-manager, run as its Deployment says, meets a node")
	ctx, cancel := context.WithTimeout(ctx, nodeTimeout)
	defer cancel()
	if err := d.screen.Step("process", func(io.Writer) (string, error) { return d.startContainer(ctx) }); err != nil {
		return err
	}
	if err := d.screen.Step("node", func(io.Writer) (string, error) { return d.addNode(ctx) }); err != nil {
		return err
	}
	if err := d.screen.Step("initialized", func(io.Writer) (string, error) { return d.awaitInitialized(ctx) }); err != nil {
		return err
	}
	return d.screen.Step("ready", func(io.Writer) (string, error) { return d.awaitReady(ctx) })
}

// awaitReady lets the kubelet speak when Calico's pod is on the node, as a real one does.
func (d *demo) awaitReady(ctx context.Context) (string, error) {
	daemonSet := &appsv1.DaemonSet{}
	for daemonSet.Status.NumberReady == 0 {
		if err := d.Cluster.Client.Get(ctx, client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: calicoNode}, daemonSet); err != nil {
			return "", err
		}
		if err := sleep(ctx, glance); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("DaemonSet %s is on %d of %d nodes", calicoNode, daemonSet.Status.NumberReady, daemonSet.Status.DesiredNumberScheduled),
		d.Cluster.Kubelets().Say(ctx, d.node.name, corev1.NodeReady, corev1.ConditionTrue, "KubeletReady")
}

// startContainer gives the process an address of its own, as a pod has one, and shorter intervals than it has in a seed.
func (d *demo) startContainer(ctx context.Context) (_ string, err error) {
	if d.containerAddress, err = process.FreeAddress(); err != nil {
		return "", err
	}
	host, port, _ := strings.Cut(d.containerAddress, ":")
	d.container, err = workload.RunContainer(ctx, d.Seed.Client, workload.Run{
		Namespace: d.shoot.Namespace(), Deployment: ccmDeployment, Container: ccmProgram,
		Program: filepath.Join(d.Programs, ccmProgram),
		Flags: map[string]string{
			"bind-address": host, "secure-port": port, "node-monitor-period": "1s", "route-reconciliation-period": "1s",
			// The next process need not wait long for the one before, which cannot say that it has ended.
			"leader-elect-lease-duration": "3s", "leader-elect-renew-deadline": "2s", "leader-elect-retry-period": "500ms",
		},
		Dir: filepath.Join(d.Dir, ccmDeployment),
	})
	if err != nil {
		return "", err
	}
	return d.awaitContainer(ctx)
}

// restartContainer does what the Deployment's new pod does.
func (d *demo) restartContainer(ctx context.Context) (string, error) {
	if err := d.container.Restart(ctx); err != nil {
		return "", err
	}
	return d.awaitContainer(ctx)
}

func (d *demo) awaitContainer(ctx context.Context) (string, error) {
	return fmt.Sprintf("%s, pid %d", ccmProgram, d.container.PID()), d.container.WaitForTLS(ctx, "https://"+d.containerAddress+"/healthz")
}

func (d *demo) stopContainer() {
	if d.container != nil {
		d.container.Stop()
		d.container = nil
	}
}

// addNode makes a server, as a machine controller would, and the node that its kubelet would register.
func (d *demo) addNode(ctx context.Context) (string, error) {
	infrastructure, err := d.Gardenlet.Get(ctx, d.shoot)
	if err != nil {
		return "", err
	}
	status, err := openstackv1alpha1.DecodeInfrastructureStatus(infrastructure.Status.ProviderStatus)
	if err != nil {
		return "", err
	}
	d.node.name = d.shoot.Namespace() + "-pool-1"
	if d.node.server, err = d.createServer(ctx, d.node.name, status.Networks.ID); err != nil {
		return "", err
	}
	return d.node.name + ": a server in the cloud, a bare Node in the shoot", d.Cluster.Client.Create(ctx, &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: d.node.name, Labels: map[string]string{corev1.LabelHostname: d.node.name, corev1.LabelOSStable: "linux"},
		},
		Spec: corev1.NodeSpec{
			Taints:  []corev1.Taint{{Key: uninitialized, Value: "true", Effect: corev1.TaintEffectNoSchedule}},
			PodCIDR: podsOfNode, PodCIDRs: []string{podsOfNode},
		},
	})
}

func (d *demo) createServer(ctx context.Context, name, network string) (string, error) {
	flavor, err := d.pick(ctx, conformance.Compute, "/v2.1/flavors", "flavors", "m1.small")
	if err != nil {
		return "", err
	}
	image, err := d.pick(ctx, conformance.Image, "/v2/images", "images", "tiny")
	if err != nil {
		return "", err
	}
	answer, err := d.Place.Account.AsMember(ctx, http.MethodPost, conformance.Compute, "/v2.1/servers", conformance.Body{"server": conformance.Body{
		"name": name, "networks": []conformance.Body{{"uuid": network}}, "flavorRef": flavor, "imageRef": image,
	}})
	if err != nil {
		return "", err
	}
	return answer.Text("server.id"), nil
}

// pick returns the ID of the thing with a name.
func (d *demo) pick(ctx context.Context, service conformance.Service, path, kind, name string) (string, error) {
	answer, err := d.Place.Account.AsMember(ctx, http.MethodGet, service, path, nil)
	if err != nil {
		return "", err
	}
	for _, object := range answer.Objects(kind) {
		if object.Text("name") == name {
			return object.ID(), nil
		}
	}
	return "", fmt.Errorf("none of the %s is called %q", kind, name)
}

func (d *demo) awaitInitialized(ctx context.Context) (string, error) {
	found := &corev1.Node{}
	for {
		if err := d.Cluster.Client.Get(ctx, client.ObjectKey{Name: d.node.name}, found); err != nil {
			return "", err
		}
		tainted := slices.ContainsFunc(found.Spec.Taints, func(taint corev1.Taint) bool { return taint.Key == uninitialized })
		if !tainted && len(found.Status.Addresses) > 0 {
			return nodeLine(found), nil
		}
		if err := sleep(ctx, glance); err != nil {
			return "", err
		}
	}
}

// nodeLine says what a cloud-controller-manager has found out about a node.
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

// removeNode lets the server go, and waits until the cloud-controller-manager has noticed.
func (d *demo) removeNode(ctx context.Context) error {
	d.screen.Heading("The machine goes")
	ctx, cancel := context.WithTimeout(ctx, nodeTimeout)
	defer cancel()
	return d.screen.Step("node", func(io.Writer) (string, error) {
		// Only a node whose kubelet is silent is looked after.
		if err := d.Cluster.Kubelets().Say(ctx, d.node.name, corev1.NodeReady, corev1.ConditionUnknown, "NodeStatusUnknown"); err != nil {
			return "", err
		}
		_, err := d.Place.Account.AsMember(ctx, http.MethodDelete, conformance.Compute, "/v2.1/servers/"+d.node.server, nil)
		if err != nil {
			return "", err
		}
		for {
			err := d.Cluster.Client.Get(ctx, client.ObjectKey{Name: d.node.name}, &corev1.Node{})
			if err != nil {
				d.stopContainer()
				return d.node.name + ": its server is gone, so the cloud-controller-manager has removed it", client.IgnoreNotFound(err)
			}
			if err := sleep(ctx, glance); err != nil {
				return "", err
			}
		}
	})
}
