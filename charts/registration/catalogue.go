package registration

import (
	"slices"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/charts"
)

// Role says whether a controller fulfils objects or only looks on.
type Role string

// The roles.
const (
	// RolePrimary is the one controller that fulfils the objects of a kind and type.
	RolePrimary Role = "primary"
	// RoleSecondary observes what a primary fulfils.
	RoleSecondary Role = "secondary"
)

// Catalogue is the list of registrations, in the order in which a shoot meets them, the admission binary, and the operator, if there is one.
type Catalogue struct {
	Registrations []Entry    `json:"registrations"`
	Admission     *Admission `json:"admission"`
	Installer     *Installer `json:"installer"`
}

// ChartNames lists the charts that are named, in order.
func (c Catalogue) ChartNames() []string {
	var names []string
	for _, e := range c.Registrations {
		if !slices.Contains(names, e.Chart) {
			names = append(names, e.Chart)
		}
	}
	if c.Admission != nil {
		names = append(names, charts.AdmissionNames()...)
	}
	if c.Installer != nil {
		names = append(names, charts.InstallationNames()...)
	}
	return names
}

// Primaries returns the catalogue without secondaries: all that a landscape cannot do without.
func (c Catalogue) Primaries() Catalogue {
	c.Registrations = slices.DeleteFunc(slices.Clone(c.Registrations), func(e Entry) bool { return e.Role == RoleSecondary })
	return c
}

// names lists all that has values of its own.
func (c Catalogue) names() []string {
	var names []string
	for _, e := range c.Registrations {
		names = append(names, e.Name)
	}
	if c.Admission != nil {
		names = append(names, c.Admission.Name)
	}
	if c.Installer != nil {
		names = append(names, c.Installer.Name, c.Installer.inGarden())
	}
	return names
}

// Entry is one registration. The comments in catalogue.yaml are its specification.
type Entry struct {
	Name  string   `json:"name"`
	Chart string   `json:"chart"`
	Kind  string   `json:"kind"`
	Types []string `json:"types"`

	Policy       gardencorev1beta1.ControllerDeploymentPolicy `json:"policy"`
	SeedSelector *metav1.LabelSelector                        `json:"seedSelector"`
	PodSecurity  string                                       `json:"podSecurity"`

	Role               Role     `json:"role"`
	Observations       []string `json:"observations"`
	LeaderElectionID   string   `json:"leaderElectionID"`
	HeartbeatNamespace string   `json:"heartbeatNamespace"`

	ReconcileTimeout         *metav1.Duration                               `json:"reconcileTimeout"`
	Lifecycle                *gardencorev1beta1.ControllerResourceLifecycle `json:"lifecycle"`
	AutoEnable               []gardencorev1beta1.ClusterType                `json:"autoEnable"`
	ClusterCompatibility     []gardencorev1beta1.ClusterType                `json:"clusterCompatibility"`
	WorkerlessSupported      *bool                                          `json:"workerlessSupported"`
	ContinuousEndpointUpdate *bool                                          `json:"continuousEndpointUpdate"`
}

// withDefaults fills in what the author left out.
func (e Entry) withDefaults() Entry {
	if e.Policy == "" {
		e.Policy = gardencorev1beta1.ControllerDeploymentPolicyOnDemand
	}
	if e.PodSecurity == "" {
		e.PodSecurity = "restricted"
	}
	if e.Role == "" {
		e.Role = RolePrimary
	}
	if e.LeaderElectionID == "" && e.Name != "" {
		e.LeaderElectionID = e.defaultLeaderElectionID()
	}
	return e
}

// defaultLeaderElectionID is the default of the charts.
func (e Entry) defaultLeaderElectionID() string { return e.Name + "-leader-election" }

// kindOfChart returns the kind of Gardener's objects that the chart's binary serves, or "" for a chart there is not.
func kindOfChart(chart string) string {
	switch chart {
	case "infrastructure-controller":
		return extensionsv1alpha1.InfrastructureResource
	case "controlplane-controller":
		return extensionsv1alpha1.ControlPlaneResource
	case "network-controller":
		return extensionsv1alpha1.NetworkResource
	case "worker-controller":
		return extensionsv1alpha1.WorkerResource
	default:
		return ""
	}
}

// managedResources returns the names of the ManagedResources that a primary for the kind and type writes into a shoot's
// namespace, those that it takes over from the upstream extension included.
func managedResources(kind, typ string) []string {
	switch kind {
	case extensionsv1alpha1.ControlPlaneResource:
		return []string{
			"extension-controlplane-seed", "extension-controlplane-shoot", "extension-controlplane-shoot-crds",
			"extension-controlplane-storageclasses", "extension-controlplane-configuration-seed", "extension-controlplane-shoot-webhooks",
		}
	case extensionsv1alpha1.NetworkResource:
		return []string{"extension-networking-" + typ + "-config", "extension-networking-" + typ + "-seed"}
	default:
		return nil
	}
}
