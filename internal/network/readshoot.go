package network

import (
	"context"
	"fmt"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"

	"github.com/trellis-garden/trellis/apis/networking"
	"github.com/trellis-garden/trellis/internal/contract/images"
)

// readShoot returns a driver's inputs, except for what is deployed.
func readShoot(ctx context.Context, rec *reconciliation, vector images.Vector) (*Shoot, error) {
	shoot := rec.Cluster.Shoot
	if shoot == nil {
		return nil, fmt.Errorf("the Cluster resource %q lacks its shoot", rec.Cluster.Name)
	}
	apiServer, err := readAPIServer(ctx, rec.Client, rec.Object.Namespace, shoot)
	if err != nil {
		return nil, err
	}
	read := &Shoot{
		Network:             rec.Object.DeepCopy(),
		TechnicalID:         rec.TechnicalID(),
		KubernetesVersion:   shoot.Spec.Kubernetes.Version,
		Infrastructure:      networking.InfrastructureOf(shoot.Spec.Provider.Type),
		Families:            currentFamilies(rec.Object.Spec.IPFamilies, shoot.Status.Constraints),
		KubeProxy:           kubeProxyOf(shoot),
		APIServerHost:       apiServer.host,
		APIServerPort:       apiServerPort,
		APIServerAddresses:  apiServer.addresses,
		VerticalAutoscaling: v1beta1helper.ShootWantsVerticalPodAutoscaler(shoot),
		NodeLocalDNS:        v1beta1helper.IsNodeLocalDNSEnabled(shoot.Spec.SystemComponents),
		Hibernated:          v1beta1helper.HibernationIsEnabled(shoot) && shoot.DeletionTimestamp == nil,
		Image:               images.ForKubernetesVersion(vector, shoot.Spec.Kubernetes.Version),
	}
	read.PodRanges, read.ServiceRanges, read.NodeRanges = rangesOf(rec.Object, shoot)
	return read, nil
}

// currentFamilies omits the second family while the nodes of the shoot have no range of it yet: pods would get no address. gardenlet sets the constraint
// while it migrates the shoot to two families.
func currentFamilies(wanted []extensionsv1alpha1.IPFamily, constraints []gardencorev1beta1.Condition) []extensionsv1alpha1.IPFamily {
	if len(wanted) == 0 {
		return []extensionsv1alpha1.IPFamily{extensionsv1alpha1.IPFamilyIPv4}
	}
	ready := v1beta1helper.GetCondition(constraints, gardencorev1beta1.ShootDualStackNodesMigrationReady)
	if ready != nil && ready.Status != gardencorev1beta1.ConditionTrue {
		return wanted[:1]
	}
	return wanted
}

// kubeProxyOf applies Gardener's defaults: kube-proxy is enabled if the shoot does not configure it.
func kubeProxyOf(shoot *gardencorev1beta1.Shoot) KubeProxy {
	read := KubeProxy{Enabled: true, Mode: gardencorev1beta1.ProxyModeIPTables}
	config := shoot.Spec.Kubernetes.KubeProxy
	if config != nil && config.Enabled != nil {
		read.Enabled = *config.Enabled
	}
	if config != nil && config.Mode != nil {
		read.Mode = *config.Mode
	}
	return read
}

// rangesOf prefers the ranges in the shoot's status, which a cloud may have chosen, to those in its spec, and those to the Network's, which has one
// family only.
func rangesOf(object *extensionsv1alpha1.Network, shoot *gardencorev1beta1.Shoot) (pods, services, nodes []string) {
	pods, services = nonEmptyList(object.Spec.PodCIDR), nonEmptyList(object.Spec.ServiceCIDR)
	if spec := shoot.Spec.Networking; spec != nil {
		pods, services = firstNonEmpty(optional(spec.Pods), pods), firstNonEmpty(optional(spec.Services), services)
		nodes = optional(spec.Nodes)
	}
	if status := shoot.Status.Networking; status != nil {
		pods, services, nodes = firstNonEmpty(status.Pods, pods), firstNonEmpty(status.Services, services), firstNonEmpty(status.Nodes, nodes)
	}
	return pods, services, nodes
}

func nonEmptyList(value string) []string {
	if value == "" {
		return nil
	}
	return []string{value}
}

func optional(value *string) []string {
	if value == nil {
		return nil
	}
	return nonEmptyList(*value)
}

func firstNonEmpty(preferred, otherwise []string) []string {
	if len(preferred) > 0 {
		return preferred
	}
	return otherwise
}
