package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/e2e/internal/workload"
)

// openStackDemo is the demo in OpenStack: of all contracts.
type openStackDemo struct {
	*demo
	cloud   *openstack.Cloud
	account *openstack.Account

	// before is the content of the shoot's namespace before the ControlPlane was created.
	before inventory
	// applied are the objects of the ControlPlane's ManagedResources in the shoot.
	applied []resourcesv1alpha1.ObjectReference
	// machines are those of machines.
	machines machineInventory
	// container is the container that initializes nodes.
	container *workload.Container
	// containerAddress is its address.
	containerAddress string
}

func newOpenStackDemo(d *demo) cloudDemo {
	on := openstack.In(d.Clusters)
	return &openStackDemo{demo: d, cloud: on.Cloud, account: on.Account}
}

func (d *openStackDemo) newShoot() (*gardenlet.Shoot, error) {
	shoot := d.account.NewShoot("demo")
	config := &openstackv1alpha1.ControlPlaneConfig{LoadBalancerProvider: "amphora"}
	config.APIVersion, config.Kind = openstackv1alpha1.GroupVersion().String(), "ControlPlaneConfig"
	shoot.ControlPlaneConfig = config
	d.account.OfferMachines(shoot)
	var err error
	shoot.Workers, err = newPools()
	return shoot, err
}

func (d *openStackDemo) draw() ([]string, error) { return openstack.Draw(d.cloud.Fake.State("")), nil }

func (d *openStackDemo) steps() (steps, cleanUp []step) {
	steps = []step{
		d.complete, d.startCluster, d.createControlPlane, d.reconcileControlPlane,
		d.createNetwork, d.reconcileNetwork,
		d.prepareMachines, d.createWorker, d.reconcileWorker, d.scalePool,
		d.initializeNodes, d.changeShoot, d.waitHealthy,
	}
	return steps, []step{d.deleteNetworkAndWorker, d.deleteControlPlane, d.stopCluster}
}

// complete starts what was built while the Infrastructure was shown: all that the other contracts need.
func (d *openStackDemo) complete(ctx context.Context) error {
	d.screen.Heading("The controllers of ControlPlane, Network and Worker start")
	if err := d.Complete(ctx); err != nil {
		return err
	}
	return d.screen.Step("shoot", func(io.Writer) (string, error) {
		if err := d.Source.Gardenlet.Prepare(ctx, d.shoot); err != nil {
			return "", err
		}
		return d.addedCredentials(ctx)
	})
}

// addedCredentials describes what gardenlet did not write into the Secret cloudprovider: controlplane-controller's webhook adds the cloud's
// addresses from the cloud profile.
func (d *openStackDemo) addedCredentials(ctx context.Context) (string, error) {
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: d.shoot.Namespace(), Name: v1beta1constants.SecretNameCloudProvider}
	if err := d.Source.Client.Get(ctx, key, secret); err != nil {
		return "", err
	}
	var added []string
	for name := range secret.Data {
		if d.shoot.Credentials[name] == nil {
			added = append(added, name)
		}
	}
	if len(added) == 0 {
		return "", errors.New("no webhook has completed the Secret cloudprovider")
	}
	slices.Sort(added)
	return "Secret cloudprovider, to which a webhook has added " + strings.Join(added, ", "), nil
}

func (d *openStackDemo) commands() []commands {
	of := "kubectl -n " + d.shoot.Namespace()
	return []commands{
		{"in the seed", []string{
			"export KUBECONFIG=" + d.Source.Kubeconfig,
			"kubectl get infrastructures,controlplanes,networks,workers -A",
			of + " get managedresources,deployments,pods,secrets",
			of + " get machinedeployments,machines,machineclasses",
			of + " delete $(" + of + " get machines -o name | head -n 1)   # another one comes",
			of + " get controlplane " + d.shoot.Name + " -o yaml",
			of + " annotate controlplane " + d.shoot.Name + " gardener.cloud/operation=reconcile",
			of + " delete deployment csi-driver-controller   # it comes back",
			of + " get network " + d.shoot.Name + " -o jsonpath='{.status.providerStatus.effective}'",
		}},
		{"in the shoot", []string{
			"export KUBECONFIG=" + d.Cluster.Kubeconfig,
			"kubectl get nodes,storageclasses,csidrivers",
			"kubectl get ippools && kubectl -n kube-system get daemonsets,deployments,pods",
			"kubectl auth can-i --list --as=system:serviceaccount:kube-system:cloud-controller-manager",
		}},
		{"behind the scenes", []string{
			"curl -s " + d.ControlPlane.MetricsURL + " | grep trellis_",
			fmt.Sprintf("tail -f %s %s %s %s", d.Infrastructure.Log, d.ControlPlane.Log, d.Network.Log, d.Worker.Log),
			"tail -f " + strings.Join(d.Source.Machines.Outputs(), " "),
		}},
	}
}
