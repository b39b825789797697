package validation

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/internal/fields"
	"github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
)

// classOwner is the author of load balancer classes.
type classOwner bool

const (
	ownedByUser  classOwner = false // in a ControlPlaneConfig
	ownedByAdmin classOwner = true  // in a CloudProfile
)

// validateLoadBalancerClasses checks classes as far as they are not among the old ones.
func validateLoadBalancerClasses(classes, oldClasses []v1alpha1.LoadBalancerClass, by classOwner, path *field.Path) field.ErrorList {
	if equality.Semantic.DeepEqual(classes, oldClasses) {
		return nil
	}
	var errs field.ErrorList
	names, purposes, known := fields.Seen[string]{}, fields.Seen[string]{}, classesOf(oldClasses)
	for i, class := range classes {
		classPath := path.Index(i)
		if names.IsDuplicate(class.Name) {
			errs = append(errs, fields.Duplicate(classPath.Child("name"), class.Name))
		}
		if class.Purpose != nil && purposes.IsDuplicate(*class.Purpose) {
			errs = append(errs, field.Invalid(classPath.Child("purpose"), *class.Purpose, "another class has this purpose: remove it from one of the two"))
		}
		if !known[classKey(class)] {
			errs = append(errs, validateLoadBalancerClass(class, by, classPath)...)
		}
	}
	return errs
}

func classKey(class v1alpha1.LoadBalancerClass) optionalTexts {
	return newOptionalTexts(&class.Name, class.Purpose, class.FloatingSubnetID, class.FloatingSubnetTags, class.FloatingSubnetName, class.FloatingNetworkID, class.SubnetID)
}

func classesOf(classes []v1alpha1.LoadBalancerClass) map[optionalTexts]bool {
	set := make(map[optionalTexts]bool, len(classes))
	for _, class := range classes {
		set[classKey(class)] = true
	}
	return set
}

func validateLoadBalancerClass(class v1alpha1.LoadBalancerClass, by classOwner, path *field.Path) field.ErrorList {
	errs := validateLine(class.Name, "the name by which Services choose the class", path.Child("name"))
	if class.Purpose != nil {
		errs = append(errs, validatePurpose(*class.Purpose, by, path.Child("purpose"))...)
	}
	var selections []string
	for _, selection := range []struct {
		name  string
		value *string
	}{
		{"floatingSubnetID", class.FloatingSubnetID},
		{"floatingSubnetName", class.FloatingSubnetName},
		{"floatingSubnetTags", class.FloatingSubnetTags},
	} {
		if selection.value != nil {
			selections = append(selections, selection.name)
		}
	}
	if len(selections) > 1 {
		errs = append(errs, field.Forbidden(path.Child(selections[1]),
			fmt.Sprintf("%s exclude each other: keep one of them", strings.Join(selections, ", "))))
	}
	for _, id := range []struct {
		name, kind string
		value      *string
	}{
		{"floatingNetworkID", "external network", class.FloatingNetworkID},
		{"floatingSubnetID", "subnet of the external network", class.FloatingSubnetID},
		{"subnetID", "subnet", class.SubnetID},
	} {
		if id.value != nil {
			errs = append(errs, validateUUID(*id.value, id.kind, path.Child(id.name))...)
		}
	}
	return append(errs, validateSubnetSelection(class, path)...)
}

func validatePurpose(purpose string, by classOwner, path *field.Path) field.ErrorList {
	supported := []string{v1alpha1.LoadBalancerPurposeDefault, v1alpha1.LoadBalancerPurposePrivate}
	if by == ownedByAdmin {
		supported = append(supported, v1alpha1.LoadBalancerPurposeVPN)
	}
	if slices.Contains(supported, purpose) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, purpose, fmt.Sprintf("choose one of %s, or remove the field", strings.Join(fields.Quoted(supported), ", ")))}
}

func validateSubnetSelection(class v1alpha1.LoadBalancerClass, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if name := class.FloatingSubnetName; name != nil {
		namePath := path.Child("floatingSubnetName")
		invalid := validateLine(*name, "a subnet name, glob or ~regular expression, or remove the field", namePath)
		if len(invalid) == 0 {
			invalid = validateSubnetPattern(*name, namePath)
		}
		errs = append(errs, invalid...)
	}
	if tags := class.FloatingSubnetTags; tags != nil {
		errs = append(errs, validateLine(*tags, "tags of subnets, separated by commas, or remove the field", path.Child("floatingSubnetTags"))...)
	}
	return errs
}

