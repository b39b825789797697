package seednode

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/trellis-garden/trellis/e2e/internal/kubelet"
)

// reconcilePod takes a pod to the node, runs it or reports it as running, and ends it.
func (n *node) reconcilePod(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	err := n.syncPod(ctx, request.NamespacedName)
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) || ctx.Err() != nil {
		err = nil // the next event follows
	}
	if err != nil {
		n.logf("%s: %v", request, err)
	}
	return reconcile.Result{}, err
}

func (n *node) syncPod(ctx context.Context, key types.NamespacedName) error {
	object := &corev1.Pod{}
	if err := n.client.Get(ctx, key, object); err != nil {
		if apierrors.IsNotFound(err) {
			n.stopOthers(key, "")
		}
		return err
	}
	n.stopOthers(key, object.UID)
	switch {
	case object.Spec.NodeName == "":
		return n.bind(ctx, object)
	case object.Spec.NodeName != n.NodeName:
		return nil
	case object.DeletionTimestamp != nil:
		return n.end(ctx, object)
	case object.Status.Phase == corev1.PodSucceeded || object.Status.Phase == corev1.PodFailed:
		n.forget(object.UID)
		return nil
	}
	if !n.isKnown(object) {
		return n.standIn(ctx, object)
	}
	p, err := n.start(object)
	if err != nil {
		return err
	}
	return n.updateStatus(ctx, object, p.status)
}

// bind takes a pod to the node, as kube-scheduler does.
func (n *node) bind(ctx context.Context, object *corev1.Pod) error {
	if object.DeletionTimestamp != nil {
		return n.remove(ctx, object)
	}
	if len(object.Spec.SchedulingGates) > 0 {
		return nil
	}
	binding := &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: n.NodeName}}
	return n.client.SubResource("binding").Create(ctx, object, binding)
}

// isKnown reports whether a container of a pod has a program.
func (n *node) isKnown(object *corev1.Pod) bool {
	for _, c := range object.Spec.Containers {
		if _, known := n.Programs(c.Image, c.Name); known {
			return true
		}
	}
	return false
}

// standIn reports that a pod runs, or that it has done so if it belongs to a Job.
func (n *node) standIn(ctx context.Context, object *corev1.Pod) error {
	for i := range object.Spec.Containers {
		n.standIns.add(&object.Spec.Containers[i])
	}
	address, err := n.addresses.take(client.ObjectKeyFromObject(object).String())
	if err != nil {
		return err
	}
	return n.updateStatus(ctx, object, func(status *corev1.PodStatus) {
		n.setAddresses(status, address.String())
		if kubelet.IsReady(&corev1.Pod{Status: *status}) && status.Phase == corev1.PodRunning {
			return
		}
		kubelet.SetRunning(status, object.Spec.Containers, true)
		if owner := metav1.GetControllerOf(object); owner != nil && owner.Kind == "Job" {
			status.Phase = corev1.PodSucceeded
		}
	})
}

func (n *node) setAddresses(status *corev1.PodStatus, pod string) {
	host := n.Address.String()
	status.HostIP, status.HostIPs = host, []corev1.HostIP{{IP: host}}
	status.PodIP, status.PodIPs = pod, []corev1.PodIP{{IP: pod}}
}

// updateStatus writes the status of a pod if it changes.
func (n *node) updateStatus(ctx context.Context, object *corev1.Pod, set func(*corev1.PodStatus)) error {
	changed := object.DeepCopy()
	set(&changed.Status)
	if equality.Semantic.DeepEqual(object.Status, changed.Status) {
		return nil
	}
	return n.client.Status().Patch(ctx, changed, client.MergeFrom(object))
}

// start starts a pod unless it runs, and tells it how its object is now.
func (n *node) start(object *corev1.Pod) (*pod, error) {
	n.lock.Lock()
	defer n.lock.Unlock()
	select {
	case <-n.stopping:
		return nil, context.Canceled
	default:
	}
	p := n.pods[object.UID]
	if p == nil {
		address := n.Address
		if !object.Spec.HostNetwork {
			var err error
			if address, err = n.addresses.take(string(object.UID)); err != nil {
				return nil, err
			}
		}
		p = newPod(n, object, address)
		n.pods[object.UID] = p
		go p.run()
	}
	p.update(object)
	return p, nil
}

// end ends the processes of a deleted pod, and then its object.
func (n *node) end(ctx context.Context, object *corev1.Pod) error {
	n.lock.Lock()
	p := n.pods[object.UID]
	n.lock.Unlock()
	if p != nil {
		p.stop(gracePeriod(object))
		select {
		case <-p.ended:
		default:
			return nil // it enqueues the pod at its end
		}
	}
	if err := n.remove(ctx, object); err != nil {
		return err
	}
	n.forget(object.UID)
	return nil
}

func (n *node) remove(ctx context.Context, object *corev1.Pod) error {
	return client.IgnoreNotFound(n.client.Delete(ctx, object, client.GracePeriodSeconds(0), client.Preconditions{UID: &object.UID}))
}

// forget frees what a pod used that has ended.
func (n *node) forget(uid types.UID) {
	n.lock.Lock()
	defer n.lock.Unlock()
	if p := n.pods[uid]; p != nil {
		select {
		case <-p.ended:
		default:
			return
		}
	}
	delete(n.pods, uid)
	n.addresses.free(string(uid))
}

// stopOthers stops pods of a name that were deleted without a grace period, so that the API server does not know them any more.
func (n *node) stopOthers(key types.NamespacedName, but types.UID) {
	n.lock.Lock()
	var gone []types.UID
	for uid, p := range n.pods {
		if uid != but && client.ObjectKeyFromObject(p.object) == key {
			p.stop(0)
			gone = append(gone, uid)
		}
	}
	n.lock.Unlock()
	for _, uid := range gone {
		n.forget(uid)
	}
	if but == "" {
		n.addresses.free(key.String()) // of a pod without a program
	}
}
