package gardenet

import (
	"encoding/json"
	"fmt"
	"net/netip"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"

	"github.com/trellis-garden/trellis/apis/gardenet/v1alpha1"
	"github.com/trellis-garden/trellis/internal/gardenet/config"
	"github.com/trellis-garden/trellis/internal/network"
)

// settings is everything that the objects of one rendering depend on. Code that renders an object decides nothing: renderings with equal settings are equal to the
// byte.
type settings struct {
	// config is the effective configuration: every field has a value.
	config *v1alpha1.NetworkConfig
	// form is the part on which all nodes must agree.
	form form
	// families are those that pods have addresses of, in the order of preference.
	families []extensionsv1alpha1.IPFamily
	// podRanges, serviceRanges, nodeRanges and except are those of these families: the ranges of pods, Services and nodes, and others to which packets keep the
	// addresses of pods.
	podRanges, serviceRanges, nodeRanges, except []netip.Prefix

	infrastructure network.Infrastructure
	// namespace is the shoot's in the seed.
	namespace string
	// verticalAutoscaling is true when the shoot has a vertical pod autoscaler.
	verticalAutoscaling bool
	// apiServerHost and apiServerPort are where nodes reach the API server without Services. The host may be empty where gardenet does not route them.
	apiServerHost string
	apiServerPort int
	// image is the agents', routerImage the service routers'.
	image, routerImage string
}

// form is what may have to change in stages. It is kept in status.state and read by later versions of this driver: fields are never renamed, and a new one must have
// a meaningful zero value.
type form struct {
	// Routes are the routes by which nodes send packets to pods of other nodes.
	Routes config.Routes `json:"routes"`
	// Tunnel is the tunnel from which nodes accept packets, nil for none. They send through it if Routes is "tunnel".
	Tunnel *tunnel `json:"tunnel,omitempty"`
	// TunnelEverywhere is true when all nodes accepted packets from Tunnel before this form was deployed, although Routes is another one.
	TunnelEverywhere bool `json:"tunnelEverywhere,omitempty"`
	// WaitsForRoutes is true in the stage before Routes becomes "cloud". Agents withdraw what they have reported of the network then, so that the route controller
	// reports its routes.
	WaitsForRoutes bool `json:"waitsForRoutes,omitempty"`
	// MTU is that of pods in bytes, 0 for what nodes find out. It changes without stages.
	MTU int `json:"mtu,omitempty"`
	// Services is what gardenet does about Services, empty for nothing.
	Services services `json:"services,omitempty"`
}

// services is what the service routers on nodes do.
type services string

const (
	// servicesRouted: they route Services.
	servicesRouted services = "routed"
	// servicesHandedOver: each of them routes Services until kube-proxy does on its node, and then removes its rules.
	servicesHandedOver services = "handedOver"
)

// tunnel is a VXLAN.
type tunnel struct {
	ID   int `json:"id"`
	Port int `json:"port"`
}

// deployedForm returns the form of what is in the shoot, nil if gardenet is not deployed.
func deployedForm(deployed network.Deployed) (*form, error) {
	if len(deployed.Form) == 0 {
		return nil, nil
	}
	read := &form{}
	if err := json.Unmarshal(deployed.Form, read); err != nil {
		return nil, fmt.Errorf("reading the form of the network that is deployed: %w", err)
	}
	return read, nil
}

// encapsulates reports whether nodes send packets through the tunnel.
func (f form) encapsulates() bool { return f.Routes == config.RoutesTunnel }
