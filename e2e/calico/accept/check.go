package accept

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Problem is something that Calico does not accept, or reads as something else than was written.
type Problem struct {
	// Object, e.g. "DaemonSet calico-node", and Field, e.g. "container calico-node, FELIX_BPFENABLED".
	Object, Field string
	Message       string
}

func (p Problem) String() string { return fmt.Sprintf("%s: %s: %s", p.Object, p.Field, p.Message) }

// Check validates renderings with one component of Calico.
type Check struct {
	// Name is the name of the component.
	Name string
	// needs selects the objects that the check reads.
	needs func(Object) bool
	// inputs is the part of these objects that the check reads, if not all. Renderings with equal inputs are checked once.
	inputs func(Rendering) any
	run    func(context.Context, Rendering, *NewerFeatures) ([]Problem, error)
}

// Checks lists all checks.
func Checks() []Check {
	return []Check{
		{Name: "Felix", needs: isOneOf("DaemonSet", "ConfigMap"), run: checkFelix},
		{Name: "Typha", needs: isOneOf("Deployment", "ConfigMap"), run: checkTypha},
		{Name: "CustomResources", needs: isCustom, run: checkCustomResources},
		{Name: "KubeControllers", needs: isOneOf("Deployment", "ConfigMap", "KubeControllersConfiguration"), inputs: kubeControllersInputs, run: checkKubeControllers},
		{Name: "NodeStartup", needs: isOneOf("DaemonSet", "ConfigMap", "IPPool"), inputs: startupInputs, run: checkStartup},
		{Name: "CNI", needs: isOneOf("DaemonSet", "ConfigMap", "IPPool"), inputs: cniInputs, run: checkCNI},
	}
}

func isOneOf(kinds ...string) func(Object) bool {
	return func(object Object) bool {
		switch object.GetKind() {
		case "ConfigMap", "DaemonSet", "Deployment":
			if !strings.HasPrefix(object.GetName(), "calico-") && object.GetName() != "kubernetes-services-endpoint" {
				return false
			}
		}
		return slices.Contains(kinds, object.GetKind())
	}
}

// Run checks a rendering.
func (c Check) Run(ctx context.Context, rendering Rendering, newer *NewerFeatures) ([]Problem, error) {
	return c.run(ctx, c.relevant(rendering), newer)
}

func (c Check) relevant(rendering Rendering) Rendering {
	var relevant Rendering
	for _, object := range rendering {
		if c.needs(object) {
			relevant = append(relevant, object)
		}
	}
	return relevant
}

// Group is what several cases have in common.
type Group struct {
	// Sentences are the cases.
	Sentences []string
	// Rendering is that of the first.
	Rendering Rendering
}

// Groups groups the cases of a matrix by what the check reads.
func (c Check) Groups(matrix Matrix) []Group {
	positions, groups := map[string]int{}, []Group{}
	for _, sentence := range matrix.Sentences() {
		rendering := matrix.Cases[sentence]
		key := c.key(rendering)
		position, ok := positions[key]
		if !ok {
			position = len(groups)
			positions[key] = position
			groups = append(groups, Group{Rendering: rendering})
		}
		groups[position].Sentences = append(groups[position].Sentences, sentence)
	}
	return groups
}

func (c Check) key(rendering Rendering) string {
	var inputs any
	if c.inputs != nil {
		inputs = c.inputs(c.relevant(rendering))
	}
	if inputs == nil {
		inputs = c.relevant(rendering).hashes()
	}
	return fmt.Sprint(inputs)
}
