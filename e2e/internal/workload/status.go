package workload

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// report writes that the containers run, and whether they are ready.
func report(status *corev1.PodStatus, containers []corev1.Container, ready bool) {
	now := metav1.Now()
	status.Phase = corev1.PodRunning
	if status.StartTime == nil {
		status.StartTime = &now
	}
	status.ContainerStatuses = nil
	for _, container := range containers {
		status.ContainerStatuses = append(status.ContainerStatuses, corev1.ContainerStatus{
			Name: container.Name, Image: container.Image, Ready: ready, Started: new(true),
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: *status.StartTime}},
		})
	}
	for _, condition := range []corev1.PodConditionType{corev1.PodScheduled, corev1.PodInitialized} {
		setCondition(status, condition, true, now)
	}
	for _, condition := range []corev1.PodConditionType{corev1.ContainersReady, corev1.PodReady} {
		setCondition(status, condition, ready, now)
	}
}

func setCondition(status *corev1.PodStatus, kind corev1.PodConditionType, holds bool, now metav1.Time) {
	wanted := corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: now}
	if !holds {
		wanted.Status, wanted.Reason = corev1.ConditionFalse, "ContainersNotReady"
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

func isReady(pod *corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}
