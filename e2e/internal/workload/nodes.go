package workload

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Join adds a ready node with ranges for pods.
func (k *Kubelets) Join(ctx context.Context, name string, podRanges ...string) error {
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name, corev1.LabelOSStable: "linux"}},
		Spec:       corev1.NodeSpec{PodCIDRs: podRanges},
	}
	if len(podRanges) > 0 {
		node.Spec.PodCIDR = podRanges[0]
	}
	if err := k.client.Create(ctx, node); err != nil {
		return fmt.Errorf("creating node %s: %w", name, err)
	}
	return k.SetNodeCondition(ctx, name, corev1.NodeReady, corev1.ConditionTrue, "KubeletReady")
}

// SetNodeCondition sets a condition of a node, as kubelets and the route controller do. The taints follow the condition Ready.
func (k *Kubelets) SetNodeCondition(
	ctx context.Context, name string, about corev1.NodeConditionType, status corev1.ConditionStatus, reason string,
) error {
	err := k.change(ctx, name, func(node *corev1.Node) {
		isType := func(c corev1.NodeCondition) bool { return c.Type == about }
		node.Status.Conditions = append(slices.DeleteFunc(node.Status.Conditions, isType), corev1.NodeCondition{
			Type: about, Status: status, Reason: reason, LastTransitionTime: metav1.Now(), LastHeartbeatTime: metav1.Now(),
		})
	})
	if err != nil || about != corev1.NodeReady {
		return err
	}
	return k.retry(ctx, name, func(node *corev1.Node) error {
		node.Spec.Taints = nil
		if status != corev1.ConditionTrue {
			node.Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}}
		}
		return k.client.Update(ctx, node)
	})
}

// RemoveNodeCondition removes a condition of a node.
func (k *Kubelets) RemoveNodeCondition(ctx context.Context, name string, about corev1.NodeConditionType) error {
	return k.change(ctx, name, func(node *corev1.Node) {
		isType := func(c corev1.NodeCondition) bool { return c.Type == about }
		node.Status.Conditions = slices.DeleteFunc(node.Status.Conditions, isType)
	})
}

// Leave removes a node, and the pods on it.
func (k *Kubelets) Leave(ctx context.Context, name string) error {
	if err := k.client.Delete(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
		return fmt.Errorf("deleting node %s: %w", name, err)
	}
	list := &corev1.PodList{}
	if err := k.client.List(ctx, list); err != nil {
		return err
	}
	var failures []error
	for i := range list.Items {
		if list.Items[i].Spec.NodeName == name {
			failures = append(failures, k.removePod(ctx, &list.Items[i]))
		}
	}
	return errors.Join(failures...)
}

// HoldNode keeps new pods of a node from becoming ready. Running pods continue, and pods that can run elsewhere do.
func (k *Kubelets) HoldNode(name string) { k.setNode(name, true) }

// ReleaseNode reverts HoldNode.
func (k *Kubelets) ReleaseNode(name string) { k.setNode(name, false) }

func (k *Kubelets) setNode(name string, held bool) {
	k.lock.Lock()
	k.heldNodes[name] = held
	k.lock.Unlock()
	k.enqueuePods(&corev1.Node{})
}

func (k *Kubelets) isNodeHeld(name string) bool {
	k.lock.Lock()
	defer k.lock.Unlock()
	return k.heldNodes[name]
}

func (k *Kubelets) change(ctx context.Context, name string, change func(*corev1.Node)) error {
	return k.retry(ctx, name, func(node *corev1.Node) error {
		change(node)
		return k.client.Status().Update(ctx, node)
	})
}

// retry changes a node that others write, too. The cache may be behind earlier writes.
func (k *Kubelets) retry(ctx context.Context, name string, do func(*corev1.Node) error) error {
	unsure := func(err error) bool { return apierrors.IsConflict(err) || apierrors.IsNotFound(err) }
	return retry.OnError(retry.DefaultBackoff, unsure, func() error {
		node := &corev1.Node{}
		if err := k.client.Get(ctx, client.ObjectKey{Name: name}, node); err != nil {
			return err
		}
		return do(node)
	})
}

