package calico

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/apis/calico/validation"
	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/definitions"
	"github.com/trellis-garden/trellis/internal/network"
	"github.com/trellis-garden/trellis/internal/network/calico/crds"
)

// Type is the network type that the driver serves.
const Type = "calico"

// Driver implements network.Driver for Calico.
type Driver struct {
	// calicoDefinitions and multusDefinitions are the definitions of their kinds, encoded once because that takes longer than all else. They are shared and never changed.
	calicoDefinitions, multusDefinitions func() ([]client.Object, error)
}

var _ network.Driver = (*Driver)(nil)

// New returns the driver.
func New() *Driver {
	return &Driver{calicoDefinitions: definitions.Once(crds.Calico), multusDefinitions: definitions.Once(crds.Multus)}
}

// Capabilities implements network.Driver: the eBPF data plane routes Services, the others need kube-proxy.
func (d *Driver) Capabilities(shoot *network.Shoot) network.Capabilities {
	config, err := decode(shoot)
	if err != nil {
		return network.Capabilities{}
	}
	return network.Capabilities{
		RoutesServices: validation.RoutesServices(config),
		ServiceRouting: validation.ServiceRouting,
		IPv6:           true,
		DualStack:      true,

		NeedsAPIServerHost: validation.RoutesServices(config) && !shoot.KubeProxy.Enabled,
	}
}

// Validate implements network.Driver.
func (d *Driver) Validate(shoot *network.Shoot) field.ErrorList { return validate(shoot) }

// Render implements network.Driver.
func (d *Driver) Render(shoot *network.Shoot) (*network.Rendering, error) {
	decision, err := decide(shoot)
	if err != nil {
		return nil, err
	}
	return d.render(decision)
}

// Transition implements network.Driver.
func (d *Driver) Transition(shoot *network.Shoot, wanted *network.Rendering) (*network.Stage, error) {
	goal, ok := wanted.Form.(form)
	if !ok {
		return nil, fmt.Errorf("the wanted network has a form of type %T", wanted.Form)
	}
	deployed, err := deployedForm(shoot.Deployed)
	if deployed == nil || err != nil {
		return nil, err
	}
	decision, err := decide(shoot)
	if err != nil {
		return nil, err
	}
	transition := newChange(*deployed, goal, shoot.Deployed.RolledOut, decision.settings)
	if refusal := transition.refusal(); refusal != "" {
		return nil, cloud.Errorf(cloud.Configuration, "%s", refusal)
	}
	next := transition.next()
	if next == nil {
		return nil, nil
	}
	rendering, err := d.render(decision.at(next.form))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", next.name, err)
	}
	return &network.Stage{Name: next.name, Rendering: rendering, Gate: next.gate}, nil
}
