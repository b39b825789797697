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
	return d.screen.Step("initialized", func(io.Writer) (string, error) { return d.awaitInitialized(ctx) })
}

// startContainer gives the process an address of its own, as a pod has one, and a sharper eye on servers that are gone.
func (d *demo) startContainer(ctx context.Context) (string, error) {
	address, err := process.FreeAddress()
	if err != nil {
		return "", err
	}
	host, port, _ := strings.Cut(address, ":")
	d.container, err = workload.RunContainer(ctx, d.Seed.Client, workload.Run{
		Namespace: d.shoot.Namespace(), Deployment: ccmDeployment, Container: ccmProgram,
		Program: filepath.Join(d.Programs, ccmProgram),
		Flags:   map[string]string{"bind-address": host, "secure-port": port, "node-monitor-period": "1s"},
		Dir:     filepath.Join(d.Dir, ccmDeployment),
	})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s, pid %d", ccmProgram, d.container.PID()), d.container.WaitForTLS(ctx, "https://"+address+"/healthz")
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
		ObjectMeta: metav1.ObjectMeta{Name: d.node.name},
		Spec:       corev1.NodeSpec{Taints: []corev1.Taint{{Key: uninitialized, Value: "true", Effect: corev1.TaintEffectNoSchedule}}},
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
	d.screen.Heading("The machine goes first")
	ctx, cancel := context.WithTimeout(ctx, nodeTimeout)
	defer cancel()
	return d.screen.Step("node", func(io.Writer) (string, error) {
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
