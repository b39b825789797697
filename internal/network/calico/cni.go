package calico

import (
	"encoding/json"
	"fmt"

	calicov1alpha1 "github.com/trellis-garden/trellis/apis/calico/v1alpha1"
)

const (
	// cniVersion is the oldest version that all container runtimes of existing shoots, and Multus, support.
	cniVersion = "0.3.1"
	// The installer replaces these.
	placeholderNode       = "__KUBERNETES_NODE_NAME__"
	placeholderKubeconfig = "__KUBECONFIG_FILEPATH__"
	placeholderMTU        = "__CNI_MTU__"
	// The CNI plugin replaces these with the ranges of its node.
	usePodCIDR4 = "usePodCidr"
	usePodCIDR6 = "usePodCidrIPv6"
)

// cniNetwork is the list of plugins that container runtimes call for every pod.
type cniNetwork struct {
	Name       string `json:"name"`
	CNIVersion string `json:"cniVersion"`
	Plugins    []any  `json:"plugins"`
}

type cniCalico struct {
	Type          string            `json:"type"`
	LogLevel      string            `json:"log_level"`
	LogFilePath   string            `json:"log_file_path"`
	DatastoreType string            `json:"datastore_type"`
	NodeName      string            `json:"nodename"`
	MTU           json.RawMessage   `json:"mtu"`
	IPAM          cniIPAM           `json:"ipam"`
	Policy        map[string]string `json:"policy"`
	Kubernetes    map[string]string `json:"kubernetes"`
}

// cniIPAM has the fields of host-local and those of calico-ipam, which reads booleans as strings.
type cniIPAM struct {
	Type       string         `json:"type"`
	Subnet     string         `json:"subnet,omitempty"`
	Ranges     [][]cniIPRange `json:"ranges,omitempty"`
	AssignIPv4 string         `json:"assign_ipv4,omitempty"`
	AssignIPv6 string         `json:"assign_ipv6,omitempty"`
}

type cniIPRange struct {
	Subnet string `json:"subnet"`
}

type cniPortMap struct {
	Type         string          `json:"type"`
	SNAT         bool            `json:"snat"`
	Capabilities map[string]bool `json:"capabilities"`
}

// cniConfiguration is the file that the installer writes to each node after it has replaced the placeholders.
func (s *settings) cniConfiguration() (string, error) {
	network := cniNetwork{Name: "k8s-pod-network", CNIVersion: cniVersion, Plugins: []any{
		cniCalico{
			Type: "calico", LogLevel: "error", LogFilePath: "/var/log/calico/cni/cni.log", DatastoreType: "kubernetes",
			NodeName: placeholderNode, MTU: json.RawMessage(`"` + placeholderMTU + `"`), IPAM: s.cniIPAM(),
			Policy: map[string]string{"type": "k8s"}, Kubernetes: map[string]string{"kubeconfig": placeholderKubeconfig},
		},
		cniPortMap{Type: "portmap", SNAT: true, Capabilities: map[string]bool{"portMappings": true}},
	}}
	encoded, err := json.MarshalIndent(network, "", "  ")
	if err != nil {
		return "", fmt.Errorf("encoding the CNI configuration: %w", err)
	}
	// The MTU is a number after replacement; until then the text is not JSON.
	return unquoted(string(encoded), placeholderMTU), nil
}

// cniIPAM returns which plugin assigns addresses to pods: host-local from the ranges of the node, calico-ipam from the pools.
func (s *settings) cniIPAM() cniIPAM {
	if s.form.IPAM == calicov1alpha1.IPAMCalico {
		return cniIPAM{Type: s.form.IPAM, AssignIPv4: fmt.Sprint(s.ipv4), AssignIPv6: fmt.Sprint(s.ipv6)}
	}
	ipam := cniIPAM{Type: s.form.IPAM}
	switch own := s.config.IPAM.CIDR; {
	case s.ipv4 && s.ipv6:
		ranges := [][]cniIPRange{{{usePodCIDR4}}, {{usePodCIDR6}}}
		if s.ipv6First {
			ranges[0], ranges[1] = ranges[1], ranges[0]
		}
		ipam.Ranges = ranges
	case own != nil && !own.IsPodCIDR():
		ipam.Subnet = string(*own)
	case s.ipv6:
		ipam.Subnet = usePodCIDR6
	default:
		ipam.Subnet = usePodCIDR4
	}
	return ipam
}
