package nodes

import (
	"context"
	"slices"
	"time"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/gardener/gardener/pkg/utils/kubernetes"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// notReady is the taint of a node on which required pods do not run yet.
const notReady = "node.gardener.cloud/critical-components-not-ready"

// newNode is what a kubelet registers, and a cloud-controller-manager adds.
func newNode(server Server) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: server.Name, Labels: map[string]string{
			corev1.LabelHostname:       server.Name,
			corev1.LabelOSStable:       "linux",
			corev1.LabelArchStable:     "amd64",
			corev1.LabelTopologyRegion: server.Region,
			corev1.LabelTopologyZone:   server.Zone,
			// Gardener selects the kube-proxy of a node by this label.
			v1beta1constants.LabelWorkerKubernetesVersion: server.KubernetesVersion,
		}},
		Spec: corev1.NodeSpec{
			ProviderID: server.ProviderID,
			Taints:     []corev1.Taint{{Key: notReady, Effect: corev1.TaintEffectNoSchedule}},
		},
	}
}

// initStatus is the first status that a kubelet writes.
func (n *Nodes) initStatus(node *corev1.Node, server Server) {
	capacity := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("2Gi"), corev1.ResourcePods: resource.MustParse("110"),
	}
	node.Status.Capacity, node.Status.Allocatable = capacity, capacity
	node.Status.NodeInfo.OperatingSystem, node.Status.NodeInfo.Architecture = "linux", "amd64"
	if server.KubernetesVersion != "" {
		node.Status.NodeInfo.KubeletVersion = "v" + server.KubernetesVersion
	}
	node.Status.DaemonEndpoints.KubeletEndpoint.Port = KubeletPort
	if len(node.Status.Addresses) == 0 {
		node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeHostName, Address: server.Name}}
	}
	if server.Address != "" && !n.realCloudControllerManager {
		node.Status.Addresses = append(node.Status.Addresses, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: server.Address})
	}
	for _, pressure := range []corev1.NodeConditionType{corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure} {
		setCondition(node, pressure, corev1.ConditionFalse, "Kubelet")
	}
	setCondition(node, corev1.NodeReady, corev1.ConditionTrue, "KubeletReady")
}

// setCondition sets a condition of a node. The time of the last transition changes with the status only.
func setCondition(node *corev1.Node, about corev1.NodeConditionType, status corev1.ConditionStatus, reason string) {
	now := metav1.Now()
	updated := corev1.NodeCondition{Type: about, Status: status, Reason: reason, LastTransitionTime: now, LastHeartbeatTime: now}
	for i, found := range node.Status.Conditions {
		if found.Type != about {
			continue
		}
		if found.Status == status {
			updated.LastTransitionTime = found.LastTransitionTime
		}
		node.Status.Conditions[i] = updated
		return
	}
	node.Status.Conditions = append(node.Status.Conditions, updated)
}

// updateNode does the next step of a running machine.
func (n *Nodes) updateNode(ctx context.Context, node *corev1.Node, server Server) error {
	ready := condition(node, corev1.NodeReady)
	isTainted := func(taint corev1.Taint) bool { return taint.Key == notReady }
	switch {
	case node.DeletionTimestamp != nil:
		return nil
	case node.Status.NodeInfo.OperatingSystem == "": // others write a new Node, too, so that its first status may have been refused
		return n.patchStatus(ctx, node, func() { n.initStatus(node, server) })
	case ready == nil || ready.Status != corev1.ConditionTrue || time.Since(ready.LastHeartbeatTime.Time) > heartbeat:
		return n.patchStatus(ctx, node, func() { setCondition(node, corev1.NodeReady, corev1.ConditionTrue, "KubeletReady") })
	case slices.ContainsFunc(node.Spec.Taints, isTainted):
		return n.patch(ctx, node, func() { node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, isTainted) })
	case isReadyForUpdate(node) || n.failing == "" && hasFailed(node):
		return n.patch(ctx, node, func() { n.finishUpdate(node) })
	}
	return nil
}

// isReadyForUpdate reports whether gardener-node-agent may update a node.
func isReadyForUpdate(node *corev1.Node) bool {
	update := condition(node, machinev1alpha1.NodeInPlaceUpdate)
	return update != nil && update.Reason == machinev1alpha1.ReadyForUpdate &&
		!kubernetes.HasMetaDataLabel(node, machinev1alpha1.LabelKeyNodeUpdateResult, machinev1alpha1.LabelValueNodeUpdateSuccessful)
}

// hasFailed reports whether an update of a node has failed. gardener-node-agent retries.
func hasFailed(node *corev1.Node) bool {
	return kubernetes.HasMetaDataLabel(node, machinev1alpha1.LabelKeyNodeUpdateResult, machinev1alpha1.LabelValueNodeUpdateFailed)
}

// finishUpdate writes the result of an update.
func (n *Nodes) finishUpdate(node *corev1.Node) {
	if n.failing != "" {
		metav1.SetMetaDataLabel(&node.ObjectMeta, machinev1alpha1.LabelKeyNodeUpdateResult, machinev1alpha1.LabelValueNodeUpdateFailed)
		metav1.SetMetaDataAnnotation(&node.ObjectMeta, machinev1alpha1.AnnotationKeyMachineUpdateFailedReason, n.failing)
		return
	}
	metav1.SetMetaDataLabel(&node.ObjectMeta, machinev1alpha1.LabelKeyNodeUpdateResult, machinev1alpha1.LabelValueNodeUpdateSuccessful)
	delete(node.Annotations, machinev1alpha1.AnnotationKeyMachineUpdateFailedReason)
}

func condition(node *corev1.Node, about corev1.NodeConditionType) *corev1.NodeCondition {
	for i := range node.Status.Conditions {
		if node.Status.Conditions[i].Type == about {
			return &node.Status.Conditions[i]
		}
	}
	return nil
}
