package calico

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"

	calicov1alpha1 "github.com/trellis-garden/trellis/apis/calico/v1alpha1"
)

const (
	// kubeProxyHealthPort is the port at which Felix in eBPF mode serves health checks in kube-proxy's place while kube-proxy uses its own port.
	kubeProxyHealthPort = "10257"
	// natPorts excludes the ports of NodePort Services from masquerading.
	natPorts = "32768:65535"
)

// nodeEnv returns the environment of calico-node: everything that the configuration decides. What is not set here users may set in FelixConfiguration;
// the environment takes precedence over it.
func (s *settings) nodeEnv() []corev1.EnvVar {
	env := []corev1.EnvVar{
		{Name: "DATASTORE_TYPE", Value: "kubernetes"},
		{Name: "WAIT_FOR_DATASTORE", Value: "true"},
		fromNode("NODENAME"),
		{Name: "CLUSTER_TYPE", Value: "k8s,bgp"},
		{Name: "CALICO_DISABLE_FILE_LOGGING", Value: "true"},
		{Name: "CALICO_MANAGE_CNI", Value: "true"},
		fromConfig("CALICO_NETWORKING_BACKEND", configBackend),
	}
	if s.form.IPAM == calicov1alpha1.IPAMHostLocal {
		env = append(env, corev1.EnvVar{Name: "USE_POD_CIDR", Value: "true"})
	}
	env = append(env, s.addressEnv()...)
	return append(env, s.felixEnv()...)
}

// addressEnv configures how a node detects its addresses. Pools are objects, so calico-node creates none.
func (s *settings) addressEnv() []corev1.EnvVar {
	env := []corev1.EnvVar{{Name: "NO_DEFAULT_POOLS", Value: "true"}}
	if s.ipv4 {
		env = append(env, corev1.EnvVar{Name: "IP", Value: "autodetect"},
			corev1.EnvVar{Name: "IP_AUTODETECTION_METHOD", Value: *s.config.IPv4.AutoDetectionMethod})
	} else {
		env = append(env, corev1.EnvVar{Name: "IP", Value: "none"})
	}
	if !s.ipv6 {
		return env
	}
	env = append(env, corev1.EnvVar{Name: "IP6", Value: "autodetect"},
		corev1.EnvVar{Name: "IP6_AUTODETECTION_METHOD", Value: *s.config.IPv6.AutoDetectionMethod})
	if !s.ipv4 {
		// BGP needs an identifier in the form of an IPv4 address.
		env = append(env, corev1.EnvVar{Name: "CALICO_ROUTER_ID", Value: "hash"})
	}
	return env
}

// felixEnv returns the environment of Felix.
func (s *settings) felixEnv() []corev1.EnvVar {
	env := []corev1.EnvVar{
		fromConfig("FELIX_TYPHAK8SSERVICENAME", configTypha),
		{Name: "FELIX_HEALTHENABLED", Value: "true"},
		{Name: "FELIX_PROMETHEUSMETRICSENABLED", Value: "true"},
		{Name: "FELIX_PROMETHEUSMETRICSPORT", Value: strconv.Itoa(felixMetricsPort)},
		// Pods may connect to their node; what may reach the node itself is not configured here.
		{Name: "FELIX_DEFAULTENDPOINTTOHOSTACTION", Value: "ACCEPT"},
		{Name: "FELIX_NATPORTRANGE", Value: natPorts},
		{Name: "FELIX_IPV6SUPPORT", Value: strconv.FormatBool(s.ipv6)},
		{Name: "FELIX_IPINIPENABLED", Value: strconv.FormatBool(s.form.IPIP)},
		fromConfig("FELIX_IPINIPMTU", configMTU),
		fromConfig("FELIX_VXLANMTU", configMTU),
		fromConfig("FELIX_VXLANMTUV6", configMTU),
		fromConfig("FELIX_WIREGUARDMTU", configMTU),
		fromConfig("FELIX_WIREGUARDMTUV6", configMTU),
		{Name: "FELIX_BPFENABLED", Value: strconv.FormatBool(s.form.BPF)},
	}
	env = append(env, s.optionalEnv()...)
	if s.form.BPF {
		env = append(env, s.bpfEnv()...)
	}
	return env
}

// optionalEnv returns variables that are set only on request: otherwise users may set them in a FelixConfiguration, over which the environment would
// take precedence. Felix itself detects whether there are VXLAN pools.
func (s *settings) optionalEnv() []corev1.EnvVar {
	var env []corev1.EnvVar
	add := func(enabled bool, name, value string) {
		if enabled {
			env = append(env, corev1.EnvVar{Name: name, Value: value})
		}
	}
	loops := *s.config.ServiceLoopPrevention
	add(s.form.VXLAN, "FELIX_VXLANENABLED", "true")
	add(s.form.WireGuard && s.ipv4, "FELIX_WIREGUARDENABLED", "true")
	add(s.form.WireGuard && s.ipv6, "FELIX_WIREGUARDENABLEDV6", "true")
	add(loops != calicov1alpha1.DefaultServiceLoopPrevention, "FELIX_SERVICELOOPPREVENTION", string(loops))
	add(s.form.NFTables, "FELIX_NFTABLESMODE", "Enabled")
	// The rules of the container that masquerades must come first.
	add(s.form.UpstreamDNS, "FELIX_CHAININSERTMODE", "Append")
	return env
}

// bpfEnv lets Felix replace kube-proxy, or not interfere with it.
func (s *settings) bpfEnv() []corev1.EnvVar {
	env := []corev1.EnvVar{{Name: "FELIX_BPFKUBEPROXYIPTABLESCLEANUPENABLED", Value: strconv.FormatBool(!s.kubeProxy)}}
	if s.kubeProxy {
		env = append(env, corev1.EnvVar{Name: "FELIX_BPFKUBEPROXYHEALTHZPORT", Value: kubeProxyHealthPort})
	}
	if pattern := s.infrastructure.BPFDataInterfaces; pattern != "" {
		env = append(env, corev1.EnvVar{Name: "FELIX_BPFDATAIFACEPATTERN", Value: pattern})
	}
	return env
}

func fromConfig(name, key string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: configName}, Key: key,
	}}}
}

func fromNode(name string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "spec.nodeName"}}}
}
