package kubelet

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SetRunning writes that all containers of a pod run, and whether they are ready.
func SetRunning(status *corev1.PodStatus, containers []corev1.Container, ready bool) {
	now := metav1.Now()
	status.Phase = corev1.PodRunning
	if status.StartTime == nil {
		status.StartTime = &now
	}
	status.ContainerStatuses = nil
	for _, container := range containers {
		status.ContainerStatuses = append(status.ContainerStatuses, Running(&container, *status.StartTime, ready))
	}
	SetConditions(status, true, ready)
}

// Running is the status of a container that runs.
func Running(container *corev1.Container, since metav1.Time, ready bool) corev1.ContainerStatus {
	return corev1.ContainerStatus{
		Name: container.Name, Image: container.Image, ImageID: container.Image, Ready: ready, Started: new(true),
		State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: since}},
	}
}

// SetConditions writes the conditions of a scheduled pod: whether its init containers have ended, and whether all containers are ready.
func SetConditions(status *corev1.PodStatus, initialized, ready bool) {
	now := metav1.Now()
	setCondition(status, corev1.PodScheduled, true, "", now)
	setCondition(status, corev1.PodInitialized, initialized, "ContainersNotInitialized", now)
	setCondition(status, corev1.ContainersReady, ready, "ContainersNotReady", now)
	setCondition(status, corev1.PodReady, ready, "ContainersNotReady", now)
}

func setCondition(status *corev1.PodStatus, kind corev1.PodConditionType, holds bool, reason string, now metav1.Time) {
	wanted := corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: now}
	if !holds {
		wanted.Status, wanted.Reason = corev1.ConditionFalse, reason
	}
	for i, found := range status.Conditions {
		if found.Type != kind {
			continue
		}
		if found.Status != wanted.Status {
			status.Conditions[i] = wanted
		}
		return
	}
	status.Conditions = append(status.Conditions, wanted)
}

// IsReady reports whether a pod is ready.
func IsReady(pod *corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}
