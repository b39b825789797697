package examplenet

import (
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"

	"github.com/trellis-garden/trellis/apis/examplenet/v1alpha1"
	"github.com/trellis-garden/trellis/internal/network"
)

// settings is everything that the objects of one rendering depend on. Code that renders an object decides nothing.
type settings struct {
	// config is the wanted configuration, with all defaults. In a stage the form differs from it.
	config *v1alpha1.NetworkConfig
	form   form
	// families are those of the pods' addresses. podRanges are in CIDR notation.
	families  []extensionsv1alpha1.IPFamily
	podRanges []string
	// namespace is the shoot's in the seed.
	namespace string
	// nodeImage is the image of the DaemonSet, agentImage that of the agent.
	nodeImage, agentImage string
}

// form is what may have to change in stages. It is kept in status.state and read by later versions of this driver: fields are never renamed, and a new one
// must have a meaningful zero value.
type form struct {
	// Accepts are the encapsulations that nodes accept. Sends is the one in which they send.
	Accepts []v1alpha1.Encapsulation `json:"accepts"`
	Sends   v1alpha1.Encapsulation   `json:"sends"`
	// Routes is true when nodes use the routes of the cloud.
	Routes bool `json:"routes,omitempty"`
	// WaitsForRoutes is true in the stage before Routes becomes true. It changes no rendered object.
	WaitsForRoutes bool `json:"waitsForRoutes,omitempty"`
}

// decide computes the settings for the wanted configuration.
func decide(shoot *network.Shoot) (*settings, error) {
	config, err := decode(shoot)
	if err != nil {
		return nil, err
	}
	config = config.Default()
	nodeImage, err := shoot.Image(nodeName)
	if err != nil {
		return nil, err
	}
	agentImage, err := shoot.Image(agentName)
	if err != nil {
		return nil, err
	}
	return &settings{
		config:    config,
		form:      form{Accepts: []v1alpha1.Encapsulation{config.Encapsulation}, Sends: config.Encapsulation, Routes: config.Routes},
		families:  shoot.Families,
		podRanges: shoot.PodRanges,
		namespace: shoot.Network.Namespace,
		nodeImage: nodeImage, agentImage: agentImage,
	}, nil
}
