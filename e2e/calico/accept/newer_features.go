package accept

import "slices"

// These are the components in the list of newer features.
const (
	componentFelix           = "Felix"
	componentTypha           = "Typha"
	componentKubeControllers = "kube-controllers"
	componentCustomResources = "custom resources"
)

// Feature is something that the renderings use and Calico v3.28.5 does not know.
type Feature struct {
	Component string
	// Name of a parameter (FELIX_X), of a controller, of a kind, or of a field of a kind (IPPool.spec.x).
	Name string
	// Since is the version of Calico that brought it.
	Since string
}

// NewerFeatures is the list of features that need a newer Calico than the code of this module, and records which were used.
type NewerFeatures struct {
	Features []Feature
	asked    map[Feature]bool
}

// KnownNewerFeatures is what the renderings may use.
func KnownNewerFeatures() *NewerFeatures {
	return &NewerFeatures{Features: []Feature{
		{componentFelix, "FELIX_BPFKUBEPROXYHEALTHZPORT", "v3.30.5"}, // until then the name lacked a letter
		{componentFelix, "FELIX_NFTABLESMODE", "v3.29"},
		{componentKubeControllers, "loadbalancer", "v3.30"},
		{componentCustomResources, "IPPool.spec.assignmentMode", "v3.30"},
	}}
}

func (n *NewerFeatures) exempts(component, name string) bool {
	position := slices.IndexFunc(n.Features, func(feature Feature) bool { return feature.Component == component && feature.Name == name })
	if position < 0 {
		return false
	}
	if n.asked == nil {
		n.asked = map[Feature]bool{}
	}
	n.asked[n.Features[position]] = true
	return true
}

// Unused lists the features that no rendering used, or that v3.28.5 knows, after all checks ran.
func (n *NewerFeatures) Unused() []Feature {
	return slices.DeleteFunc(slices.Clone(n.Features), func(feature Feature) bool { return n.asked[feature] })
}
