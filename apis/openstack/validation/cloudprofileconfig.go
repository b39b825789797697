package validation

import (
	"crypto/x509"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/internal/fields"
	"github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
)

// ValidateCloudProfileConfig checks a CloudProfileConfig that is written, at fldPath, against the CloudProfile that it is in.
//
// What is useless but harms nobody is no error, as it is none for the upstream extension: regions that the CloudProfile does not have, and
// mappings of machine images that it does not list, or lists no more, by which nodes live on. CloudProfileWarnings speaks of the former.
func ValidateCloudProfileConfig(config *v1alpha1.CloudProfileConfig, spec *gardencorev1beta1.CloudProfileSpec, fldPath *field.Path) field.ErrorList {
	errs := ValidateCloudProfileControlPlane(config, fldPath)
	errs = append(errs, validateFloatingPools(config.Constraints.FloatingPools, fldPath.Child("constraints", "floatingPools"))...)
	errs = append(errs, validateProviderRegions(config.Constraints.LoadBalancerProviders, fldPath.Child("constraints", "loadBalancerProviders"))...)
	errs = append(errs, validateKeystone(config, spec.Regions, fldPath)...)
	errs = append(errs, validateDNSServers(config.DNSServers, fldPath.Child("dnsServers"))...)
	errs = append(errs, validateServerGroupPolicies(config.ServerGroupPolicies, fldPath.Child("serverGroupPolicies"))...)
	path := fldPath.Child("machineImages")
	errs = append(errs, validateMachineImages(config.MachineImages, spec.MachineCapabilities, path)...)
	return append(errs, validateOfferedImages(config, spec, path)...)
}

func validateFloatingPools(pools []v1alpha1.FloatingPool, path *field.Path) field.ErrorList {
	if len(pools) == 0 {
		return field.ErrorList{field.Required(path, "give at least one external network that shoots may use, or the name *")}
	}
	var errs field.ErrorList
	known := fields.Seen[optionalTexts]{}
	for i, pool := range pools {
		poolPath := path.Index(i)
		errs = append(errs, validateName(pool.Name, "the name of an external network, in which * stands for any characters", poolPath.Child("name"))...)
		errs = append(errs, validateScope(pool.Region, "region", poolPath.Child("region"))...)
		errs = append(errs, validateScope(pool.Domain, "Keystone domain", poolPath.Child("domain"))...)
		if pattern := pool.DefaultFloatingSubnet; pattern != nil {
			errs = append(errs, validateDefaultSubnet(*pattern, poolPath.Child("defaultFloatingSubnet"))...)
		}
		if known.IsDuplicate(newOptionalTexts(&pool.Name, pool.Region, pool.Domain)) {
			errs = append(errs, fields.Duplicate(poolPath.Child("name"), pool.Name))
		}
	}
	return errs
}

// validateScope refuses an empty text, which is neither a region or domain nor none.
func validateScope(scope *string, kind string, path *field.Path) field.ErrorList {
	if scope == nil || *scope != "" {
		return nil
	}
	return field.ErrorList{field.Invalid(path, "", fmt.Sprintf("no %s has an empty name: give the %s, or remove the field to mean all", kind, kind))}
}

func validateDefaultSubnet(pattern string, path *field.Path) field.ErrorList {
	if invalid := validateName(pattern, "a subnet name, glob or ~regular expression, or remove the field", path); pattern == "" || len(pattern) > maxNameLength {
		return invalid
	}
	return validateSubnetPattern(pattern, path)
}

func validateProviderRegions(providers []v1alpha1.LoadBalancerProvider, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	known := fields.Seen[optionalTexts]{}
	for i, provider := range providers {
		errs = append(errs, validateScope(provider.Region, "region", path.Index(i).Child("region"))...)
		if known.IsDuplicate(newOptionalTexts(&provider.Name, provider.Region)) {
			errs = append(errs, fields.Duplicate(path.Index(i).Child("name"), provider.Name))
		}
	}
	return errs
}

