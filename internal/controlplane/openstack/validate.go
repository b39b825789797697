package openstack

import (
	"net/netip"
	"slices"
	"strings"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/apis/openstack/validation"
	"github.com/trellis-garden/trellis/internal/controlplane"
)

// validate checks the configuration. What was accepted once, maybe by upstream's extension, goes on being accepted where a
// change of the cloud profile or a rule of ours would break a shoot that lives.
func (in *inputs) validate(shoot *controlplane.Shoot) field.ErrorList {
	before := in.config
	if in.isNew {
		before = nil
	}
	errs := validation.ValidateControlPlaneConfig(in.config, before, validation.ControlPlaneValidationContext{
		Profile:          in.profile,
		FloatingPoolName: in.floatingPoolName(),
		Region:           in.region,
		Domain:           in.credentials.DomainName,
		ShareNetwork:     in.infrastructure.Networks.ShareNetwork != nil,
		Secrets:          secretReferences(shoot.Cluster.Shoot),
		IPv6:             hasIPv6(shoot.Cluster.Shoot),
	}, configPath())
	if in.isNew {
		errs = append(errs, in.featureGates().Validate(configPath().Child("cloudControllerManager", "featureGates"))...)
	}
	return append(errs, in.validatePodRanges()...)
}

// validatePodRanges checks what the route controller needs to know. It takes a range of each IP family at most.
func (in *inputs) validatePodRanges() field.ErrorList {
	path := field.NewPath("shoot", "spec", "networking", "pods")
	if !in.routesPods {
		return nil
	}
	if len(in.podRanges) == 0 {
		return field.ErrorList{field.Required(path, "give the range of the pods: without it nobody can program routes to them")}
	}
	families := map[bool]bool{}
	for _, text := range in.podRanges {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			return field.ErrorList{field.Invalid(path, text, "give a range in CIDR notation, like 100.96.0.0/11")}
		}
		if families[prefix.Addr().Is4()] {
			return field.ErrorList{field.Invalid(path, strings.Join(in.podRanges, ", "), "give one range of each IP family at most")}
		}
		families[prefix.Addr().Is4()] = true
	}
	return nil
}

// floatingPoolName is what the CloudProfile calls the external network: its name, or its ID.
func (in *inputs) floatingPoolName() string {
	network := in.infrastructure.Networks.FloatingPool
	if in.profile.FindFloatingPool(network.Name, in.region, in.credentials.DomainName) == nil &&
		in.profile.FindFloatingPool(network.ID, in.region, in.credentials.DomainName) != nil {
		return network.ID
	}
	return network.Name
}

func secretReferences(shoot *gardencorev1beta1.Shoot) []string {
	var names []string
	for _, resource := range shoot.Spec.Resources {
		if resource.ResourceRef.Kind == "Secret" {
			names = append(names, resource.Name)
		}
	}
	return names
}

func hasIPv6(shoot *gardencorev1beta1.Shoot) bool {
	networking := shoot.Spec.Networking
	return networking != nil && slices.Contains(networking.IPFamilies, gardencorev1beta1.IPFamilyIPv6)
}

// manilaReference returns the name by which the user refers to credentials for Manila alone, or nothing.
func manilaReference(config *openstackv1alpha1.ControlPlaneConfig) string {
	if config.Storage == nil || config.Storage.CSIManila == nil || config.Storage.CSIManila.CredentialsRef == nil {
		return ""
	}
	return config.Storage.CSIManila.CredentialsRef.Name
}
