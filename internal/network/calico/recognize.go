package calico

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	calicov1alpha1 "github.com/trellis-garden/trellis/apis/calico/v1alpha1"
)

// recognize derives the form of Calico from objects that another extension deployed, mainly upstream's. It returns nil where no node runs Calico. A
// feature that is not recognized counts as missing: a stage more than needed disconnects no pods.
func recognize(objects []*unstructured.Unstructured) (*form, error) {
	found, err := findUpstream(objects)
	if err != nil || found.node == nil {
		return nil, err
	}
	env := found.environment()
	recognized := &form{
		IPAM:      calicov1alpha1.IPAMCalico,
		Backend:   found.settings["calico_backend"],
		IPv4:      found.pools[poolIPv4],
		IPv6:      found.pools[poolIPv6],
		Typha:     found.typha,
		BPF:       env["FELIX_BPFENABLED"] == "true",
		NFTables:  env["FELIX_NFTABLESMODE"] == "Enabled",
		WireGuard: env["FELIX_WIREGUARDENABLED"] == "true" || env["FELIX_WIREGUARDENABLEDV6"] == "true",
		// Upstream's container has the name of ours.
		UpstreamDNS: found.hasContainer(containerUpstreamDNS),
	}
	if env["USE_POD_CIDR"] == "true" {
		recognized.IPAM = calicov1alpha1.IPAMHostLocal
	}
	if recognized.Backend == "" {
		recognized.Backend = backendBird
	}
	service := found.settings["typha_service_name"]
	recognized.NodesUseTypha = found.typha && service != "" && service != "none"
	if recognized.IPv4 == nil && env["IP"] != "" && env["IP"] != "none" {
		recognized.IPv4 = ownPool(env)
	}
	// Upstream has no switch for VXLAN; tunnels come and go with the pools there.
	needed := recognized.requiredFeatures()
	recognized.IPIP, recognized.VXLAN = needed.ipip, needed.vxlan
	recognized.UpstreamIPIP = needed.ipip
	return recognized, nil
}

// ownPool is the pool that calico-node has created by itself, where upstream rendered none because the user did not set overlay.enabled.
func ownPool(env map[string]string) *encapsulation {
	return &encapsulation{IPIP: modeOrNever(env["CALICO_IPV4POOL_IPIP"]), VXLAN: modeOrNever(env["CALICO_IPV4POOL_VXLAN"])}
}

func modeOrNever(mode string) string {
	if mode == "" || mode == string(calicov1alpha1.PoolModeOff) {
		return never
	}
	return mode
}

// upstream holds the objects that show how Calico was deployed.
type upstream struct {
	node *appsv1.DaemonSet
	// settings are those of ConfigMap calico-config.
	settings map[string]string
	typha    bool
	pools    map[string]*encapsulation
}

func findUpstream(objects []*unstructured.Unstructured) (*upstream, error) {
	found := &upstream{pools: map[string]*encapsulation{}}
	for _, object := range objects {
		if err := found.read(object); err != nil {
			return nil, fmt.Errorf("reading %s %s, which is deployed: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return found, nil
}

func (u *upstream) read(object *unstructured.Unstructured) error {
	name := object.GetName()
	switch object.GetKind() {
	case "DaemonSet":
		if name == "calico-node" {
			u.node = &appsv1.DaemonSet{}
			return runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, u.node)
		}
	case "ConfigMap":
		if name == "calico-config" {
			config := &corev1.ConfigMap{}
			err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, config)
			u.settings = config.Data
			return err
		}
	case "Deployment":
		u.typha = u.typha || name == "calico-typha-deploy"
	case "IPPool":
		ipip, _, _ := unstructured.NestedString(object.Object, "spec", "ipipMode")
		vxlan, _, _ := unstructured.NestedString(object.Object, "spec", "vxlanMode")
		u.pools[name] = &encapsulation{IPIP: modeOrNever(ipip), VXLAN: modeOrNever(vxlan)}
	}
	return nil
}

func (u *upstream) hasContainer(container string) bool {
	return slices.ContainsFunc(u.node.Spec.Template.Spec.Containers, func(c corev1.Container) bool { return c.Name == container })
}

// environment returns that of calico-node. If a variable is listed twice, as in upstream's objects, the later value counts.
func (u *upstream) environment() map[string]string {
	env := map[string]string{}
	for _, container := range u.node.Spec.Template.Spec.Containers {
		if container.Name != "calico-node" {
			continue
		}
		for _, variable := range container.Env {
			env[variable.Name] = variable.Value
		}
	}
	return env
}
