package seednode

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/e2e/internal/kubelet"
)

// status writes the pod's status.
func (p *pod) status(status *corev1.PodStatus) {
	p.lock.Lock()
	waiting, initialized, failed := p.waiting, p.initialized, p.failed
	p.lock.Unlock()
	p.node.setAddresses(status, p.address.String())
	if status.StartTime == nil {
		status.StartTime = new(metav1.Now())
	}
	status.InitContainerStatuses = nil
	for _, c := range p.initContainers {
		status.InitContainerStatuses = append(status.InitContainerStatuses, c.initStatus(cmp.Or(waiting, "PodInitializing"), *status.StartTime))
	}
	status.ContainerStatuses = nil
	ready := initialized
	for _, c := range p.containers {
		reported := c.status(cmp.Or(waiting, "PodInitializing"), *status.StartTime)
		status.ContainerStatuses = append(status.ContainerStatuses, reported)
		ready = ready && reported.Ready
	}
	status.Phase = phase(initialized, failed, p.object.Spec.RestartPolicy, status.ContainerStatuses)
	kubelet.SetConditions(status, initialized, ready)
}

// phase of a pod. It ends when all containers have ended and none is started again.
func phase(initialized, failed bool, policy corev1.RestartPolicy, containers []corev1.ContainerStatus) corev1.PodPhase {
	switch {
	case failed:
		return corev1.PodFailed
	case !initialized:
		return corev1.PodPending
	}
	ended := corev1.PodSucceeded
	for _, c := range containers {
		switch terminated := c.State.Terminated; {
		case terminated == nil || policy == corev1.RestartPolicyAlways || policy == corev1.RestartPolicyOnFailure && terminated.ExitCode != 0:
			return corev1.PodRunning
		case terminated.ExitCode != 0:
			ended = corev1.PodFailed
		}
	}
	return ended
}
