package examplenet

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/examplenet/v1alpha1"
	"github.com/trellis-garden/trellis/apis/examplenet/validation"
	"github.com/trellis-garden/trellis/internal/network"
)

// Type is the network type that the driver serves.
const Type = "example-net"

// Driver implements network.Driver for the example plugin. It has no state.
type Driver struct{}

var _ network.Driver = (*Driver)(nil)

// New returns the driver.
func New() *Driver { return &Driver{} }

// Capabilities implements network.Driver: the agent routes Services.
func (d *Driver) Capabilities(shoot *network.Shoot) network.Capabilities {
	config, err := decode(shoot)
	if err != nil {
		return network.Capabilities{}
	}
	return network.Capabilities{RoutesServices: config.Agent, ServiceRouting: validation.ServiceRouting, IPv6: true, DualStack: true}
}

// Validate implements network.Driver.
func (d *Driver) Validate(shoot *network.Shoot) field.ErrorList {
	path := field.NewPath("spec", "networking", "providerConfig")
	config, err := decode(shoot)
	if err != nil {
		return validation.DecodingErrors(path, err)
	}
	return validation.ValidateNetworkConfig(config, path)
}

// Render implements network.Driver.
func (d *Driver) Render(shoot *network.Shoot) (*network.Rendering, error) {
	settings, err := decide(shoot)
	if err != nil {
		return nil, err
	}
	return settings.render(), nil
}

// Transition implements network.Driver. Without a deployed form nothing is compared: no other extension has ever deployed the plugin.
func (d *Driver) Transition(shoot *network.Shoot, wanted *network.Rendering) (*network.Stage, error) {
	goal, ok := wanted.Form.(form)
	if !ok {
		return nil, fmt.Errorf("the wanted network has a form of type %T", wanted.Form)
	}
	if len(shoot.Deployed.Form) == 0 {
		return nil, nil
	}
	var deployed form
	if err := json.Unmarshal(shoot.Deployed.Form, &deployed); err != nil {
		return nil, fmt.Errorf("decoding the deployed form: %w", err)
	}
	next, err := nextStep(deployed, goal, shoot.Deployed.RolledOut)
	if next == nil || err != nil {
		return nil, err
	}
	settings, err := decide(shoot)
	if err != nil {
		return nil, err
	}
	settings.form = next.form
	gate := network.Gate{Workloads: settings.workloads(), Routes: next.form.WaitsForRoutes}
	return &network.Stage{Name: next.name, Rendering: settings.render(), Gate: gate}, nil
}

func decode(shoot *network.Shoot) (*v1alpha1.NetworkConfig, error) {
	return v1alpha1.DecodeNetworkConfig(shoot.Network.Spec.ProviderConfig)
}