// syncToNode binds a pod to a node, and deletes it when it is deleted there. It reports whether the pod is on a responsive node.
func (k *Kubelets) syncToNode(ctx context.Context, pod *corev1.Pod) (bool, error) {
	if pod.Spec.NodeName == "" {
		return false, k.bind(ctx, pod)
	}
	node := &corev1.Node{}
	switch err := k.client.Get(ctx, client.ObjectKey{Name: pod.Spec.NodeName}, node); {
	case apierrors.IsNotFound(err):
		return false, k.removePod(ctx, pod) // as Kubernetes collects pods whose node somebody else has removed
	case err != nil || !isResponsive(node):
		return false, err
	case pod.DeletionTimestamp != nil:
		return false, k.removePod(ctx, pod)
	case len(pod.Status.PodIPs) == 0 && !pod.Spec.HostNetwork:
		return true, k.assignAddresses(ctx, pod, node.Spec.PodCIDRs)
	default:
		return true, nil
	}
}

// assignAddresses gives a pod an address of each range of its node.
func (k *Kubelets) assignAddresses(ctx context.Context, pod *corev1.Pod, ranges []string) error {
	k.lock.Lock()
	k.addresses++
	number := k.addresses
	k.lock.Unlock()
	addresses, err := addressesIn(ranges, number)
	if err != nil || len(addresses) == 0 {
		return err
	}
	patch := client.MergeFrom(pod.DeepCopy())
	pod.Status.PodIP, pod.Status.PodIPs = addresses[0].IP, addresses
	return k.client.Status().Patch(ctx, pod, patch)
}

// addressesIn returns an address of each range, by the number of a pod. A range is taken from its start again after 250 pods.
func addressesIn(ranges []string, number int) ([]corev1.PodIP, error) {
	var addresses []corev1.PodIP
	for _, text := range ranges {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("reading a node's range for pods: %w", err)
		}
		bytes := prefix.Masked().Addr().AsSlice()
		bytes[len(bytes)-1] += byte(number%250 + 2) // the first is the node's own
		address, _ := netip.AddrFromSlice(bytes)
		addresses = append(addresses, corev1.PodIP{IP: address.String()})
	}
	return addresses, nil
}

func (k *Kubelets) removePod(ctx context.Context, pod *corev1.Pod) error {
	return client.IgnoreNotFound(k.client.Delete(ctx, pod, client.GracePeriodSeconds(0), client.Preconditions{UID: &pod.UID}))
}

// bind selects a node for a pod. If there is none, the next change of a node enqueues the pod.
func (k *Kubelets) bind(ctx context.Context, pod *corev1.Pod) error {
	nodes := &corev1.NodeList{}
	if err := k.client.List(ctx, nodes); err != nil {
		return err
	}
	var fit []string
	for _, node := range nodes.Items {
		if named := nodeNamedBy(pod); named == node.Name || named == "" && takesPods(&node) && !k.isNodeHeld(node.Name) {
			fit = append(fit, node.Name)
		}
	}
	if len(fit) == 0 {
		return nil
	}
	slices.Sort(fit)
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(pod.UID)) // never fails
	binding := &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: fit[int(hash.Sum32())%len(fit)]}}
	if err := k.client.SubResource("binding").Create(ctx, pod, binding); !apierrors.IsConflict(err) {
		return err
	}
	return nil // it is bound, and the cache will know
}

// nodeNamedBy returns the node that the pod of a DaemonSet is for, empty for other pods.
func nodeNamedBy(pod *corev1.Pod) string {
	if pod.Spec.Affinity == nil || pod.Spec.Affinity.NodeAffinity == nil {
		return ""
	}
	required := pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if required == nil {
		return ""
	}
	for _, term := range required.NodeSelectorTerms {
		for _, field := range term.MatchFields {
			if field.Key == metav1.ObjectNameField && field.Operator == corev1.NodeSelectorOpIn && len(field.Values) == 1 {
				return field.Values[0]
			}
		}
	}
	return ""
}

// takesPods reports whether pods without a node may go there: not to one that is drained.
func takesPods(node *corev1.Node) bool { return isResponsive(node) && !node.Spec.Unschedulable }

// isResponsive reports whether pods start and end on a node. A node without the condition Ready counts as responsive.
func isResponsive(node *corev1.Node) bool {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return true
}
