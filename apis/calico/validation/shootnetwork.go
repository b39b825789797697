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

// ValidateShootNetwork judges all that a shoot asks of Calico on its infrastructure. It refuses what the Network controller refuses, in the same
// words, and what would not come out as it is written; warnings tell of wishes that are not fulfilled and do no harm.
//
// old is the shoot as it was, nil for a new one. What is wrong with it already is not said again: a shoot that has come to something does not
// have to be repaired with the next change. The shoots have workers and networks of type calico.
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
	// The controller comes to what changes once nothing else is wrong. Without nodes everything can change.
	if len(errs) == 0 && !staysHibernated(shoot, old) {
		errs = ratcheting.Introduced(before.validateUpdate(before), after.validateUpdate(before))
	}
	return errs, warnings
}

// hasChanged reports whether anything is different of what look goes by. Most writes of shoots are about something else.
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

// staysHibernated reports whether the shoot has no nodes, on purpose, and is to go on so.
func staysHibernated(shoot, old *gardencorev1beta1.Shoot) bool {
	hibernation := shoot.Spec.Hibernation
	return old.Status.IsHibernated && hibernation != nil && hibernation.Enabled != nil && *hibernation.Enabled
}

// evaluation is what is seen of one shoot.
type evaluation struct {
	// config is nil where it cannot be read at all.
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

// validateCreate says why a new shoot cannot have its data plane.
func (v evaluation) validateCreate() field.ErrorList {
	if v.config == nil || len(v.errs) > 0 {
		return nil
	}
	effective, _ := v.config.Default(v.context)
	return listOf(changeOf(nil, effective, v.cloudRoutes).Validate())
}

// validateUpdate says why the shoot cannot come from what it was. Nothing is said of what cannot be read.
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

// contextOf knows what the controller will know, but for what is deployed.
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
		// What is no range is Gardener's to refuse.
		if parsed, err := netip.ParsePrefix(text); err == nil {
			context.NodeRanges = append(context.NodeRanges, parsed.Masked())
		}
	}
	return context
}

// DecodingErrors turns what a Decode function of v1alpha1 says of a document into errors about path: one for each field that is wrong.
func DecodingErrors(path *field.Path, err error) field.ErrorList { return codec.FieldErrors(path, err) }
