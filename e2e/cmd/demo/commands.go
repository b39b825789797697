package main

import (
	"fmt"
	"strings"
)

// commands are commands about one subject.
type commands struct {
	title string
	lines []string
}

// contractCommands are the commands for all clouds.
func (d *demo) contractCommands() []commands {
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
