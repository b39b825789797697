package desired

import (
	"encoding/json"
	"fmt"
)

// leasesDir is where the plugin host-local keeps which addresses are taken. It is lost when the node reboots, as are all pods.
const leasesDir = "/run/cni/gardenet"

// The CNI configuration, version 1.0.0 (https://www.cni.dev/docs/spec/), with the plugins of github.com/containernetworking/plugins.
type (
	conflist struct {
		CNIVersion string `json:"cniVersion"`
		Name       string `json:"name"`
		Plugins    []any  `json:"plugins"`
	}
	ptpPlugin struct {
		Type   string    `json:"type"`
		IPMasq bool      `json:"ipMasq"`
		MTU    int       `json:"mtu"`
		IPAM   hostLocal `json:"ipam"`
	}
	hostLocal struct {
		Type    string        `json:"type"`
		DataDir string        `json:"dataDir"`
		Ranges  [][]ipamRange `json:"ranges"`
		Routes  []ipamRoute   `json:"routes"`
	}
	ipamRange struct {
		Subnet string `json:"subnet"`
	}
	ipamRoute struct {
		Dst string `json:"dst"`
	}
	portmapPlugin struct {
		Type         string          `json:"type"`
		Capabilities map[string]bool `json:"capabilities"`
		SNAT         bool            `json:"snat"`
		Backend      string          `json:"backend"`
	}
	bandwidthPlugin struct {
		Type         string          `json:"type"`
		Capabilities map[string]bool `json:"capabilities"`
	}
)

// conflist connects each pod by a pair of devices of its own (ptp), so that packets between pods of one node are forwarded, too, and pass the rules.
func (n *node) conflist() (string, error) {
	ptp := ptpPlugin{Type: "ptp", MTU: n.podMTU(), IPAM: hostLocal{Type: "host-local", DataDir: leasesDir}}
	for _, r := range n.ranges {
		ptp.IPAM.Ranges = append(ptp.IPAM.Ranges, []ipamRange{{Subnet: r.Masked().String()}})
		everywhere := "0.0.0.0/0"
		if r.Addr().Is6() {
			everywhere = "::/0"
		}
		ptp.IPAM.Routes = append(ptp.IPAM.Routes, ipamRoute{Dst: everywhere})
	}
	list := conflist{CNIVersion: "1.0.0", Name: TableName, Plugins: []any{ptp}}
	if n.Config.HostPorts {
		backend := "iptables"
		if n.Facts.HostHasNFT {
			backend = "nftables"
		}
		list.Plugins = append(list.Plugins, portmapPlugin{Type: "portmap", Capabilities: map[string]bool{"portMappings": true}, SNAT: true, Backend: backend})
	}
	if n.Config.Bandwidth {
		list.Plugins = append(list.Plugins, bandwidthPlugin{Type: "bandwidth", Capabilities: map[string]bool{"bandwidth": true}})
	}
	text, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return "", fmt.Errorf("encoding the CNI configuration: %w", err)
	}
	return string(text) + "\n", nil
}
