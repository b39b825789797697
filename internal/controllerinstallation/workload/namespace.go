package workload

import (
	"context"
	"errors"
	"fmt"
	"strings"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/gardener/gardener/pkg/controllerutils"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	podsecurity "k8s.io/pod-security-admission/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Namespace returns the namespace for which a chart is rendered: extension-<installation>. It is deleted with the installation. Namespaced objects
// without a namespace are not created there: gardener-resource-manager puts them into the namespace default.
func Namespace(installation string) string { return "extension-" + installation }

// GardenNamespace returns the namespace of a seed in the garden.
func GardenNamespace(seed string) string { return "seed-" + seed }

// applyNamespace keeps what other clients have written to the namespace.
func applyNamespace(ctx context.Context, c client.Client, installation Installation, facts *SeedFacts) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: Namespace(installation.Name)}}
	describe := func() error {
		if !namespace.DeletionTimestamp.IsZero() {
			return errors.New("it is still being deleted")
		}
		describeNamespace(&namespace.ObjectMeta, installation, facts)
		return nil
	}
	if _, err := controllerutils.GetAndCreateOrMergePatch(ctx, c, namespace, describe, controllerutils.SkipEmptyPatch{}); err != nil {
		return fmt.Errorf("applying namespace %s: %w", namespace.Name, err)
	}
	return nil
}

// describeNamespace sets the labels and annotations on which Gardener's controllers and webhooks in the seed depend.
func describeNamespace(namespace *metav1.ObjectMeta, installation Installation, facts *SeedFacts) {
	metav1.SetMetaDataLabel(namespace, v1beta1constants.GardenRole, v1beta1constants.GardenRoleExtension)
	metav1.SetMetaDataLabel(namespace, v1beta1constants.LabelControllerRegistrationName, installation.Registration)
	metav1.SetMetaDataLabel(namespace, resourcesv1alpha1.HighAvailabilityConfigConsider, "true")
	metav1.SetMetaDataAnnotation(namespace, resourcesv1alpha1.HighAvailabilityConfigZones, strings.Join(installation.Seed.Spec.Provider.Zones, ","))
	if facts.IsGarden {
		metav1.SetMetaDataLabel(namespace, v1beta1constants.LabelNetworkPolicyAccessTargetAPIServer, v1beta1constants.LabelNetworkPolicyAllowed)
	}
	if installation.PodSecurity == "" {
		delete(namespace.Labels, podsecurity.EnforceLevelLabel)
	} else {
		metav1.SetMetaDataLabel(namespace, podsecurity.EnforceLevelLabel, installation.PodSecurity)
	}
}
