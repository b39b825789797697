package controller

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/trellis-garden/trellis/charts"
	"github.com/trellis-garden/trellis/e2e/internal/process"
)

// Admission is the binary that validates users' objects in the garden. It is no controller: it uses two clusters and has no objects of its own.
func Admission() Binary {
	return Binary{Name: "admission", Types: []string{"openstack", "aws", "calico", "gardenet", "registrations"}}
}

// AdmissionOptions configure it.
type AdmissionOptions struct {
	// Path is the path of the binary, Output a file for its logs.
	Path, Output string
	// Runtime and Garden are the kubeconfigs of the cluster in which it would be a pod, and of the garden.
	Runtime, Garden string
	// Namespace is its namespace in the runtime cluster, OwnerNamespace the namespace in the garden that owns its webhook configurations.
	Namespace, OwnerNamespace string
	// Address is the address for the API servers, Listen the listen address; default Address.
	Address, Listen string
	// LeaderElection enables leader election.
	LeaderElection bool
	// Args are appended to the command line.
	Args []string
}

// StartAdmission starts the binary and waits until it is ready. Its webhooks are registered a moment later.
func (b Binary) StartAdmission(ctx context.Context, options AdmissionOptions) (*Controller, error) {
	health, err := process.FreeAddress()
	if err != nil {
		return nil, err
	}
	metrics, err := process.FreeAddress()
	if err != nil {
		return nil, err
	}
	p, err := process.Start(options.Path, options.args(b.Types, health, metrics), nil, options.Output)
	if err != nil {
		return nil, err
	}
	if err := p.WaitForOK(ctx, "http://"+health+"/readyz"); err != nil {
		p.Kill()
		return nil, fmt.Errorf("starting %s: %w", b.Name, err)
	}
	return &Controller{Process: p, MetricsURL: "http://" + metrics + "/metrics"}, nil
}

func (o AdmissionOptions) args(types []string, health, metrics string) []string {
	host, port, _ := strings.Cut(cmp.Or(o.Listen, o.Address), ":")
	return slices.Concat([]string{
		"--types=" + strings.Join(types, ","),
		"--kubeconfig=" + o.Runtime,
		"--garden-kubeconfig=" + o.Garden,
		"--webhook-config-mode=url",
		"--webhook-config-url=" + o.Address,
		"--webhook-config-server-host=" + host,
		"--webhook-config-server-port=" + port,
		"--webhook-config-namespace=" + o.Namespace,
		"--webhook-config-owner-namespace=" + o.OwnerNamespace,
		"--leader-election=" + strconv.FormatBool(o.LeaderElection),
		"--leader-election-namespace=" + o.Namespace,
		"--health-bind-address=" + health,
		"--metrics-bind-address=" + metrics,
		"--log-level=debug",
		"--log-format=text",
	}, o.Args)
}

// AdmissionRights returns the binary's rights from its charts: RBAC objects and their ServiceAccounts in the runtime cluster and in the garden. The
// release in the garden has the namespace that owns the webhook configurations.
func AdmissionRights(namespace, ownerNamespace string) (runtime, garden []*unstructured.Unstructured, err error) {
	b := Admission()
	if runtime, err = rightsIn(charts.AdmissionRuntime, charts.Release{Name: b.Name, Namespace: namespace}, b.Types); err != nil {
		return nil, nil, err
	}
	garden, err = rightsIn(charts.AdmissionApplication, charts.Release{Name: b.Name, Namespace: ownerNamespace}, b.Types)
	return runtime, garden, err
}

func rightsIn(chart string, release charts.Release, types []string) ([]*unstructured.Unstructured, error) {
	archive, err := charts.Archive(chart, "v0.0.0")
	if err != nil {
		return nil, fmt.Errorf("packing chart %s: %w", chart, err)
	}
	objects, err := charts.Render(archive, release, map[string]any{"types": types})
	if err != nil {
		return nil, fmt.Errorf("rendering chart %s: %w", chart, err)
	}
	return slices.DeleteFunc(objects, func(object *unstructured.Unstructured) bool {
		return object.GroupVersionKind().Group != rbacv1.GroupName && object.GetKind() != "ServiceAccount"
	}), nil
}