// validateOfferedClasses requires that a user's class is one of those that the CloudProfile's floating pool lists, if it
// lists any. Name and purpose of a class are the user's choice.
func validateOfferedClasses(classes, oldClasses []v1alpha1.LoadBalancerClass, in ControlPlaneValidationContext, path *field.Path) field.ErrorList {
	if in.Profile == nil {
		return nil
	}
	pool := in.Profile.FindFloatingPool(in.FloatingPoolName, in.Region, in.Domain)
	if pool == nil || len(pool.LoadBalancerClasses) == 0 {
		return nil
	}
	var names []string
	offered := map[optionalTexts]bool{}
	for _, class := range pool.LoadBalancerClasses {
		names = append(names, class.Name)
		offered[networksKey(class)] = true
	}
	detail := fmt.Sprintf("the CloudProfile does not allow these networks with floating pool %q: "+
		"take those of one of its classes %s, or leave loadBalancerClasses out to have exactly these", in.FloatingPoolName, strings.Join(fields.Quoted(names), ", "))
	var errs field.ErrorList
	known := classesOf(oldClasses)
	for i, class := range classes {
		if !known[classKey(class)] && !offered[networksKey(class)] {
			errs = append(errs, field.Invalid(path.Index(i), class.Name, detail))
		}
	}
	return errs
}

func networksKey(class v1alpha1.LoadBalancerClass) optionalTexts {
	class.Name, class.Purpose = "", nil
	return classKey(class)
}

func validateLoadBalancerConfig(config *v1alpha1.LoadBalancerConfig, path *field.Path) field.ErrorList {
	if config == nil {
		return nil
	}
	var errs field.ErrorList
	if config.AvailabilityZone != nil {
		errs = append(errs, validateLine(*config.AvailabilityZone, "the name of an Octavia availability zone, or remove the field", path.Child("availabilityZone"))...)
	}
	if config.FlavorID != nil {
		errs = append(errs, validateUUID(*config.FlavorID, "Octavia flavor", path.Child("flavorID"))...)
	}
	if limit := config.MaxSharedLB; limit != nil && *limit < 1 {
		errs = append(errs, field.Invalid(path.Child("maxSharedLB"), *limit, "give the number of Services that may share a load balancer, at least 1"))
	}
	if hostname := config.IngressHostname; hostname != nil && hostname.Suffix != nil {
		if problems := validation.IsDNS1123Subdomain(*hostname.Suffix); len(problems) > 0 {
			errs = append(errs, field.Invalid(path.Child("ingressHostname", "suffix"), *hostname.Suffix, "give a DNS domain like nip.io, without a dot in front or at the end"))
		}
	}
	return append(errs, validateMonitor(config.Monitor, path.Child("monitor"))...)
}

// maxMonitorRetries is Octavia's own limit.
const maxMonitorRetries = 10

func validateMonitor(monitor *v1alpha1.HealthMonitor, path *field.Path) field.ErrorList {
	if monitor == nil {
		return nil
	}
	errs := validateSeconds(monitor.Delay, path.Child("delay"))
	errs = append(errs, validateSeconds(monitor.Timeout, path.Child("timeout"))...)
	errs = append(errs, validateRetries(monitor.MaxRetries, path.Child("maxRetries"))...)
	return append(errs, validateRetries(monitor.MaxRetriesDown, path.Child("maxRetriesDown"))...)
}

func validateSeconds(duration *metav1.Duration, path *field.Path) field.ErrorList {
	if duration == nil || duration.Duration >= time.Second && duration.Duration%time.Second == 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(path, duration.Duration.String(), "give whole seconds, at least 1s")}
}

func validateRetries(number *int32, path *field.Path) field.ErrorList {
	if number == nil || *number >= 1 && *number <= maxMonitorRetries {
		return nil
	}
	return field.ErrorList{field.Invalid(path, *number, fmt.Sprintf("choose a number between 1 and %d", maxMonitorRetries))}
}
