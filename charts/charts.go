// Package charts turns the folders beside it into what an admin installs: one Helm chart for each binary, and one for each cluster where a binary takes
// several, each with the library chart "common" inside it. It must not know any registration, nor who installs a chart.
package charts

import (
	"encoding/json"
	"fmt"
	"maps"
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

// The charts of the operator that installs extensions, which runs in a seed or for many.
const (
	// InstallationSeed is what runs in a seed, for that seed alone.
	InstallationSeed = installationPrefix + "seed"
	// InstallationRuntime is what runs in the garden's runtime cluster, for many seeds.
	InstallationRuntime = installationPrefix + "runtime"
	// InstallationApplication is what the latter may do in the virtual garden.
	InstallationApplication = installationPrefix + "application"

	installationBinary = "controllerinstallation-controller"
	installationPrefix = installationBinary + "-"
)

// Names lists the charts of controllers, one for each binary that fulfils extension objects, in the order in which a shoot meets them.
func Names() []string {
	return []string{"infrastructure-controller", "controlplane-controller", "network-controller", "worker-controller"}
}

// AdmissionNames lists the two halves of admission.
func AdmissionNames() []string { return []string{AdmissionRuntime, AdmissionApplication} }

// InstallationNames lists the charts of the operator that installs extensions: that for a seed, and the two halves of that for the garden.
func InstallationNames() []string {
	return []string{InstallationSeed, InstallationRuntime, InstallationApplication}
}

// all lists every chart that there is.
func all() []string { return slices.Concat(Names(), AdmissionNames(), InstallationNames()) }

// folder is where the chart of that name is.
func folder(name string) string {
	if half, ok := strings.CutPrefix(name, admissionPrefix); ok {
		return path.Join("admission", half)
	}
	if part, ok := strings.CutPrefix(name, installationPrefix); ok {
		return path.Join(installationBinary, part)
	}
	return name
}

// ValueNames lists the values that a chart takes, by their names at the root. Whoever installs the chart mixes in more.
func ValueNames(name string) ([]string, error) {
	content, err := sources.ReadFile(path.Join(folder(name), schemaFile))
	if err != nil {
		return nil, fmt.Errorf("reading the schema of chart %s: %w", name, err)
	}
	var schema struct {
		Properties map[string]any `json:"properties"`
	}
	if err := json.Unmarshal(content, &schema); err != nil {
		return nil, fmt.Errorf("reading the schema of chart %s: %w", name, err)
	}
	return slices.Sorted(maps.Keys(schema.Properties)), nil
}

// Release is what an installation is rendered for. gardenlet uses the name of the ControllerRegistration and the namespace
// extension-<name of the ControllerInstallation>; gardener-operator uses the name of its Extension, for admission with the namespace garden in the
// runtime cluster and extension-<name> in the virtual garden.
type Release struct{ Name, Namespace string }
