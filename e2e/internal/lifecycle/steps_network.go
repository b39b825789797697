package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	calicov1alpha1 "github.com/trellis-garden/trellis/apis/calico/v1alpha1"
	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
)

func stepsOfNetwork() []Step {
	return []Step{
		{
			Name: "migrate", Sentence: "the control plane is migrated to the second seed", alone: true, limit: rotationLimit,
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
			// Three subnets, for nodes, pods and Services, two of which are looked up; an interface of the router; and a rule.
			calls: map[string]int{openstack.InfrastructureController: 7},
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
	if err := r.migrateNodes(ctx); err != nil {
		return err
	}
	if found.Status.Networking == nil || !slices.ContainsFunc(found.Status.Networking.Nodes, func(cidr string) bool { return cidr == config.Networks.IPv6.NodeCIDR }) {
		return fmt.Errorf("the Shoot's status does not know the range %s of nodes: %+v", config.Networks.IPv6.NodeCIDR, found.Status.Networking)
	}
	return nil
}

// migrateNodes does what gardenlet leaves to the user of a Shoot that becomes dual-stack: replace the machines, and request reconciliations until neither
// nodes nor the DNS service are to be migrated any more.
func (r *run) migrateNodes(ctx context.Context) error {
	if err := r.request(ctx, r.main, v1beta1constants.OperationRolloutWorkers+"=*"); err != nil {
		return err
	}
	if err := r.awaitSettled(ctx, r.main); err != nil {
		return err
	}
	if err := r.awaitNodes(ctx, 1); err != nil {
		return err
	}
	for {
		found, err := r.get(ctx, r.main)
		if err != nil {
			return err
		}
		open := migrations(found)
		if len(open) == 0 {
			return r.awaitDualStack(ctx)
		}
		r.linef("    %s", strings.Join(open, "; "))
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("waiting for the end of the migration: %w; last: %s", context.Cause(ctx), strings.Join(open, "; "))
		}
		if err := r.request(ctx, r.main, v1beta1constants.GardenerOperationReconcile); err != nil {
			return err
		}
		if err := r.awaitSettled(ctx, r.main); err != nil {
			return err
		}
	}
}

// migrations lists what gardenlet still has to migrate to two IP families.
func migrations(shoot *gardencorev1beta1.Shoot) []string {
	var open []string
	for _, constraint := range shoot.Status.Constraints {
		if constraint.Type == gardencorev1beta1.ShootDualStackNodesMigrationReady || constraint.Type == gardencorev1beta1.ShootDNSServiceMigrationReady {
			open = append(open, fmt.Sprintf("%s is %s: %s", constraint.Type, constraint.Status, constraint.Message))
		}
	}
	return open
}

// awaitDualStack waits until all Nodes have addresses and ranges for pods of both families.
func (r *run) awaitDualStack(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, nodesLimit)
	defer cancel()
	return r.await(ctx, "dual-stack Nodes", func(ctx context.Context) (string, error) {
		found, err := r.listNodes(ctx, r.main)
		if err != nil {
			return "", err
		}
		for _, node := range found {
			addresses := 0
			for _, address := range node.Status.Addresses {
				if address.Type == corev1.NodeInternalIP {
					addresses++
				}
			}
			if addresses != 2 || len(node.Spec.PodCIDRs) != 2 {
				text := fmt.Sprintf("node %s has %d internal addresses and the ranges %v for pods", node.Name, addresses, node.Spec.PodCIDRs)
				return text, errors.New(text)
			}
		}
		return "", nil
	})
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
