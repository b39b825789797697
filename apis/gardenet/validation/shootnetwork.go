package validation

import (
	"bytes"
	"fmt"
	"slices"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/gardenet/v1alpha1"
	"github.com/trellis-garden/trellis/apis/networking"
	"github.com/trellis-garden/trellis/apis/ratcheting"
)

// ValidateShootNetwork validates the gardenet network of a shoot on its infrastructure. It rejects what the Network controller rejects, with the same messages, and
// warns of what works otherwise than users may expect.
//
// old is the old shoot, nil for a new one. Errors that it already has are not reported again: existing invalid values do not block other changes. The shoots have
// workers and networks of type gardenet.
func ValidateShootNetwork(shoot, old *gardencorev1beta1.Shoot, infrastructure networking.Infrastructure) (errs field.ErrorList, warnings []string) {
	if old != nil && !hasChanged(shoot, old) {
		return nil, nil
	}
	after := evaluate(shoot, infrastructure)
	if old == nil {
		return after.errs, after.warnings
	}
	before := evaluate(old, infrastructure)
	errs, warnings = ratcheting.Introduced(before.errs, after.errs), ratcheting.IntroducedWarnings(before.warnings, after.warnings)
	// The controller validates the update once nothing else is wrong. Without nodes everything can change.
	if len(errs) > 0 || before.effective == nil || after.effective == nil || staysHibernated(shoot, old) {
		return errs, warnings
	}
	if err := (Change{From: tunnelOf(before.effective), To: tunnelOf(after.effective)}).Validate(); err != nil {
		errs = append(errs, err)
	}
	return errs, warnings
}

// hasChanged reports whether any input of evaluate has changed. Most writes of shoots change other fields.
func hasChanged(shoot, old *gardencorev1beta1.Shoot) bool {
	return !slices.Equal(old.Spec.Networking.IPFamilies, shoot.Spec.Networking.IPFamilies) ||
		!equality.Semantic.DeepEqual(old.Spec.Kubernetes.KubeProxy, shoot.Spec.Kubernetes.KubeProxy) || !bytes.Equal(rawConfig(old), rawConfig(shoot))
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
	// effective is the configuration with defaults, nil if it cannot be decoded.
	effective *v1alpha1.NetworkConfig
	errs      field.ErrorList
	warnings  []string
}

func evaluate(shoot *gardencorev1beta1.Shoot, infrastructure networking.Infrastructure) evaluation {
	raw, path := shoot.Spec.Networking.ProviderConfig, configPath()
	result := evaluation{errs: ValidateShoot(&shoot.Spec, infrastructure)}
	config, err := v1alpha1.DecodeNetworkConfig(raw)
	if err != nil {
		result.errs = append(result.errs, DecodingErrors(path, err)...)
		if config, err = v1alpha1.DecodeKnownFields(raw); err != nil {
			return result
		}
	}
	result.errs = append(result.errs, ValidateServiceRouting(config, shoot.Spec.Kubernetes.KubeProxy)...)
	result.errs = append(result.errs, ValidateNetworkConfig(config, shoot.Spec.Networking.IPFamilies, infrastructure, path)...)
	result.effective = config.Default(infrastructure)
	result.warnings = WarningsOf(result.effective, infrastructure)
	return result
}

// WarningsOf returns, in sentences, what users may not expect of an effective configuration.
func WarningsOf(effective *v1alpha1.NetworkConfig, infrastructure networking.Infrastructure) []string {
	var warnings []string
	overlay := effective.Overlay
	if !*overlay.Enabled && !*overlay.CreatePodRoutes && infrastructure.CloudRoutes && !infrastructure.RoutesReported {
		warnings = append(warnings, fmt.Sprintf("pods reach those of other nodes by routes of the cloud (overlay.enabled is false), of which nothing is known on "+
			"infrastructure %q: if it makes none, set overlay.enabled to true", infrastructure.Type))
	}
	if *overlay.CreatePodRoutes && !infrastructure.PodRoutes {
		warnings = append(warnings, "overlay.createPodRoutes connects the pods of nodes in one layer 2 network only: "+
			"Events of Nodes with reason NodesUnreachable tell which nodes are in another one")
	}
	if *overlay.Enabled && !*effective.Masquerade.Enabled {
		warnings = append(warnings, "masquerade.enabled is false: packets of pods that leave the ranges of pods and nodes keep the addresses of pods, "+
			"to which with the overlay on no other network has routes")
	}
	if !*effective.NetworkPolicy.Enabled {
		warnings = append(warnings, "networkPolicy.enabled is false: NetworkPolicies have no effect, neither those of users nor Gardener's own in kube-system")
	}
	return warnings
}
