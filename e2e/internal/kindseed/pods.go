package kindseed

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/kubelet"
)

// timeout bounds each wait. It is long, because it only takes time if something has failed.
const timeout = 4 * time.Minute

// waitUntil waits for a condition. An error ends it.
func (env *Env) waitUntil(ctx context.Context, holds func(context.Context) (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for {
		if done, err := holds(ctx); err != nil || done {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// Pods lists the pods of an installed controller: all of its namespace, since their labels name the binary and not the registration.
func (env *Env) Pods(ctx context.Context, binary string) ([]corev1.Pod, error) {
	namespace, err := env.Namespace(ctx, binary)
	if err != nil {
		return nil, err
	}
	list := &corev1.PodList{}
	if err := env.Client.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("listing the pods of %s: %w", binary, err)
	}
	return list.Items, nil
}

// ReadyPods lists the pods that are ready and not being deleted.
func (env *Env) ReadyPods(ctx context.Context, binary string) ([]corev1.Pod, error) {
	pods, err := env.Pods(ctx, binary)
	var ready []corev1.Pod
	for _, pod := range pods {
		if pod.DeletionTimestamp == nil && kubelet.IsReady(&pod) {
			ready = append(ready, pod)
		}
	}
	return ready, err
}

// Deployment reads the Deployment of an installed controller.
func (env *Env) Deployment(ctx context.Context, binary string) (*appsv1.Deployment, error) {
	namespace, err := env.Namespace(ctx, binary)
	if err != nil {
		return nil, err
	}
	deployment := &appsv1.Deployment{}
	err = env.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: ObjectName(binary)}, deployment)
	return deployment, err
}

// ObjectName is the name of a controller's Deployment, ServiceAccount, Service and other objects.
func ObjectName(binary string) string { return "gardener-extension-" + RegistrationName(binary) }

// LeaderElectionID is the name of a controller's Lease for leader election.
func LeaderElectionID(binary string) string { return RegistrationName(binary) + "-leader-election" }

// RegistrationName is the name of the registration of a controller: of a binary with all its types, or another name as it is.
func RegistrationName(binary string) string { return strings.TrimSuffix(binary, "-controller") }

// Lease reads a Lease in the namespace of an installed controller.
func (env *Env) Lease(ctx context.Context, binary, name string) (*coordinationv1.Lease, error) {
	namespace, err := env.Namespace(ctx, binary)
	if err != nil {
		return nil, err
	}
	lease := &coordinationv1.Lease{}
	err = env.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, lease)
	return lease, err
}

// Leader waits for a leader, and returns its pod.
func (env *Env) Leader(ctx context.Context, binary string) (*corev1.Pod, error) {
	var leader *corev1.Pod
	err := env.waitUntil(ctx, func(ctx context.Context) (bool, error) {
		lease, err := env.Lease(ctx, binary, LeaderElectionID(binary))
		if client.IgnoreNotFound(err) != nil {
			return false, err
		}
		pods, err := env.ReadyPods(ctx, binary)
		for i := range pods {
			if lease.Spec.HolderIdentity != nil && strings.HasPrefix(*lease.Spec.HolderIdentity, pods[i].Name) {
				leader = &pods[i]
			}
		}
		return leader != nil, err
	})
	if err != nil {
		return nil, fmt.Errorf("waiting for a leader of %s: %w", binary, err)
	}
	return leader, nil
}

// Kill deletes a pod without a grace period, as the loss of its node does.
func (env *Env) Kill(ctx context.Context, namespace, name string) error {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}}
	if err := env.Client.Delete(ctx, pod, client.GracePeriodSeconds(0)); err != nil {
		return fmt.Errorf("killing pod %s: %w", name, err)
	}
	return nil
}

// Logs returns the output of a container, or with previous that of the container that ended before in the same pod.
func (env *Env) Logs(ctx context.Context, namespace, pod, container string, previous bool) (string, error) {
	clients, err := kubernetes.NewForConfig(env.Config)
	if err != nil {
		return "", fmt.Errorf("creating a client: %w", err)
	}
	stream, err := clients.CoreV1().Pods(namespace).GetLogs(pod, &corev1.PodLogOptions{Container: container, Previous: previous}).Stream(ctx)
	if err != nil {
		return "", fmt.Errorf("reading the log of pod %s: %w", pod, err)
	}
	defer func() { _ = stream.Close() }()
	content, err := io.ReadAll(stream)
	return string(content), err
}

// Report describes the state of all pods outside kube-system, and the last output of those that are not ready, for the search for the cause of
// a failure.
func (env *Env) Report(ctx context.Context, lines int) string {
	list := &corev1.PodList{}
	if err := env.Client.List(ctx, list); err != nil {
		return "listing pods: " + err.Error()
	}
	var report strings.Builder
	for _, pod := range list.Items {
		isExtension := strings.HasPrefix(pod.Namespace, v1beta1constants.GardenRoleExtension+"-")
		if pod.Namespace == metav1.NamespaceSystem {
			continue
		}
		fmt.Fprintf(&report, "%s/%s: %s\n", pod.Namespace, pod.Name, state(pod))
		if kubelet.IsReady(&pod) && !isExtension {
			continue
		}
		for _, container := range pod.Spec.Containers {
			log, err := env.Logs(ctx, pod.Namespace, pod.Name, container.Name, false)
			if err != nil {
				log = err.Error()
			}
			fmt.Fprintf(&report, "--- %s\n%s\n", container.Name, tail(log, lines))
		}
	}
	return report.String()
}

// state describes in a line what a pod waits for.
func state(pod corev1.Pod) string {
	words := []string{string(pod.Status.Phase)}
	for _, container := range pod.Status.ContainerStatuses {
		switch {
		case container.State.Waiting != nil:
			words = append(words, fmt.Sprintf("%s waits: %s %s", container.Name, container.State.Waiting.Reason, container.State.Waiting.Message))
		case container.State.Terminated != nil:
			words = append(words, fmt.Sprintf("%s ended: %s", container.Name, container.State.Terminated.Reason))
		}
		if container.RestartCount > 0 {
			words = append(words, fmt.Sprintf("%s restarted %d times", container.Name, container.RestartCount))
		}
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status != corev1.ConditionTrue {
			words = append(words, condition.Message)
		}
	}
	return strings.Join(words, "; ")
}

func tail(text string, most int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-most):], "\n")
}
