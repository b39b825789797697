// Package charts turns the folders beside it into what an admin installs: one Helm chart for each binary, two for the one of the garden, each with
// the library chart "common" inside it. It must not know any registration, nor who installs a chart.
package charts

import (
	"path"
	"slices"
	"strings"
)

// The charts of admission, which takes two clusters.
const (
	// AdmissionRuntime is what runs in the garden's runtime cluster.
	AdmissionRuntime = admissionPrefix + "runtime"
	// AdmissionApplication is what it may do in the virtual garden.
	AdmissionApplication = admissionPrefix + "application"

	admissionPrefix = "admission-"
)

// Names lists the charts of controllers, one for each binary that has a registration, in the order in which a shoot meets them.
func Names() []string {
	return []string{"infrastructure-controller", "controlplane-controller", "network-controller", "worker-controller"}
}

// AdmissionNames lists the two halves of admission.
func AdmissionNames() []string { return []string{AdmissionRuntime, AdmissionApplication} }

// all lists every chart that there is.
func all() []string { return slices.Concat(Names(), AdmissionNames()) }

// folder is where the chart of that name is.
func folder(name string) string {
	if half, ok := strings.CutPrefix(name, admissionPrefix); ok {
		return path.Join("admission", half)
	}
	return name
}

// Release is what an installation is rendered for. gardenlet uses the name of the ControllerRegistration and the namespace
// extension-<name of the ControllerInstallation>; gardener-operator uses the name of its Extension, for admission with the namespace garden in the
// runtime cluster and extension-<name> in the virtual garden.
type Release struct{ Name, Namespace string }
