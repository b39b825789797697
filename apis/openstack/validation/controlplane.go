package validation

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/internal/fields"
	"github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
)

// ControlPlaneValidationContext is what a ControlPlaneConfig has to fit.
type ControlPlaneValidationContext struct {
	// Profile is the CloudProfile's configuration. Without it, what depends on it is not checked.
	Profile *v1alpha1.CloudProfileConfig
	// FloatingPoolName is the shoot's external network as the InfrastructureConfig names it, Region its region, and Domain
	// the Keystone domain (by name) of its project.
	FloatingPoolName, Region, Domain string
	// ShareNetwork is true when the shoot has a Manila share network, or asks for one.
	ShareNetwork bool
	// Secrets are the names of those entries in the Shoot's spec.resources that refer to Secrets.
	Secrets []string
	// IPv6 is true when the Shoot's ipFamilies contain IPv6.
	IPv6 bool
}

// ValidateControlPlaneConfig checks a configuration by itself and against its context. oldConfig is the one that was
// accepted before, nil for a new shoot.
//
// Whatever depends on the CloudProfile, and the load balancer classes altogether, are checked only as far as they differ
// from oldConfig, and so is whether Manila has credentials of its own: a CloudProfile changes, and the upstream extension
// admits what this function does not. A shoot that lives with that shall go on living. Whoever does not know what was
// before, but that it was accepted, gives config twice.
//
// Names of feature gates are checked for their form only: which there are in a version of Kubernetes is Gardener's to know, and the callers ask it.
func ValidateControlPlaneConfig(config, oldConfig *v1alpha1.ControlPlaneConfig, in ControlPlaneValidationContext, fldPath *field.Path) field.ErrorList {
	var oldClasses []v1alpha1.LoadBalancerClass
	if oldConfig != nil {
		oldClasses = oldConfig.LoadBalancerClasses
	}
	classesPath := fldPath.Child("loadBalancerClasses")

	errs := validateLoadBalancerProvider(config, oldConfig, in, fldPath.Child("loadBalancerProvider"))
	errs = append(errs, validateLoadBalancerClasses(config.LoadBalancerClasses, oldClasses, ownedByUser, classesPath)...)
	errs = append(errs, validateOfferedClasses(config.LoadBalancerClasses, oldClasses, in, classesPath)...)
	errs = append(errs, validateLoadBalancerConfig(config.LoadBalancer, fldPath.Child("loadBalancer"))...)
	errs = append(errs, validateNodeAddresses(config.NodeAddresses, in.IPv6, fldPath.Child("nodeAddresses"))...)
	if manager := config.CloudControllerManager; manager != nil {
		errs = append(errs, fields.FeatureGates(manager.FeatureGates, fldPath.Child("cloudControllerManager", "featureGates"))...)
	}
	return append(errs, validateManila(manilaOf(config), manilaOf(oldConfig), in, fldPath.Child("storage", "csiManila"))...)
}

// manilaOf returns the configuration of Manila if it is enabled.
func manilaOf(config *v1alpha1.ControlPlaneConfig) *v1alpha1.CSIManila {
	if config == nil || config.Storage == nil || config.Storage.CSIManila == nil || !config.Storage.CSIManila.Enabled {
		return nil
	}
	return config.Storage.CSIManila
}

func validateManila(manila, oldManila *v1alpha1.CSIManila, in ControlPlaneValidationContext, path *field.Path) field.ErrorList {
	if manila == nil {
		return nil
	}
	var errs field.ErrorList
	if !in.ShareNetwork {
		errs = append(errs, field.Invalid(path.Child("enabled"), true,
			"Manila needs a share network: set networks.shareNetwork.enabled to true in the InfrastructureConfig, or this to false"))
	}
	var (
		refPath       = path.Child("credentialsRef")
		hadNoneBefore = oldManila != nil && oldManila.CredentialsRef == nil
	)
	switch reference := manila.CredentialsRef; {
	case reference == nil && !hadNoneBefore:
		errs = append(errs, field.Required(refPath, "give the name of a Secret in the Shoot's spec.resources with credentials for Manila alone; "+
			"without it every user of the shoot could read the infrastructure's credentials"))
	case reference != nil && reference.Name == "":
		errs = append(errs, field.Required(refPath.Child("name"), "give the name of a Secret in the Shoot's spec.resources"))
	case reference != nil && !slices.Contains(in.Secrets, reference.Name):
		errs = append(errs, field.Invalid(refPath.Child("name"), reference.Name,
			"the Shoot's spec.resources refer to no Secret by this name: add it there, or correct the name"))
	}
	return errs
}

