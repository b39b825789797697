package controlplane

import (
	"context"
	"fmt"
	"slices"
	"strings"

	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/gardener/gardener/pkg/utils/kubernetes/health"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/truncate"
)

// explain names the unhealthy Deployments of the ManagedResource, with the cause of the first. It is empty if all Deployments are healthy.
func explain(ctx context.Context, reader client.Reader, resource *resourcesv1alpha1.ManagedResource) (string, error) {
	deployments, missing, err := readDeployments(ctx, reader, resource)
	if err != nil {
		return "", err
	}
	if len(missing) > 0 {
		return fmt.Sprintf("Deployment %s does not exist", quoted(missing)), nil
	}
	unhealthy := unhealthyDeployments(deployments)
	if len(unhealthy) == 0 {
		return "", nil
	}
	pods, err := readPods(ctx, reader, unhealthy[0])
	if err != nil {
		return "", err
	}
	clause := fmt.Sprintf("Deployment %q is not healthy: %s", unhealthy[0].Name, diagnosis(unhealthy[0], pods))
	var others []string
	for _, deployment := range unhealthy[1:] {
		others = append(others, deployment.Name)
	}
	if len(others) > 0 {
		clause += "; neither is " + quoted(others)
	}
	return clause, nil
}

func quoted(names []string) string { return `"` + strings.Join(names, `", "`) + `"` }

// readDeployments reads the Deployments of the ManagedResource.
func readDeployments(
	ctx context.Context, reader client.Reader, resource *resourcesv1alpha1.ManagedResource,
) (found []*appsv1.Deployment, missing []string, err error) {
	complete := &resourcesv1alpha1.ManagedResource{} // what is watched does not have its objects
	if err := reader.Get(ctx, client.ObjectKeyFromObject(resource), complete); err != nil {
		return nil, nil, fmt.Errorf("reading ManagedResource %s: %w", resource.Name, err)
	}
	for _, ref := range complete.Status.Resources {
		if ref.Kind != "Deployment" || ref.GroupVersionKind().Group != appsv1.GroupName {
			continue
		}
		deployment := &appsv1.Deployment{}
		err := reader.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, deployment)
		switch {
		case apierrors.IsNotFound(err):
			missing = append(missing, ref.Name)
		case err != nil:
			return nil, nil, fmt.Errorf("reading Deployment %s: %w", ref.Name, err)
		default:
			found = append(found, deployment)
		}
	}
	return found, missing, nil
}

// readPods reads the pods of the Deployment, sorted by name.
func readPods(ctx context.Context, reader client.Reader, deployment *appsv1.Deployment) ([]corev1.Pod, error) {
	selector, err := metav1.LabelSelectorAsSelector(deployment.Spec.Selector)
	if err != nil {
		return nil, fmt.Errorf("reading the selector of Deployment %s: %w", deployment.Name, err)
	}
	pods := &corev1.PodList{}
	if err := reader.List(ctx, pods, client.InNamespace(deployment.Namespace), client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return nil, fmt.Errorf("listing the pods of Deployment %s: %w", deployment.Name, err)
	}
	slices.SortFunc(pods.Items, func(a, b corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return pods.Items, nil
}

// unhealthyDeployments returns the Deployments that are not healthy; if all are, those whose pods are being replaced.
func unhealthyDeployments(deployments []*appsv1.Deployment) []*appsv1.Deployment {
	isHealthy := func(d *appsv1.Deployment) bool { return health.CheckDeployment(d) == nil }
	if unhealthy := slices.DeleteFunc(slices.Clone(deployments), isHealthy); len(unhealthy) > 0 {
		return unhealthy
	}
	return slices.DeleteFunc(slices.Clone(deployments), func(d *appsv1.Deployment) bool {
		progressing, _ := health.IsDeploymentProgressing(d)
		return !progressing
	})
}

// diagnosis describes the cause: a problem of the Deployment's pods or, without one, its own conditions.
func diagnosis(deployment *appsv1.Deployment, pods []corev1.Pod) string {
	indefinite := ""
	for _, pod := range pods {
		if !pod.DeletionTimestamp.IsZero() || pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded {
			continue
		}
		problem, definite := podProblem(pod)
		if definite {
			return problem
		}
		if indefinite == "" {
			indefinite = problem
		}
	}
	if indefinite != "" {
		return indefinite
	}
	if err := health.CheckDeployment(deployment); err != nil {
		return truncate.Line(err.Error(), truncate.MaxExternal)
	}
	_, reason := health.IsDeploymentProgressing(deployment)
	return truncate.Line(reason, truncate.MaxExternal)
}

// podProblem says why a pod is not ready; empty if it is. A definite problem is one that a pod which only needs more time does not have.
func podProblem(pod corev1.Pod) (problem string, definite bool) {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			return "no node takes its pod: " + truncate.Line(condition.Message, truncate.MaxExternal), true
		}
	}
	for _, container := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		found, isDefinite := containerProblem(container)
		if isDefinite {
			return found, true
		}
		if problem == "" {
			problem = found
		}
	}
	return problem, false
}

func containerProblem(container corev1.ContainerStatus) (problem string, definite bool) {
	name := fmt.Sprintf("container %q", container.Name)
	before := ""
	if last := container.LastTerminationState.Terminated; last != nil {
		before = ", it last ended with " + exitDescription(last)
	}
	switch state := container.State; {
	case container.Ready:
		return "", false
	case state.Terminated != nil && state.Terminated.ExitCode != 0:
		return fmt.Sprintf("%s ended with %s", name, exitDescription(state.Terminated)), true
	case state.Waiting != nil:
		isStarting := state.Waiting.Reason == "ContainerCreating" || state.Waiting.Reason == "PodInitializing"
		return fmt.Sprintf("%s waits (%s)%s", name, waitReason(state.Waiting), before), !isStarting || before != ""
	case state.Running != nil:
		return name + " runs but is not ready" + before, before != ""
	default:
		return "", false
	}
}

// waitReason leaves out the message of a crash loop, which counts down.
func waitReason(waiting *corev1.ContainerStateWaiting) string {
	if waiting.Message == "" || waiting.Reason == "CrashLoopBackOff" {
		return waiting.Reason
	}
	return waiting.Reason + ": " + truncate.Line(waiting.Message, truncate.MaxExternal)
}

func exitDescription(terminated *corev1.ContainerStateTerminated) string {
	if terminated.Reason == "" {
		return fmt.Sprintf("exit code %d", terminated.ExitCode)
	}
	return fmt.Sprintf("exit code %d (%s)", terminated.ExitCode, terminated.Reason)
}
