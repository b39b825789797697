package validation

import (
	"net/netip"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/example/v1alpha1"
)

// ValidateInfrastructureConfig validates the configuration of an Infrastructure.
func ValidateInfrastructureConfig(config *v1alpha1.InfrastructureConfig, path *field.Path) field.ErrorList {
	workers := path.Child("networks", "workers")
	if config.Networks.Workers == "" {
		return field.ErrorList{field.Required(workers, "give the range of the nodes, like 10.250.0.0/16")}
	}
	prefix, err := netip.ParsePrefix(config.Networks.Workers)
	switch {
	case err != nil || !prefix.Addr().Is4():
		return field.ErrorList{field.Invalid(workers, config.Networks.Workers, "give an IPv4 range in CIDR notation, like 10.250.0.0/16")}
	case prefix != prefix.Masked():
		return field.ErrorList{field.Invalid(workers, config.Networks.Workers, "is not in canonical form: write "+prefix.Masked().String())}
	default:
		return nil
	}
}

// ValidateInfrastructureConfigUpdate validates the changes of an Infrastructure's configuration.
func ValidateInfrastructureConfigUpdate(before, config *v1alpha1.InfrastructureConfig, path *field.Path) field.ErrorList {
	if before.Networks.Workers == config.Networks.Workers {
		return nil
	}
	return field.ErrorList{field.Forbidden(path.Child("networks", "workers"), "the range of nodes cannot be changed: set it to "+before.Networks.Workers)}
}
