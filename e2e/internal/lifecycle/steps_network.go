package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	calicov1alpha1 "github.com/trellis-garden/trellis/apis/calico/v1alpha1"
	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
)

func stepsOfNetwork() []Step {
	return []Step{
		{
			Name: "migrate", Sentence: "the control plane is migrated to the second seed", limit: rotationLimit,
			skip: func(r *run) string {
				if len(r.seeds) < 2 {
					return "there is one seed only"
				}
				return ""
			},
			do: migrate,
		},
		{
			Name: "overlay-on", Sentence: "the network's overlay is switched on: pods send through a tunnel", limit: changeLimit,
			do: func(ctx context.Context, r *run) error { return r.setOverlay(ctx, true) },
		},
		{
			Name: "overlay-off", Sentence: "the network's overlay is switched off again: the cloud routes to pods", limit: changeLimit,
			do: func(ctx context.Context, r *run) error { return r.setOverlay(ctx, false) },
		},
		{
			Name: "dual-stack", Sentence: "IPv6 is added to the networks of nodes, pods and Services; machines are replaced", limit: rotationLimit, do: addIPv6,
		},
	}
}

// setOverlay sets the overlay of Calico. A new shoot has none.
func (r *run) setOverlay(ctx context.Context, enabled bool) error {
	return r.changeAndAwait(ctx, 1, func(shoot *gardencorev1beta1.Shoot) { shoot.Spec.Networking.ProviderConfig = networkConfig(enabled) })
}

func networkConfig(overlay bool) *runtime.RawExtension {
	return raw(&calicov1alpha1.NetworkConfig{
		TypeMeta: metav1.TypeMeta{APIVersion: calicov1alpha1.GroupVersion().String(), Kind: "NetworkConfig"},
		Overlay:  &calicov1alpha1.Overlay{Enabled: overlay},
	})
}

// addIPv6 makes the main Shoot dual-stack. Calico's overlay must be off then.
func addIPv6(ctx context.Context, r *run) error {
	found, err := r.get(ctx, r.main)
	if err != nil {
		return err
	}
	config := &openstackv1alpha1.InfrastructureConfig{}
	if err := json.Unmarshal(found.Spec.Provider.InfrastructureConfig.Raw, config); err != nil {
		return fmt.Errorf("decoding the InfrastructureConfig: %w", err)
	}
	config.Networks.IPv6 = &openstackv1alpha1.IPv6Config{
		NodeCIDR: "2001:db8:1::/64", PodCIDR: "2001:db8:2::/56", ServiceCIDR: "2001:db8:3::/112",
	}
	if err := r.changeAndAwait(ctx, 1, func(shoot *gardencorev1beta1.Shoot) {
		shoot.Spec.Networking.IPFamilies = []gardencorev1beta1.IPFamily{gardencorev1beta1.IPFamilyIPv4, gardencorev1beta1.IPFamilyIPv6}
		shoot.Spec.Networking.ProviderConfig = networkConfig(false)
		shoot.Spec.Provider.InfrastructureConfig = raw(config)
	}); err != nil {
		return err
	}
	if found, err = r.get(ctx, r.main); err != nil {
		return err
	}
	if found.Status.Networking == nil || !slices.ContainsFunc(found.Status.Networking.Nodes, func(cidr string) bool { return cidr == config.Networks.IPv6.NodeCIDR }) {
		return fmt.Errorf("the Shoot's status does not know the range %s of nodes: %+v", config.Networks.IPv6.NodeCIDR, found.Status.Networking)
	}
	return nil
}

// migrate moves the main Shoot's control plane to the second seed.
func migrate(ctx context.Context, r *run) error {
	found, err := r.get(ctx, r.main)
	if err != nil {
		return err
	}
	target := r.Seeds[1].Name
	found.Spec.SeedName = &target
	if err := r.garden.SubResource("binding").Update(ctx, found); err != nil {
		return fmt.Errorf("binding Shoot %s to seed %s: %w", r.main.name, target, err)
	}
	if err := r.await(ctx, "the migration to "+target, func(ctx context.Context) (string, error) {
		found, err := r.get(ctx, r.main)
		if err != nil {
			return "", err
		}
		if found.Status.SeedName == nil || *found.Status.SeedName != target || unsettled(found) != "" {
			return describe(found), errors.Join(append([]error{errors.New(describe(found))}, lastErrors(found)...)...)
		}
		return "", nil
	}); err != nil {
		return err
	}
	return r.awaitNodes(ctx, 1)
}
