package workload

import (
	"fmt"
	"maps"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/utils"
)

// Values returns the values that are merged into a chart's values (key "gardener"), equal to gardenlet's, in the types of JSON. It fails while the
// identity of the seed's cluster is unknown.
func Values(installation Installation, garden Garden, facts *SeedFacts) (map[string]any, error) {
	seed, err := seedValues(installation.Seed)
	if err != nil {
		return nil, err
	}
	gardenValues := map[string]any{"clusterIdentity": garden.Identity}
	if installation.InjectGardenKubeconfig {
		kubeconfig, err := kubeconfigSecret(installation, garden)
		if err != nil {
			return nil, err
		}
		gardenValues["genericKubeconfigSecretName"] = kubeconfig.Name
	}
	var version string
	if gardenlet := installation.Seed.Status.Gardener; gardenlet != nil {
		version = gardenlet.Version
	}
	values, err := utils.ToValuesMap(map[string]any{"gardener": map[string]any{
		"version":   version,
		"garden":    gardenValues,
		"gardenlet": map[string]any{"featureGates": facts.FeatureGates},
		"seed":      seed,
	}})
	if err != nil {
		return nil, fmt.Errorf("writing the values that Gardener adds: %w", err)
	}
	return values, nil
}

func seedValues(seed *gardencorev1beta1.Seed) (map[string]any, error) {
	if seed.Status.ClusterIdentity == nil {
		return nil, fmt.Errorf("the identity of the cluster of seed %s is not known yet", seed.Name)
	}
	var volumeProvider string
	var volumeProviders []gardencorev1beta1.SeedVolumeProvider
	if volume := seed.Spec.Volume; volume != nil {
		volumeProviders = volume.Providers
		if len(volumeProviders) > 0 {
			volumeProvider = volumeProviders[0].Name
		}
	}
	values := map[string]any{
		"name":            seed.Name,
		"clusterIdentity": *seed.Status.ClusterIdentity,
		"annotations":     seed.Annotations,
		"labels":          seed.Labels,
		"provider":        seed.Spec.Provider.Type,
		"region":          seed.Spec.Provider.Region,
		"volumeProvider":  volumeProvider,
		"volumeProviders": volumeProviders,
		"protected":       v1beta1helper.TaintsHave(seed.Spec.Taints, gardencorev1beta1.SeedTaintProtected),
		"visible":         isVisible(seed),
		"taints":          seed.Spec.Taints,
		"networks":        seed.Spec.Networks,
		"blockCIDRs":      seed.Spec.Networks.BlockCIDRs,
		"spec":            seed.Spec,
	}
	if ingress := seed.Spec.Ingress; ingress != nil {
		values["ingressDomain"] = ingress.Domain
	}
	return values, nil
}

// isVisible returns true by default, as Gardener's API server does.
func isVisible(seed *gardencorev1beta1.Seed) bool {
	settings := seed.Spec.Settings
	return settings == nil || settings.Scheduling == nil || settings.Scheduling.Visible
}

// MergeGardenerValues merges the result of Values into a chart's values, and changes neither. Below the key "gardener", each entry of Gardener
// replaces that of the admin as a whole: labels, for example, are the seed's only.
func MergeGardenerValues(values, gardenerValues map[string]any) map[string]any {
	const entries = 2 // gardener.seed, for example, is a group of entries; gardener.seed.labels is one
	return mergeToDepth(values, gardenerValues, entries)
}

func mergeToDepth(values, over map[string]any, depth int) map[string]any {
	mixed := maps.Clone(values)
	if mixed == nil {
		mixed = map[string]any{}
	}
	for key, value := range over {
		group, isGroup := value.(map[string]any)
		there, wasGroup := mixed[key].(map[string]any)
		if depth > 0 && isGroup && wasGroup {
			value = mergeToDepth(there, group, depth-1)
		}
		mixed[key] = value
	}
	return mixed
}

// MergeValues merges an overlay into values, and changes neither: maps are merged, other values are replaced, and nil removes an entry.
func MergeValues(base, over map[string]any) map[string]any {
	merged := maps.Clone(base)
	if merged == nil {
		merged = map[string]any{}
	}
	for key, value := range over {
		switch value := value.(type) {
		case nil:
			delete(merged, key)
		case map[string]any:
			// A map that exists in the overlay only must not contain nil entries either.
			there, _ := merged[key].(map[string]any)
			merged[key] = MergeValues(there, value)
		default:
			merged[key] = value
		}
	}
	return merged
}