func validateLoadBalancerProvider(config, oldConfig *v1alpha1.ControlPlaneConfig, in ControlPlaneValidationContext, path *field.Path) field.ErrorList {
	offered := loadBalancerProviders(in.Profile, in.Region)
	provider := config.LoadBalancerProvider
	switch {
	case provider == "" && len(offered) > 0:
		return field.ErrorList{field.Required(path, "choose one of "+strings.Join(fields.Quoted(offered), ", "))}
	case provider == "":
		return field.ErrorList{field.Required(path, "give the name of an Octavia provider, such as amphora or ovn")}
	case in.Profile == nil, oldConfig != nil && oldConfig.LoadBalancerProvider == provider, slices.Contains(offered, provider):
		return nil
	case len(offered) == 0:
		return field.ErrorList{field.Invalid(path, provider,
			fmt.Sprintf("the CloudProfile has no load balancer provider for region %q: ask its admin to add one", in.Region))}
	default:
		return field.ErrorList{field.Invalid(path, provider,
			fmt.Sprintf("the CloudProfile does not allow it in region %q: choose one of %s", in.Region, strings.Join(fields.Quoted(offered), ", ")))}
	}
}

// loadBalancerProviders lists the providers for a region. Entries without region are for regions without their own.
func loadBalancerProviders(profile *v1alpha1.CloudProfileConfig, region string) []string {
	if profile == nil {
		return nil
	}
	var regional, general []string
	for _, provider := range profile.Constraints.LoadBalancerProviders {
		switch {
		case provider.Region == nil:
			general = append(general, provider.Name)
		case *provider.Region == region:
			regional = append(regional, provider.Name)
		}
	}
	if len(regional) > 0 {
		return regional
	}
	return general
}

func validateNodeAddresses(addresses *v1alpha1.NodeAddresses, ipv6 bool, path *field.Path) field.ErrorList {
	if addresses == nil {
		return nil
	}
	errs := validateNetworkNames(addresses.PublicNetworkNames, path.Child("publicNetworkNames"))
	errs = append(errs, validateNetworkNames(addresses.InternalNetworkNames, path.Child("internalNetworkNames"))...)
	isPublic := fields.SetOf(addresses.PublicNetworkNames)
	for i, name := range addresses.InternalNetworkNames {
		if isPublic[name] {
			errs = append(errs, field.Invalid(path.Child("internalNetworkNames").Index(i), name,
				"a network is either internal or public: remove the name here or in publicNetworkNames"))
		}
	}
	known := fields.Seen[string]{}
	for i, text := range addresses.SortOrder {
		_, invalid := fields.ParseRange(text, path.Child("sortOrder").Index(i))
		errs = append(errs, invalid...)
		if known.IsDuplicate(text) {
			errs = append(errs, fields.Duplicate(path.Child("sortOrder").Index(i), text))
		}
	}
	if addresses.IPv6Disabled != nil && *addresses.IPv6Disabled && ipv6 {
		errs = append(errs, field.Forbidden(path.Child("ipv6Disabled"), "nodes of a shoot with IPv6 need their IPv6 addresses: remove the field"))
	}
	return errs
}

func validateNetworkNames(names []string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	known := fields.Seen[string]{}
	for i, name := range names {
		errs = append(errs, validateLine(name, "the name of a network", path.Index(i))...)
		if known.IsDuplicate(name) {
			errs = append(errs, fields.Duplicate(path.Index(i), name))
		}
	}
	return errs
}
