package inspect

import "slices"

// worst returns the most severe state; without any it is StateHealthy.
func worst(states ...State) State {
	for _, severe := range []State{StateUnhealthy, StateProgressing} {
		if slices.Contains(states, severe) {
			return severe
		}
	}
	return StateHealthy
}

// stateOf summarizes an object, from all of it but its state.
func stateOf(o Object) State {
	states := []State{o.LastOperation.state()}
	if o.LastError != nil {
		states = append(states, StateUnhealthy)
	}
	if o.Request != nil && o.Request.Unserved {
		states = append(states, StateUnhealthy)
	} else if o.Request != nil {
		states = append(states, StateProgressing)
	}
	for _, condition := range o.Conditions {
		states = append(states, condition.state())
	}
	if o.ManagedResources != nil {
		for _, problem := range o.ManagedResources.Problems {
			states = append(states, problem.State)
		}
	}
	for _, deployment := range o.MachineDeployments {
		if !deployment.isDone() {
			states = append(states, StateProgressing)
		}
	}
	if len(o.FailedMachines) > 0 || o.ResourcesError != "" {
		states = append(states, StateUnhealthy)
	}
	return worst(states...)
}

func (o *Operation) state() State {
	switch {
	case o == nil:
		return StateProgressing
	case o.State == "Succeeded":
		return StateHealthy
	case o.State == "Processing" || o.State == "Pending":
		return StateProgressing
	default:
		return StateUnhealthy
	}
}

func (c Condition) state() State {
	switch c.Status {
	case "True":
		return StateHealthy
	case "Progressing":
		return StateProgressing
	default:
		return StateUnhealthy
	}
}
