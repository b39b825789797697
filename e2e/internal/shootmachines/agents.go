package shootmachines

import (
	"context"
	"errors"
	"fmt"
	"time"

	nodeagentconfigv1alpha1 "github.com/gardener/gardener/pkg/apis/config/nodeagent/v1alpha1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	gardenerutils "github.com/gardener/gardener/pkg/utils/gardener"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// leaseDuration is that of the Leases of gardener-node-agent and kubelet, and leaseInterval how often they are renewed.
	leaseDuration = 40 * time.Second
	leaseInterval = 10 * time.Second
)

// syncAgents acts for gardener-node-agent, and for kubelets' servers.
func (s *shoot) syncAgents(ctx context.Context, shoot client.Client, kubelets *kubelets) error {
	ctx, cancel := context.WithTimeout(ctx, 2*requestTimeout)
	defer cancel()
	list := &corev1.NodeList{}
	if err := shoot.List(ctx, list); err != nil {
		return fmt.Errorf("listing nodes: %w", err)
	}
	configs := &corev1.SecretList{}
	if err := shoot.List(ctx, configs, client.InNamespace(metav1.NamespaceSystem),
		client.MatchingLabels{v1beta1constants.GardenRole: v1beta1constants.GardenRoleOperatingSystemConfig}); err != nil {
		return fmt.Errorf("listing OperatingSystemConfigs: %w", err)
	}
	failures := []error{kubelets.sync(ctx, list.Items)}
	for i := range list.Items {
		node := &list.Items[i]
		if !node.DeletionTimestamp.IsZero() {
			continue
		}
		failures = append(failures, applyConfig(ctx, shoot, node, configs.Items))
		for _, lease := range leasesOf(node) {
			failures = append(failures, renewLease(ctx, shoot, node, lease, time.Now()))
		}
	}
	return errors.Join(failures...)
}

// checksumFor returns the checksum of the OperatingSystemConfig that a node's gardener-node-agent applies. It is empty if there is none yet. A node
// keeps the Secret that it was created with, also after its pool has got another one.
func checksumFor(node *corev1.Node, configs []corev1.Secret) string {
	own := node.Labels[v1beta1constants.LabelWorkerPoolGardenerNodeAgentSecretName]
	for _, config := range configs {
		if own != "" && config.Name != own || config.Labels[v1beta1constants.LabelWorkerPool] != node.Labels[v1beta1constants.LabelWorkerPool] {
			continue
		}
		return config.Annotations[nodeagentconfigv1alpha1.AnnotationKeyChecksumDownloadedOperatingSystemConfig]
	}
	return ""
}

// applyConfig reports the pool's OperatingSystemConfig as applied.
func applyConfig(ctx context.Context, shoot client.Client, node *corev1.Node, configs []corev1.Secret) error {
	const applied = nodeagentconfigv1alpha1.AnnotationKeyChecksumAppliedOperatingSystemConfig
	checksum := checksumFor(node, configs)
	if checksum == "" || node.Annotations[applied] == checksum {
		return nil
	}
	patch := client.MergeFrom(node.DeepCopy())
	metav1.SetMetaDataAnnotation(&node.ObjectMeta, applied, checksum)
	if err := client.IgnoreNotFound(shoot.Patch(ctx, node, patch)); err != nil {
		return fmt.Errorf("writing the checksum of the OperatingSystemConfig to node %s: %w", node.Name, err)
	}
	return nil
}

// leasesOf are the Leases of a node's gardener-node-agent and kubelet.
func leasesOf(node *corev1.Node) []client.ObjectKey {
	return []client.ObjectKey{
		{Namespace: metav1.NamespaceSystem, Name: gardenerutils.NodeLeasePrefix + node.Name},
		{Namespace: corev1.NamespaceNodeLease, Name: node.Name},
	}
}

// renewLease renews a Lease, which goes with the Node.
func renewLease(ctx context.Context, shoot client.Client, node *corev1.Node, key client.ObjectKey, now time.Time) error {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	err := shoot.Get(ctx, key, lease)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("reading the Lease of node %s: %w", node.Name, err)
	}
	exists := err == nil
	if exists && lease.Spec.RenewTime != nil && now.Sub(lease.Spec.RenewTime.Time) < leaseInterval {
		return nil
	}
	lease.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(node, corev1.SchemeGroupVersion.WithKind("Node"))}
	lease.Spec = coordinationv1.LeaseSpec{
		HolderIdentity: &node.Name, LeaseDurationSeconds: new(int32(leaseDuration.Seconds())), RenewTime: &metav1.MicroTime{Time: now},
	}
	if exists {
		err = shoot.Update(ctx, lease)
	} else {
		err = shoot.Create(ctx, lease)
	}
	if err != nil {
		return fmt.Errorf("renewing the Lease of node %s: %w", node.Name, err)
	}
	return nil
}
