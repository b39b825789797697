package calico

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	calicov1alpha1 "github.com/trellis-garden/trellis/apis/calico/v1alpha1"
)

// envOf is the environment of calico-node as the process will see it: with values from ConfigMaps.
func envOf(t *testing.T, change func(*settings)) map[string]string {
	t.Helper()
	objects := nodeOf(t, change)
	config := named[*corev1.ConfigMap](t, objects, "calico-config").Data
	env := map[string]string{}
	for _, variable := range containerOf(t, calicoNodeOf(t, change).Spec.Template.Spec.Containers, "calico-node").Env {
		require.NotContains(t, env, variable.Name, "given twice")
		switch source := variable.ValueFrom; {
		case source == nil:
			env[variable.Name] = variable.Value
		case source.ConfigMapKeyRef != nil:
			require.Equal(t, "calico-config", source.ConfigMapKeyRef.Name)
			value, ok := config[source.ConfigMapKeyRef.Key]
			require.True(t, ok, source.ConfigMapKeyRef.Key)
			env[variable.Name] = value
		default:
			require.NotNil(t, source.FieldRef, variable.Name)
			env[variable.Name] = source.FieldRef.FieldPath
		}
	}
	return env
}

func TestNodeEnv(t *testing.T) {
	for sentence, test := range map[string]struct {
		change func(*settings)
		want   map[string]string
		absent []string
	}{
		"an ordinary node": {nil, map[string]string{
			"DATASTORE_TYPE": "kubernetes", "WAIT_FOR_DATASTORE": "true", "NODENAME": "spec.nodeName", "CALICO_MANAGE_CNI": "true",
			"CALICO_NETWORKING_BACKEND": "bird", "USE_POD_CIDR": "true", "FELIX_TYPHAK8SSERVICENAME": "calico-typha",
			"IP": "autodetect", "IP_AUTODETECTION_METHOD": "cidr=10.250.0.0/16",
			"FELIX_IPINIPENABLED": "true", "FELIX_BPFENABLED": "false", "FELIX_IPV6SUPPORT": "false",
			"FELIX_PROMETHEUSMETRICSENABLED": "true", "FELIX_PROMETHEUSMETRICSPORT": "9091",
		}, []string{
			"IP6", "CALICO_ROUTER_ID", "FELIX_CHAININSERTMODE", "FELIX_BPFDATAIFACEPATTERN", "FELIX_BPFKUBEPROXYHEALTHZPORT",
			// What nobody asked for a FelixConfiguration of users may say.
			"FELIX_VXLANENABLED", "FELIX_NFTABLESMODE", "FELIX_WIREGUARDENABLED", "FELIX_WIREGUARDENABLEDV6", "FELIX_SERVICELOOPPREVENTION",
		}},
		"nodes that do not use Typha, while it is there": {
			func(s *settings) { s.form.NodesUseTypha = false }, map[string]string{"FELIX_TYPHAK8SSERVICENAME": "none"}, nil,
		},
		"VXLAN": {withVXLAN, map[string]string{
			"CALICO_NETWORKING_BACKEND": "vxlan", "FELIX_IPINIPENABLED": "false", "FELIX_VXLANENABLED": "true",
		}, []string{"USE_POD_CIDR"}},
		"nodes with both tunnels, on their way from one to the other": {
			func(s *settings) { s.form.VXLAN = true }, map[string]string{"FELIX_IPINIPENABLED": "true", "FELIX_VXLANENABLED": "true"}, nil,
		},
		"the cloud routes": {withNativeRouting, map[string]string{
			"CALICO_NETWORKING_BACKEND": "none", "FELIX_IPINIPENABLED": "false", "FELIX_CHAININSERTMODE": "Append",
		}, []string{"FELIX_VXLANENABLED"}},
		"two families": {all(withNativeRouting, withIPv6), map[string]string{
			"IP": "autodetect", "IP6": "autodetect", "IP6_AUTODETECTION_METHOD": "cidr=2001:db8:2::/64", "FELIX_IPV6SUPPORT": "true",
		}, []string{"CALICO_ROUTER_ID"}},
		"IPv6 alone": {all(withNativeRouting, withoutIPv4), map[string]string{
			"IP": "none", "IP6": "autodetect", "CALICO_ROUTER_ID": "hash", "FELIX_IPV6SUPPORT": "true",
		}, []string{"IP_AUTODETECTION_METHOD"}},
		"encryption": {withEncryption, map[string]string{"FELIX_WIREGUARDENABLED": "true"}, []string{"FELIX_WIREGUARDENABLEDV6"}},
		"encryption of IPv6 alone": {
			all(withNativeRouting, withoutIPv4, withEncryption), map[string]string{"FELIX_WIREGUARDENABLEDV6": "true"}, []string{"FELIX_WIREGUARDENABLED"},
		},
		"nftables": {
			func(s *settings) {
				s.kubeProxyMode, s.form.NFTables = gardencorev1beta1.ProxyModeNFTables, true
			},
			map[string]string{"FELIX_NFTABLESMODE": "Enabled"},
			nil,
		},
		"eBPF beside kube-proxy keeps off its rules and its port": {withBPF, map[string]string{
			"FELIX_BPFENABLED": "true", "FELIX_BPFKUBEPROXYIPTABLESCLEANUPENABLED": "false", "FELIX_BPFKUBEPROXYHEALTHZPORT": "10257",
		}, []string{"FELIX_BPFDATAIFACEPATTERN"}},
		"eBPF where it does not find the interfaces": {
			all(withBPF, func(s *settings) { s.infrastructure.BPFDataInterfaces = "^eth.*$" }),
			map[string]string{"FELIX_BPFDATAIFACEPATTERN": "^eth.*$"},
			nil,
		},
		"no eBPF where it would not find the interfaces": {
			func(s *settings) { s.infrastructure.BPFDataInterfaces = "^eth.*$" }, nil, []string{"FELIX_BPFDATAIFACEPATTERN"},
		},
		"service loops": {
			func(s *settings) {
				s.config.ServiceLoopPrevention = new(calicov1alpha1.ServiceLoopPreventionReject)
			},
			map[string]string{"FELIX_SERVICELOOPPREVENTION": "Reject"},
			nil,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			env := envOf(t, test.change)
			for name, value := range test.want {
				assert.Equal(t, value, env[name], name)
			}
			for _, name := range test.absent {
				assert.NotContains(t, env, name)
			}
		})
	}
}