func validateKeystone(config *v1alpha1.CloudProfileConfig, offered []gardencorev1beta1.Region, fldPath *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch {
	case config.KeyStoneURL != "":
		errs = append(errs, validateKeystoneURL(config.KeyStoneURL, fldPath.Child("keystoneURL"))...)
	case len(config.KeyStoneURLs) == 0:
		errs = append(errs, field.Required(fldPath.Child("keystoneURL"), "give the URL of Keystone, like https://keystone.example.org:5000/v3, or one per region in keystoneURLs"))
	}
	errs = append(errs, validateCertificates(config.KeyStoneCACert, fldPath.Child("keystoneCACert"))...)
	regions := fields.Seen[string]{}
	for i, regional := range config.KeyStoneURLs {
		path := fldPath.Child("keystoneURLs").Index(i)
		switch {
		case regional.Region == "":
			errs = append(errs, field.Required(path.Child("region"), "give the region that the URL is for; one for all others goes to keystoneURL"))
		case regions.IsDuplicate(regional.Region):
			errs = append(errs, fields.Duplicate(path.Child("region"), regional.Region))
		}
		errs = append(errs, validateKeystoneURL(regional.URL, path.Child("url"))...)
		errs = append(errs, validateCertificates(regional.CACert, path.Child("caCert"))...)
	}
	if config.KeyStoneURL == "" && len(config.KeyStoneURLs) > 0 {
		for _, region := range offered {
			if !regions[region.Name] {
				errs = append(errs, field.Required(fldPath.Child("keystoneURLs"), fmt.Sprintf("region %q has no URL of Keystone, so that no shoot can live there: "+
					"add an entry for it, or set keystoneURL for all regions without one", region.Name)))
			}
		}
	}
	return errs
}

// validateKeystoneURL takes what the controllers' sessions take.
func validateKeystoneURL(text string, path *field.Path) field.ErrorList {
	const example = "like https://keystone.example.org:5000/v3"
	if text == "" {
		return field.ErrorList{field.Required(path, "give the URL of Keystone, "+example)}
	}
	parsed, err := url.Parse(text)
	switch {
	case err != nil || parsed.Host == "" || parsed.Scheme != "https" && parsed.Scheme != "http":
		return field.ErrorList{field.Invalid(path, text, "give an http or https URL, "+example)}
	case parsed.User != nil:
		return field.ErrorList{field.Invalid(path, field.OmitValueType{}, "credentials do not belong into the URL: remove them, and give it "+example)}
	case parsed.RawQuery != "" || parsed.Fragment != "":
		return field.ErrorList{field.Invalid(path, text, "remove what begins with ? or #: give the URL "+example)}
	case strings.HasSuffix(strings.TrimRight(parsed.Path, "/"), "/v2.0"):
		return field.ErrorList{field.Invalid(path, text, "is of version 2.0: use Keystone's version 3, "+example)}
	}
	return nil
}

// validateCertificates takes an empty text for none.
func validateCertificates(bundle *string, path *field.Path) field.ErrorList {
	if bundle == nil || *bundle == "" || x509.NewCertPool().AppendCertsFromPEM([]byte(*bundle)) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, field.OmitValueType{}, "holds no certificate: give one or more in PEM, or remove the field")}
}

func validateDNSServers(servers []string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	known := fields.Seen[netip.Addr]{}
	for i, server := range servers {
		address, err := netip.ParseAddr(server)
		switch {
		case err != nil || address.Zone() != "":
			errs = append(errs, field.Invalid(path.Index(i), server, "give the IP address of a DNS server, like 10.10.10.11 or 2001:db8::53"))
		case known.IsDuplicate(address): // which Neutron refuses
			errs = append(errs, fields.Duplicate(path.Index(i), server))
		}
	}
	return errs
}

func validateServerGroupPolicies(policies []string, path *field.Path) field.ErrorList {
	supported := []string{"affinity", "anti-affinity", "soft-affinity", "soft-anti-affinity"}
	var errs field.ErrorList
	known := fields.Seen[string]{}
	for i, policy := range policies {
		switch {
		case !slices.Contains(supported, policy):
			errs = append(errs, field.Invalid(path.Index(i), policy, "Nova has no such policy: choose one of "+strings.Join(fields.Quoted(supported), ", ")))
		case known.IsDuplicate(policy):
			errs = append(errs, fields.Duplicate(path.Index(i), policy))
		}
	}
	return errs
}
