// Package charts turns the folders beside it into what an admin installs: one Helm chart for each binary, with the library chart "common"
// inside it. It must not know any registration, nor who installs a chart.
package charts

// Names lists the charts, one for each binary that has a registration, in the order in which a shoot meets them.
func Names() []string {
	return []string{"infrastructure-controller", "controlplane-controller", "network-controller", "worker-controller"}
}

// Release is what an installation is rendered for. Gardener uses the name of the ControllerRegistration and the namespace
// extension-<name of the ControllerInstallation>.
type Release struct{ Name, Namespace string }