// networking-calico PR #546: calico-node made a pool of its own, and BIRD routes to nowhere. Pools are objects here; calico-node ends
// if it is to make none and is given a range for one nevertheless.
func TestNodeEnv_NoPools(t *testing.T) {
	for _, change := range []func(*settings){nil, withNativeRouting, withVXLAN, all(withNativeRouting, withIPv6), all(withNativeRouting, withoutIPv4)} {
		env := envOf(t, change)
		assert.Equal(t, "true", env["NO_DEFAULT_POOLS"])
		for name := range env {
			assert.NotRegexp(t, "^CALICO_IPV[46]POOL_", name)
		}
	}
}

// networking-calico #285: without routes of the cloud, nodes have to tell each other the way to their pods.
func TestNodeEnv_PodRoutes(t *testing.T) {
	env := envOf(t, withPodRoutes)
	assert.Equal(t, "bird", env["CALICO_NETWORKING_BACKEND"])
	assert.Equal(t, "false", env["FELIX_IPINIPENABLED"])
}

// networking-calico #918: Gardener gives kube-proxy a mode where there is no kube-proxy, and eBPF did not work any more.
func TestNodeEnv_WithoutKubeProxy(t *testing.T) {
	wanted := envOf(t, withBPFInsteadOfKubeProxy)
	assert.Equal(t, "true", wanted["FELIX_BPFENABLED"])
	assert.Equal(t, "true", wanted["FELIX_BPFKUBEPROXYIPTABLESCLEANUPENABLED"])
	assert.NotContains(t, wanted, "FELIX_BPFKUBEPROXYHEALTHZPORT", "nobody else has kube-proxy's port")
	for _, mode := range []gardencorev1beta1.ProxyMode{gardencorev1beta1.ProxyModeIPVS, gardencorev1beta1.ProxyModeNFTables, ""} {
		assert.Equal(t, wanted, envOf(t, all(withBPFInsteadOfKubeProxy, func(s *settings) { s.kubeProxyMode = mode })))
	}
}

// An MTU that holds for pods but not for a tunnel, of whichever family, lets big packets vanish.
func TestNodeEnv_MTU(t *testing.T) {
	change := all(withIPv6, func(s *settings) { s.config.VethMTU = new("1400") })
	env := envOf(t, change)
	for _, name := range []string{"FELIX_IPINIPMTU", "FELIX_VXLANMTU", "FELIX_VXLANMTUV6", "FELIX_WIREGUARDMTU", "FELIX_WIREGUARDMTUV6"} {
		assert.Equal(t, "1400", env[name], name)
	}
	for _, variable := range containerOf(t, calicoNodeOf(t, change).Spec.Template.Spec.InitContainers, "install-cni").Env {
		if variable.Name == "CNI_MTU" {
			assert.Equal(t, "veth_mtu", variable.ValueFrom.ConfigMapKeyRef.Key)
			return
		}
	}
	t.Fatal("the installer of the CNI plugin is told no MTU")
}

// Felix leaves programs of its eBPF data plane attached if it cannot find them: they would go on routing to Services as they were.
func TestNodeEnv_EBPFCleanup(t *testing.T) {
	mounts := containerOf(t, calicoNodeOf(t, nil).Spec.Template.Spec.Containers, "calico-node").VolumeMounts
	assert.Contains(t, mounts, corev1.VolumeMount{Name: "bpffs", MountPath: "/sys/fs/bpf"})
}
