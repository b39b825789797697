package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
)

// FileName is the key of the document in its ConfigMap, and the name of its file.
const FileName = "config.json"

// Config is the same for all nodes of a shoot.
type Config struct {
	// PodRanges are the ranges of all pods of the shoot, at most one for each address family.
	PodRanges []netip.Prefix `json:"podRanges"`
	// NodeRanges are the ranges of the nodes.
	NodeRanges []netip.Prefix `json:"nodeRanges,omitempty"`
	// MTU is that of pods in bytes; 0 is the smallest one of the node's uplinks, less what a tunnel takes.
	MTU int `json:"mtu,omitempty"`
	// Tunnel, if set, is brought up on each node, which then accepts encapsulated packets. They are sent with Routes "tunnel" only.
	Tunnel *Tunnel `json:"tunnel,omitempty"`
	// Routes says how packets get to pods of other nodes.
	Routes Routes `json:"routes"`
	// Masquerade says which packets of pods get the node's address.
	Masquerade Masquerade `json:"masquerade"`
	// NetworkPolicy, if set, enforces NetworkPolicies.
	NetworkPolicy *NetworkPolicy `json:"networkPolicy,omitempty"`
	// HostPorts and Bandwidth add the CNI plugins for containers' host ports and for the bandwidth annotations of pods.
	HostPorts bool `json:"hostPorts,omitempty"`
	Bandwidth bool `json:"bandwidth,omitempty"`
	// ServiceRouting is true when Services are routed without kube-proxy, which would have set how long nodes remember their connections.
	ServiceRouting bool `json:"serviceRouting,omitempty"`
	// ReportsNetwork is true when the agent sets the Node's condition NetworkUnavailable to False: nobody else does where no cloud makes routes.
	ReportsNetwork bool `json:"reportsNetwork,omitempty"`
	// WithdrawsNetwork is true when the agent removes that condition if it has set it. The route controller of a cloud, which is to set it from now on, keeps a
	// condition that is False.
	WithdrawsNetwork bool `json:"withdrawsNetwork,omitempty"`
}

// Routes is a way to pods of other nodes.
type Routes string

// The ways to pods of other nodes.
const (
	// RoutesTunnel are routes of the agent through the tunnel.
	RoutesTunnel Routes = "tunnel"
	// RoutesNodes are routes of the agent by the addresses of the other nodes. They need one layer 2 network.
	RoutesNodes Routes = "nodes"
	// RoutesCloud are routes of the cloud: the agent makes none.
	RoutesCloud Routes = "cloud"
)

// Tunnel is a VXLAN.
type Tunnel struct {
	// ID is the VXLAN network identifier, 1 to 16777215.
	ID int `json:"id"`
	// Port is the UDP port, 1 to 65535.
	Port int `json:"port"`
}

// Masquerade says which packets of pods get the node's address: those that leave PodRanges, NodeRanges and Except.
type Masquerade struct {
	// Enabled is for packets of all protocols.
	Enabled bool `json:"enabled,omitempty"`
	// Except are more ranges that see the addresses of pods.
	Except []netip.Prefix `json:"except,omitempty"`
	// DNS is for packets to port 53, by UDP and TCP, where Enabled is false: name servers outside often answer nodes only.
	DNS bool `json:"dns,omitempty"`
}

// NetworkPolicy configures the enforcement of NetworkPolicies.
type NetworkPolicy struct {
	// Recheck is true when connections that are established are checked again after a policy has become stricter. Otherwise they stay.
	Recheck bool `json:"recheck,omitempty"`
	// LogDenied is how many packets that policies forbid are logged in a second in each direction; 0 is none.
	LogDenied int `json:"logDenied,omitempty"`
}

// Encode returns the document. It is the same for equal configurations.
func (c Config) Encode() (string, error) {
	if err := c.Validate(); err != nil {
		return "", err
	}
	data, err := json.MarshalIndent(c, "", "  ")
	return string(data) + "\n", err
}

// Decode reads a document. Unknown fields are errors: an agent that is older than the driver would ignore a part of its task.
func Decode(document []byte) (Config, error) {
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.DisallowUnknownFields()
	var c Config
	if err := decoder.Decode(&c); err != nil {
		return Config{}, fmt.Errorf("decoding %s: %w", FileName, err)
	}
	return c, c.Validate()
}

// Validate returns what is wrong, by field.
func (c Config) Validate() error {
	return errors.Join(slices.Concat(c.validateRanges(), c.validateRoutes(), c.validateNode())...)
}

func (c Config) validateRanges() (errs []error) {
	if len(c.PodRanges) == 0 || len(c.PodRanges) > 2 || len(c.PodRanges) == 2 && c.PodRanges[0].Addr().Is4() == c.PodRanges[1].Addr().Is4() {
		errs = append(errs, fmt.Errorf("podRanges: must be one range, or one of each address family, not %v", c.PodRanges))
	}
	for name, ranges := range map[string][]netip.Prefix{"podRanges": c.PodRanges, "nodeRanges": c.NodeRanges, "masquerade.except": c.Masquerade.Except} {
		for i, r := range ranges {
			if !r.IsValid() || r != r.Masked() {
				errs = append(errs, fmt.Errorf("%s[%d]: %s is not a range", name, i, r))
			}
		}
	}
	return errs
}

func (c Config) validateRoutes() (errs []error) {
	switch {
	case c.Routes != RoutesTunnel && c.Routes != RoutesNodes && c.Routes != RoutesCloud:
		errs = append(errs, fmt.Errorf("routes: must be %q, %q or %q, not %q", RoutesTunnel, RoutesNodes, RoutesCloud, c.Routes))
	case c.Routes == RoutesTunnel && c.Tunnel == nil:
		errs = append(errs, fmt.Errorf("routes: %q needs a tunnel", c.Routes))
	}
	if t := c.Tunnel; t != nil && (t.ID < 1 || t.ID > 1<<24-1) {
		errs = append(errs, fmt.Errorf("tunnel.id: must be 1 to %d, not %d", 1<<24-1, t.ID))
	}
	if t := c.Tunnel; t != nil && (t.Port < 1 || t.Port > 1<<16-1) {
		errs = append(errs, fmt.Errorf("tunnel.port: must be 1 to %d, not %d", 1<<16-1, t.Port))
	}
	return errs
}

func (c Config) validateNode() (errs []error) {
	if c.ReportsNetwork && c.WithdrawsNetwork {
		errs = append(errs, errors.New("withdrawsNetwork: must be false where reportsNetwork is true"))
	}
	if p := c.NetworkPolicy; p != nil && p.LogDenied < 0 {
		errs = append(errs, fmt.Errorf("networkPolicy.logDenied: must not be %d", p.LogDenied))
	}
	if c.MTU != 0 && (c.MTU < 1280 || c.MTU > 9216) {
		errs = append(errs, fmt.Errorf("mtu: must be 0, or 1280 to 9216, not %d", c.MTU))
	}
	return errs
}
