package examplenet

import (
	"github.com/trellis-garden/trellis/apis/examplenet/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
)

// step is a form between the deployed one and the goal.
type step struct {
	name string
	form form
}

// nextStep returns the step before the goal, or nil when the goal can be deployed. It computes the step from nothing but its arguments, since users may change
// the goal half-way.
//
// While a form is not rolled out, nodes may have it or the form before. At any time each node accepts every encapsulation in which another node sends, and
// nodes use the routes of the cloud only after these exist.
func nextStep(deployed, goal form, rolledOut bool) (*step, error) {
	next, err := nextEncapsulation(deployed, goal, rolledOut)
	if next != nil || err != nil {
		return next, err
	}
	if !goal.Routes || deployed.Routes || deployed.WaitsForRoutes && rolledOut {
		return nil, nil
	}
	deployed.WaitsForRoutes = true
	return &step{name: "waiting for routes", form: deployed}, nil
}

// nextEncapsulation has two steps: nodes accept both encapsulations, then they send the new one. The goal follows: they accept the new one only.
func nextEncapsulation(deployed, goal form, rolledOut bool) (*step, error) {
	acceptsOne, sendsGoal := len(deployed.Accepts) == 1, deployed.Sends == goal.Sends
	if acceptsOne && sendsGoal {
		return nil, nil
	}
	if deployed.Sends == v1alpha1.EncapsulationNone {
		return nil, cloud.Errorf(cloud.Configuration, "spec.networking.providerConfig.encapsulation: it cannot be changed, set it to none again")
	}
	if goal.Sends == v1alpha1.EncapsulationNone {
		return nil, cloud.Errorf(cloud.Configuration, "spec.networking.providerConfig.encapsulation: it cannot become none, set it to %s again", deployed.Sends)
	}
	// Nodes wait for routes after they have rolled out everything else.
	rolledOut = rolledOut || deployed.WaitsForRoutes
	between := form{Accepts: []v1alpha1.Encapsulation{v1alpha1.EncapsulationIPIP, v1alpha1.EncapsulationVXLAN}, Routes: deployed.Routes}
	switch {
	case acceptsOne || !sendsGoal && !rolledOut:
		between.Sends = deployed.Sends
		return &step{name: "accepting both encapsulations", form: between}, nil
	case !sendsGoal || !rolledOut:
		between.Sends = goal.Sends
		return &step{name: "sending the new encapsulation", form: between}, nil
	default:
		return nil, nil
	}
}
