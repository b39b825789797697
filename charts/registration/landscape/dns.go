package landscape

import (
	"strings"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
)

// unmanaged is the DNS provider that stands for none (gardener/pkg/apis/core, DNSUnmanaged).
const unmanaged = "unmanaged"

// Domain is a DNS domain under which Gardener makes records, and the type of the DNSRecords.
type Domain struct{ Name, Provider string }

// Domains are those of the shoots on a seed.
type Domains struct {
	// Internal is under which each shoot has a record, nil without one.
	Internal *Domain
	// Defaults are those that shoots get names under when they ask for none.
	Defaults []Domain
	// Unknown says why they could not be read; then nothing is known of the DNSRecords of shoots that name no provider.
	Unknown string
}

// dnsIDs returns the types of a shoot's DNSRecords: of the providers it names as primary, and of the domains it has its names in.
func dnsIDs(shoot *gardencorev1beta1.Shoot, seed *gardencorev1beta1.Seed, domains Domains) []ID {
	var types []string
	if shoot.Spec.DNS != nil {
		for _, provider := range shoot.Spec.DNS.Providers {
			if provider.Primary != nil && *provider.Primary {
				types = append(types, deref(provider.Type))
			}
		}
	}
	if seed != nil {
		if domains.Internal != nil {
			types = append(types, domains.Internal.Provider)
		}
		types = append(types, externalProvider(shoot, domains.Defaults))
	}
	var ids []ID
	for _, typ := range types {
		if typ != unmanaged && typ != "" {
			ids = append(ids, ID{extensionsv1alpha1.DNSRecordResource, typ})
		}
	}
	return ids
}

// externalProvider returns the provider of the domain that the shoot's users know, "" if there is none. One that the shoot names
// as primary stands in its specification and is found there.
func externalProvider(shoot *gardencorev1beta1.Shoot, defaults []Domain) string {
	if shoot.Spec.DNS == nil || shoot.Spec.DNS.Domain == nil {
		return ""
	}
	// Without credentials, somebody else looks after the names of a self-hosted shoot.
	bound := shoot.Spec.CredentialsBindingName != nil || shoot.Spec.SecretBindingName != nil
	if controlPlanePool(shoot) != nil && !bound {
		return unmanaged
	}
	for _, domain := range defaults {
		if strings.HasSuffix(*shoot.Spec.DNS.Domain, "."+domain.Name) {
			return domain.Provider
		}
	}
	return ""
}
