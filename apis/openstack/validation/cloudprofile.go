package validation

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/internal/fields"
	"github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
)

// maxVolumesPerNode is what the Cinder driver takes for every higher limit.
const maxVolumesPerNode = 256

// resolvOptionCharacters are those of options of resolv.conf. Others would not reach the nodes, in whose scripts they end up.
const resolvOptionCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.:"

// ValidateCloudProfileControlPlane checks what a CloudProfile says about the control planes of its shoots: load balancers,
// storage, resolv.conf, and the time that a call to OpenStack may take.
//
// It is for CloudProfiles that are written. Shoots live with those that were written before it was asked.
func ValidateCloudProfileControlPlane(profile *v1alpha1.CloudProfileConfig, fldPath *field.Path) field.ErrorList {
	errs := validateProviders(profile.Constraints.LoadBalancerProviders, fldPath.Child("constraints", "loadBalancerProviders"))
	for i, pool := range profile.Constraints.FloatingPools {
		path := fldPath.Child("constraints", "floatingPools").Index(i).Child("loadBalancerClasses")
		errs = append(errs, validateLoadBalancerClasses(pool.LoadBalancerClasses, nil, ownedByAdmin, path)...)
	}
	errs = append(errs, validateStorageClasses(profile.StorageClasses, fldPath.Child("storageClasses"))...)
	if timeout := profile.RequestTimeout; timeout != nil && timeout.Duration <= 0 {
		errs = append(errs, field.Invalid(fldPath.Child("requestTimeout"), timeout.Duration.String(), "give a duration like 60s, or remove the field"))
	}
	if limit := profile.NodeVolumeAttachLimit; limit != nil && (*limit < 1 || *limit > maxVolumesPerNode) {
		errs = append(errs, field.Invalid(fldPath.Child("nodeVolumeAttachLimit"), *limit,
			fmt.Sprintf("choose a number of volumes between 1 and %d, or remove the field", maxVolumesPerNode)))
	}
	for i, option := range profile.ResolvConfOptions {
		path := fldPath.Child("resolvConfOptions").Index(i)
		if strings.Trim(option, resolvOptionCharacters) != "" || option == "" {
			errs = append(errs, field.Invalid(path, option,
				"give one option per entry, like rotate or timeout:1, without white space: letters, digits and any of - _ . :"))
		}
	}
	return errs
}

func validateProviders(providers []v1alpha1.LoadBalancerProvider, path *field.Path) field.ErrorList {
	if len(providers) == 0 {
		return field.ErrorList{field.Required(path, "give at least one Octavia provider, such as amphora or ovn")}
	}
	var errs field.ErrorList
	for i, provider := range providers {
		errs = append(errs, validateLine(provider.Name, "the name of an Octavia provider, such as amphora or ovn", path.Index(i).Child("name"))...)
	}
	return errs
}

func validateStorageClasses(classes []v1alpha1.StorageClassDefinition, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := fields.Seen[string]{}
	byDefault := ""
	for i, class := range classes {
		classPath := path.Index(i)
		if names.IsDuplicate(class.Name) {
			errs = append(errs, fields.Duplicate(classPath.Child("name"), class.Name))
		}
		if class.Default != nil && *class.Default {
			if byDefault != "" {
				errs = append(errs, field.Invalid(classPath.Child("default"), true, fmt.Sprintf("%q is the default class already: keep one of the two", byDefault)))
			}
			byDefault = class.Name
		}
		errs = append(errs, validateStorageClass(class, classPath)...)
	}
	return errs
}

func validateStorageClass(class v1alpha1.StorageClassDefinition, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if problems := validation.IsDNS1123Subdomain(class.Name); len(problems) > 0 {
		errs = append(errs, field.Invalid(path.Child("name"), class.Name, "give the name of a StorageClass: lower-case letters, digits, '-' and '.'"))
	}
	if class.Provisioner != nil && *class.Provisioner != "" {
		if problems := validation.IsQualifiedName(strings.ToLower(*class.Provisioner)); len(problems) > 0 {
			errs = append(errs, field.Invalid(path.Child("provisioner"), *class.Provisioner, "give the name of a storage driver, like cinder.csi.openstack.org"))
		}
	}
	errs = append(errs, validateChoice(class.ReclaimPolicy, []string{"Delete", "Retain"}, path.Child("reclaimPolicy"))...)
	errs = append(errs, validateChoice(class.VolumeBindingMode, []string{"Immediate", "WaitForFirstConsumer"}, path.Child("volumeBindingMode"))...)
	for _, key := range slices.Sorted(maps.Keys(class.Parameters)) {
		if key == "" {
			errs = append(errs, field.Invalid(path.Child("parameters"), key, "a parameter needs a name: give one, or remove it"))
		}
	}
	errs = append(errs, metav1validation.ValidateLabels(class.Labels, path.Child("labels"))...)
	return append(errs, apivalidation.ValidateAnnotations(class.Annotations, path.Child("annotations"))...)
}

// validateChoice takes an empty text for none, as the upstream extension does.
func validateChoice(value *string, supported []string, path *field.Path) field.ErrorList {
	if value == nil || *value == "" || slices.Contains(supported, *value) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, *value, fmt.Sprintf("choose one of %s, or remove the field", strings.Join(fields.Quoted(supported), ", ")))}
}
