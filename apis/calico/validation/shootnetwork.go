package validation

import (
	"bytes"
	"net/netip"
	"slices"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/calico/v1alpha1"
	"github.com/trellis-garden/trellis/apis/internal/codec"
	"github.com/trellis-garden/trellis/apis/networking"
	"github.com/trellis-garden/trellis/apis/ratcheting"
)

// ValidateShootNetwork validates the Calico network of a shoot on its infrastructure. It rejects what the Network controller rejects, with the
// same messages, and values that would be overridden; harmless overrides are warnings.
//
// old is the old shoot, nil for a new one. Errors that it already has are not reported again: existing invalid values do not block other
// changes. The shoots have workers and networks of type calico.
func ValidateShootNetwork(shoot, old *gardencorev1beta1.Shoot, infrastructure networking.Infrastructure) (errs field.ErrorList, warnings []string) {
	if old != nil && !hasChanged(shoot, old, infrastructure) {
		return nil, nil
	}
	after := evaluate(shoot, infrastructure)
	if old == nil {
		return append(after.errs, after.validateCreate()...), after.warnings
	}
	before := evaluate(old, infrastructure)
	errs = ratcheting.Introduced(before.errs, after.errs)
	warnings = ratcheting.IntroducedWarnings(before.warnings, after.warnings)
	// The controller validates the update once nothing else is wrong. Without nodes everything can change.
	if len(errs) == 0 && !staysHibernated(shoot, old) {
		errs = ratcheting.Introduced(before.validateUpdate(before), after.validateUpdate(before))
	}
	return errs, warnings
}

// hasChanged reports whether any input of evaluate has changed. Most writes of shoots change other fields.
func hasChanged(shoot, old *gardencorev1beta1.Shoot, infrastructure networking.Infrastructure) bool {
	was, is := contextOf(old, infrastructure), contextOf(shoot, infrastructure)
	if !slices.Equal(was.NodeRanges, is.NodeRanges) {
		return true
	}
	was.NodeRanges, is.NodeRanges = nil, nil
	return !equality.Semantic.DeepEqual(was, is) || !equality.Semantic.DeepEqual(old.Spec.Kubernetes.KubeProxy, shoot.Spec.Kubernetes.KubeProxy) ||
		!bytes.Equal(rawConfig(old), rawConfig(shoot))
}

func rawConfig(shoot *gardencorev1beta1.Shoot) []byte {
	if config := shoot.Spec.Networking.ProviderConfig; config != nil {
		return config.Raw
	}
	return nil
}

// staysHibernated reports whether the shoot is hibernated before and after the update, and so has no nodes.
func staysHibernated(shoot, old *gardencorev1beta1.Shoot) bool {
	hibernation := shoot.Spec.Hibernation
	return old.Status.IsHibernated && hibernation != nil && hibernation.Enabled != nil && *hibernation.Enabled
}

// evaluation is the result of evaluating one shoot.
type evaluation struct {
	// config is nil if it cannot be decoded.
	config      *v1alpha1.NetworkConfig
	context     v1alpha1.DefaultingContext
	cloudRoutes bool
	errs        field.ErrorList
	warnings    []string
}

func evaluate(shoot *gardencorev1beta1.Shoot, infrastructure networking.Infrastructure) evaluation {
	raw, path := shoot.Spec.Networking.ProviderConfig, configPath()
	result := evaluation{context: contextOf(shoot, infrastructure), cloudRoutes: infrastructure.CloudRoutes}
	config, err := v1alpha1.DecodeNetworkConfig(raw)
	if err != nil {
		result.errs = append(result.errs, DecodingErrors(path, err)...)
		if config, err = v1alpha1.DecodeKnownFields(raw); err != nil {
			return result
		}
	}
	result.config = config
	result.errs = append(result.errs, ValidateNetworkConfig(config, result.context.IPFamilies, path)...)
	result.errs = append(result.errs, ValidateShoot(config, &shoot.Spec, infrastructure)...)
	result.errs = addUnlessKnown(result.errs, ValidateNewNetworkConfig(config, result.context, path)...)
	result.warnings = WarningsOf(config, result.context, path)
	return result
}

// validateCreate returns why a new shoot cannot have its data plane.
func (v evaluation) validateCreate() field.ErrorList {
	if v.config == nil || len(v.errs) > 0 {
		return nil
	}
	effective, _ := v.config.Default(v.context)
	return listOf(changeOf(nil, effective, v.cloudRoutes).Validate())
}

// validateUpdate returns why the update is not possible. It returns nothing if a configuration cannot be decoded.
func (v evaluation) validateUpdate(before evaluation) field.ErrorList {
	if v.config == nil || before.config == nil {
		return nil
	}
	was, _ := before.config.Default(before.context)
	v.context.DeployedIPAM = was.IPAM.Type
	will, _ := v.config.Default(v.context)
	return listOf(changeOf(was, will, v.cloudRoutes).Validate())
}

func listOf(err *field.Error) field.ErrorList {
	if err == nil {
		return nil
	}
	return field.ErrorList{err}
}

// contextOf returns the context that the controller will use, except for what is deployed.
func contextOf(shoot *gardencorev1beta1.Shoot, infrastructure networking.Infrastructure) v1alpha1.DefaultingContext {
	context := v1alpha1.DefaultingContext{
		IPFamilies: shoot.Spec.Networking.IPFamilies,
		IPIP:       infrastructure.IPIP, VXLAN: infrastructure.VXLAN, PodRoutesByPlugin: infrastructure.PodRoutes,
	}
	if autoscaler := shoot.Spec.Kubernetes.VerticalPodAutoscaler; autoscaler != nil {
		context.VPA = autoscaler.Enabled
	}
	var nodes []string
	if status := shoot.Status.Networking; status != nil {
		nodes = status.Nodes
	}
	if spec := shoot.Spec.Networking.Nodes; len(nodes) == 0 && spec != nil {
		nodes = []string{*spec}
	}
	for _, text := range nodes {
		// Gardener rejects invalid ranges.
		if parsed, err := netip.ParsePrefix(text); err == nil {
			context.NodeRanges = append(context.NodeRanges, parsed.Masked())
		}
	}
	return context
}

// DecodingErrors converts the error of a Decode function of v1alpha1 into errors below path: one for each invalid field.
func DecodingErrors(path *field.Path, err error) field.ErrorList { return codec.FieldErrors(path, err) }
