package aws

import (
	"fmt"
	"net/netip"
	"slices"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/apis/networking"
	"github.com/trellis-garden/trellis/internal/cloud/aws/auth"
	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/controlplane"
)

// inputs are what the components depend on, out of a shoot's documents.
type inputs struct {
	config *awsv1alpha1.ControlPlaneConfig
	// infrastructure is empty if it is missing or cannot be decoded; infrastructureErr is the error.
	infrastructure    *awsv1alpha1.InfrastructureStatus
	infrastructureErr error
	credentials       auth.Credentials
	// isNew is true while the shoot is being created.
	isNew bool
	// technicalID is the shoot's name in the cloud, in the tags of all its resources. namespace is that in the seed.
	technicalID, namespace string
	region                 string
	// kubernetesVersion is the shoot's, e.g. "1.36.3".
	kubernetesVersion string
	// mutatingPolicies is the version in which the shoot serves MutatingAdmissionPolicies, e.g. "admissionregistration.k8s.io/v1"; empty if it does not.
	mutatingPolicies string
	// networkType is the network plugin's, e.g. "calico"; empty if there is none.
	networkType string
	// overlayOff is true if the network plugin does not encapsulate packets.
	overlayOff bool
	// podRanges are in CIDR notation.
	podRanges []string
	// families are the shoot's IP families, the primary one first.
	families []gardencorev1beta1.IPFamily
	// migratesFamilies is true while the shoot is migrated to two families and the second one is not in use.
	migratesFamilies bool
	// hasIPv6Nodes is true if the nodes have a range of IPv6, whatever the families are.
	hasIPv6Nodes bool
	// nodeMaskSize is what the user has set for the ranges of nodes; 0 for the default.
	nodeMaskSize int32
	// annotations are the Shoot's.
	annotations map[string]string
}

func configPath() *field.Path { return field.NewPath("spec", "providerConfig") }
func statusPath() *field.Path { return field.NewPath("spec", "infrastructureProviderStatus") }

// inputsOf returns the inputs of a reconciliation, which it decodes once.
func inputsOf(shoot *controlplane.Shoot) (*inputs, field.ErrorList) {
	return contract.DecodeOnce(shoot.Decoded, func() (*inputs, field.ErrorList) { return decodeInputs(shoot) })
}

// decodeInputs decodes all documents. Each error names the document.
func decodeInputs(shoot *controlplane.Shoot) (*inputs, field.ErrorList) {
	var errs field.ErrorList
	addError := func(path *field.Path, err error) {
		if err != nil {
			errs = append(errs, field.Invalid(path, field.OmitValueType{}, err.Error()))
		}
	}
	spec := shoot.Cluster.Shoot.Spec
	in := &inputs{
		technicalID: shoot.TechnicalID, namespace: shoot.ControlPlane.Namespace, region: shoot.ControlPlane.Spec.Region, isNew: shoot.New,
		kubernetesVersion: spec.Kubernetes.Version, mutatingPolicies: contract.MutatingAdmissionPolicies(spec.Kubernetes),
		podRanges: shoot.PodRanges, families: familiesOf(shoot.Cluster.Shoot), hasIPv6Nodes: hasIPv6Nodes(shoot.Cluster.Shoot),
		migratesFamilies: migratesFamilies(shoot.Cluster.Shoot), annotations: shoot.Cluster.Shoot.Annotations,
	}
	if manager := spec.Kubernetes.KubeControllerManager; manager != nil && manager.NodeCIDRMaskSize != nil {
		in.nodeMaskSize = *manager.NodeCIDRMaskSize
	}
	var err error
	in.config, err = awsv1alpha1.DecodeControlPlaneConfig(shoot.ControlPlane.Spec.ProviderConfig)
	addError(configPath(), err)
	in.infrastructure, in.infrastructureErr = awsv1alpha1.DecodeInfrastructureStatus(shoot.ControlPlane.Spec.InfrastructureProviderStatus)
	if in.infrastructureErr != nil {
		in.infrastructure = awsv1alpha1.NewInfrastructureStatus()
	}
	if networks := spec.Networking; networks != nil && networks.Type != nil {
		in.networkType = *networks.Type
		in.overlayOff, err = networking.OverlaySwitchedOff(in.networkType, networks.ProviderConfig, Type)
		addError(field.NewPath("shoot", "spec", "networking", "providerConfig"), err)
	}
	in.credentials, err = auth.ParseCredentials(shoot.Credentials)
	addError(field.NewPath("spec", "secretRef"), err)
	return in, errs
}

// checkInfrastructure reports what is missing in the Infrastructure's status.
func (in *inputs) checkInfrastructure() error {
	switch {
	case in.infrastructureErr != nil:
		return fmt.Errorf("%w: decoding %s: %w", controlplane.ErrInfrastructureIncomplete, statusPath(), in.infrastructureErr)
	case in.infrastructure.VPC.ID == "":
		return fmt.Errorf("%w: %s names no VPC", controlplane.ErrInfrastructureIncomplete, statusPath())
	case in.loadBalancerSubnet().ID == "":
		return fmt.Errorf("%w: %s names no subnet", controlplane.ErrInfrastructureIncomplete, statusPath())
	default:
		return nil
	}
}

// familiesOf returns the shoot's IP families. Without any it has IPv4.
func familiesOf(shoot *gardencorev1beta1.Shoot) []gardencorev1beta1.IPFamily {
	if networks := shoot.Spec.Networking; networks != nil && len(networks.IPFamilies) > 0 {
		return networks.IPFamilies
	}
	return []gardencorev1beta1.IPFamily{gardencorev1beta1.IPFamilyIPv4}
}

// hasIPv6Nodes reports whether the Infrastructure has given the nodes a range of IPv6.
func hasIPv6Nodes(shoot *gardencorev1beta1.Shoot) bool {
	networks := shoot.Status.Networking
	return networks != nil && slices.ContainsFunc(networks.Nodes, func(text string) bool {
		prefix, err := netip.ParsePrefix(text)
		return err == nil && prefix.Addr().Is6()
	})
}

func (in *inputs) hasFamily(family gardencorev1beta1.IPFamily) bool {
	return slices.Contains(in.families, family)
}

// podRangesOf returns the ranges of pods of one IP family.
func (in *inputs) podRangesOf(family gardencorev1beta1.IPFamily) []string {
	return slices.DeleteFunc(slices.Clone(in.podRanges), func(text string) bool {
		prefix, err := netip.ParsePrefix(text)
		return err == nil && prefix.Addr().Is4() != (family == gardencorev1beta1.IPFamilyIPv4)
	})
}

// programsRoutes reports whether the custom route controller runs. It programs routes of IPv4: pods of IPv6 have addresses of their node's network interface.
func (in *inputs) programsRoutes() bool {
	return in.config.UsesCustomRouteController() && in.hasFamily(gardencorev1beta1.IPFamilyIPv4)
}

// givesPodRanges reports whether the IPAM controller gives nodes their ranges of pods.
func (in *inputs) givesPodRanges() bool {
	return in.hasFamily(gardencorev1beta1.IPFamilyIPv6) || in.hasIPv6Nodes
}

// balancesLoad reports whether the load balancer controller runs.
func (in *inputs) balancesLoad() bool {
	return in.config.LoadBalancerController != nil && in.config.LoadBalancerController.Enabled
}
