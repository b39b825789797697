package csi

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/internal/controlplane/component"
)

// standardSidecar is a sidecar as all drivers use it.
type standardSidecar struct {
	// name is the container's, without prefix; image is its name in the image vector.
	name, image string
	memory      string
	args        []string
	// rules are its permissions in the shoot: those of its own rbac.yaml without those for disabled features. None needs Secrets: a driver that needs them grants
	// them one by one.
	rules []rbacv1.PolicyRule
	// use is the driver's configuration; nil if the driver does not use it.
	use *Sidecar
}

// standardSidecars returns the sidecars that the driver uses, in their order in the pod.
func (c Controller) standardSidecars() []standardSidecar {
	all := []standardSidecar{
		{
			name: "provisioner", image: "csi-provisioner", memory: "38Mi", use: c.Sidecars.Provisioner, rules: provisionerRules(),
		},
		{
			name: "attacher", image: "csi-attacher", memory: "36Mi", use: c.Sidecars.Attacher, rules: attacherRules(),
		},
		{
			name: "snapshotter", image: "csi-snapshotter", memory: "36Mi", use: c.Sidecars.Snapshotter, rules: snapshotterRules(),
		},
		{
			name: "resizer", image: "csi-resizer", memory: "32Mi", use: c.Sidecars.Resizer, rules: resizerRules(),
			// Otherwise it would watch all pods of the shoot, only to skip volumes in use. A driver that cannot resize those returns an error.
			args: []string{"--handle-volume-inuse-error=false"},
		},
	}
	return slices.DeleteFunc(all, func(s standardSidecar) bool { return s.use == nil })
}

func (c Controller) sidecars() []component.Container {
	var containers []component.Container
	for _, sidecar := range c.standardSidecars() {
		containers = append(containers, WithSocket(component.Container{
			Name:        c.ContainerPrefix + sidecar.name,
			Image:       sidecar.image,
			Args:        slices.Concat([]string{"--csi-address=" + socketPath, "--timeout=3m"}, shootClientFlags(), sidecar.args, sidecar.use.Args, []string{"--v=3"}),
			Requests:    requests(sidecar.memory),
			ShootAccess: sidecar.use.ShootAccess,
		}))
	}
	return containers
}

// shootClientFlags are the flags of clients of the shoot in the seed. Leases are in the shoot, too, so that two pods cannot both be active if they reach
// different API servers. The rate limits suffice for a shoot whose volumes all move at once.
func shootClientFlags() []string {
	return []string{
		"--kubeconfig=" + component.KubeconfigPath,
		"--leader-election=true",
		"--leader-election-namespace=" + metav1.NamespaceSystem,
		"--kube-api-qps=100",
		"--kube-api-burst=200",
	}
}
