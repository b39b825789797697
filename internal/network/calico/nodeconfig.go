package calico

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// configName is the ConfigMap that calico-node, the installer of the CNI plugin and users of upstream's extension read.
	configName = "calico-config"
	// These are keys of the ConfigMap.
	configTypha   = "typha_service_name"
	configBackend = "calico_backend"
	configMTU     = "veth_mtu"
	configNetwork = "cni_network_config"

	// endpointName is the ConfigMap with the kube-apiserver's address, for nodes on which no Service leads there.
	endpointName = "kubernetes-services-endpoint"
	// noTypha is the value with which Felix uses no Typha.
	noTypha = "none"
)

func (s *settings) nodeConfig() (*corev1.ConfigMap, error) {
	network, err := s.cniConfiguration()
	if err != nil {
		return nil, err
	}
	typha := noTypha
	if s.form.NodesUseTypha {
		typha = typhaName
	}
	return configMap(configName, map[string]string{
		configTypha: typha, configBackend: s.form.Backend, configMTU: *s.config.VethMTU, configNetwork: network,
	}), nil
}

// nodeEndpoint returns the ConfigMap for an eBPF data plane without kube-proxy, which cannot reach a Service before it routes Services itself. It is nil
// in other cases.
func (s *settings) nodeEndpoint() *corev1.ConfigMap {
	if s.kubeProxy || !s.form.BPF || s.apiServerHost == "" {
		return nil
	}
	return configMap(endpointName, map[string]string{
		"KUBERNETES_SERVICE_HOST": s.apiServerHost, "KUBERNETES_SERVICE_PORT": strconv.Itoa(s.apiServerPort),
	})
}

func configMap(name string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: inKubeSystem(name), Data: data,
	}
}

// unquoted replaces a JSON string that holds a placeholder with the bare placeholder.
func unquoted(text, placeholder string) string {
	return strings.ReplaceAll(text, fmt.Sprintf("%q", placeholder), placeholder)
}
