package csi

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/internal/controlplane/component"
)

// standardSidecar is a sidecar as it is for every driver.
type standardSidecar struct {
	// name is the container's, without prefix; image is that in the image vector.
	name, image string
	memory      string
	args        []string
	// rules are its rights in the shoot: those of its own rbac.yaml without those for what is not switched on. None needs
	// Secrets: a driver that needs them grants them one by one.
	rules []rbacv1.PolicyRule
	// use is how the driver uses it; nil when it does not.
	use *Sidecar
}

// standardSidecars returns the sidecars that the driver uses, in the order in which they stand in the pod.
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
			// Without this it would watch all pods of the shoot, only to keep away from volumes in use. Whoever cannot resize
			// those says so when asked.
			args: []string{"--handle-volume-inuse-error=false"},
		},
	}
	return slices.DeleteFunc(all, func(s standardSidecar) bool { return s.use == nil })
}

func (c Controller) sidecars() []component.Container {
	var containers []component.Container
	for _, sidecar := range c.standardSidecars() {
		containers = append(containers, withSocket(component.Container{
			Name:        c.ContainerPrefix + sidecar.name,
			Image:       sidecar.image,
			Args:        slices.Concat([]string{"--csi-address=" + socketPath, "--timeout=3m"}, shootClientFlags(), sidecar.args, sidecar.use.Args, []string{"--v=3"}),
			Requests:    requests(sidecar.memory),
			ShootAccess: sidecar.use.ShootAccess,
		}))
	}
	return containers
}

// shootClientFlags returns the flags of whoever works in the shoot from the seed. Leases are in the shoot too, so that two pods cannot
// both work when they reach different API servers. The pace is that of a shoot whose volumes all move at once.
func shootClientFlags() []string {
	return []string{
		"--kubeconfig=" + component.KubeconfigPath,
		"--leader-election=true",
		"--leader-election-namespace=" + metav1.NamespaceSystem,
		"--kube-api-qps=100",
		"--kube-api-burst=200",
	}
}
