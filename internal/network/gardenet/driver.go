package gardenet

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/gardenet/validation"
	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/network"
)

// Type is the network type that the driver serves.
const Type = "gardenet"

// Driver implements network.Driver for gardenet. It has no state.
type Driver struct{}

var _ network.Driver = (*Driver)(nil)

// New returns the driver.
func New() *Driver { return &Driver{} }

// Capabilities implements network.Driver. Who routes Services must not need one to reach the API server.
func (d *Driver) Capabilities(shoot *network.Shoot) network.Capabilities {
	config, err := decode(shoot)
	if err != nil {
		return network.Capabilities{}
	}
	routes := *config.Default(shoot.Infrastructure).ServiceRouting.Enabled
	return network.Capabilities{
		RoutesServices: routes, ServiceRouting: validation.ServiceRoutingRemedy, NeedsAPIServerHost: routes, IPv6: true, DualStack: true,
	}
}

// Validate implements network.Driver.
func (d *Driver) Validate(shoot *network.Shoot) field.ErrorList { return validate(shoot) }

// Render implements network.Driver.
func (d *Driver) Render(shoot *network.Shoot) (*network.Rendering, error) {
	settings, err := decide(shoot)
	if err != nil {
		return nil, err
	}
	deployed, err := deployedForm(shoot.Deployed)
	if err != nil {
		return nil, err
	}
	rendering, err := settings.render()
	if err != nil {
		return nil, err
	}
	rendering.Messages = settings.messages(deployed)
	return rendering, nil
}

// Transition implements network.Driver. Without a deployed form nothing is compared: no other extension has ever deployed the plugin.
func (d *Driver) Transition(shoot *network.Shoot, wanted *network.Rendering) (*network.Stage, error) {
	goal, ok := wanted.Form.(form)
	if !ok {
		return nil, fmt.Errorf("the wanted network has a form of type %T", wanted.Form)
	}
	deployed, err := deployedForm(shoot.Deployed)
	if deployed == nil || err != nil {
		return nil, err
	}
	settings, err := decide(shoot)
	if err != nil {
		return nil, err
	}
	change := change{from: *deployed, to: goal, rolledOut: shoot.Deployed.RolledOut, routesProgrammed: settings.routesProgrammed()}
	if refusal := change.refusal(); refusal != "" {
		return nil, cloud.Errorf(cloud.Configuration, "%s", refusal)
	}
	next := change.next()
	if next == nil {
		return nil, nil
	}
	rendering, err := settings.at(next.form).render()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", next.name, err)
	}
	return &network.Stage{Name: next.name, Rendering: rendering, Gate: next.gate()}, nil
}
