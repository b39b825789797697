package worker

import (
	"fmt"
	"slices"
	"strings"
)

// Names of the inputs of hashes, for users. Those of drivers' inputs are in Machines.HashDataNames.
const (
	inputKubernetes  = "the Kubernetes minor version"
	inputMachineType = "the machine type"
	inputImage       = "the machine image"
	inputVolumeSize  = "the size of the root volume"
	inputVolumeType  = "the type of the root volume"
	inputRuntime     = "the container runtime"
	inputAuthorities = "the certificate authorities"
	inputKey         = "the service account key"
	inputLocalDNS    = "the use of node-local DNS"
	inputKubelet     = "the kubelet configuration"
)

// hashInput is one input of a hash.
type hashInput struct {
	// name says for users what the input is.
	name string
	// value is the part of the hash.
	value string
	// shown is the value in a form for users, or empty if it says nothing to them.
	shown string
}

func valuesOf(inputs []hashInput) []string {
	values := make([]string, 0, len(inputs))
	for _, input := range inputs {
		values = append(values, input.value)
	}
	return values
}

// changedInputs says in clauses what differs between two lists of inputs, e.g. "the machine type changes from small to large".
func changedInputs(before, after []hashInput) []string {
	var clauses []string
	for _, name := range namesOfInputs(before, after) {
		old, current := inputsNamed(before, name), inputsNamed(after, name)
		switch {
		case slices.Equal(valuesOf(old), valuesOf(current)):
		case name == inputAuthorities, name == inputKey:
			clauses = append(clauses, rotatedClause(name))
		case isShown(old) && isShown(current):
			clauses = append(clauses, fmt.Sprintf("%s changes from %s to %s", name, old[0].shown, current[0].shown))
		case len(old) == 0:
			clauses = append(clauses, name+" is added")
		case len(current) == 0:
			clauses = append(clauses, name+" is removed")
		default:
			clauses = append(clauses, name+" changes")
		}
	}
	return clauses
}

func rotatedClause(credentials string) string {
	if credentials == inputKey {
		return credentials + " was rotated"
	}
	return credentials + " were rotated"
}

func isShown(inputs []hashInput) bool { return len(inputs) == 1 && inputs[0].shown != "" }

// namesOfInputs returns all names once, in their order.
func namesOfInputs(before, after []hashInput) []string {
	var names []string
	for _, input := range slices.Concat(before, after) {
		if !slices.Contains(names, input.name) {
			names = append(names, input.name)
		}
	}
	return names
}

func inputsNamed(inputs []hashInput, name string) []hashInput {
	return slices.DeleteFunc(slices.Clone(inputs), func(input hashInput) bool { return input.name != name })
}

// joinClauses returns "a, b and c".
func joinClauses(clauses []string) string {
	if len(clauses) < 2 {
		return strings.Join(clauses, "")
	}
	last := len(clauses) - 1
	return strings.Join(clauses[:last], ", ") + " and " + clauses[last]
}
