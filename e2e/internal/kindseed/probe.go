package kindseed

import (
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// CanReach reports whether a pod of a namespace with these labels can connect to an address such as "10.96.0.1:443". It creates and deletes the pod.
func (env *Env) CanReach(ctx context.Context, namespace string, labels map[string]string, address string) (bool, error) {
	pod := dialer(namespace, labels, address)
	if err := env.Client.Create(ctx, pod); err != nil {
		return false, fmt.Errorf("creating a pod that connects to %s: %w", address, err)
	}
	err := env.waitUntil(ctx, func(ctx context.Context) (bool, error) {
		err := env.Client.Get(ctx, client.ObjectKeyFromObject(pod), pod)
		return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed, err
	})
	if err != nil {
		return false, fmt.Errorf("waiting for a pod that connects to %s: %w: %s", address, err, state(*pod))
	}
	if err := env.Client.Delete(ctx, pod, client.GracePeriodSeconds(0)); err != nil {
		return false, fmt.Errorf("deleting a pod that has connected to %s: %w", address, err)
	}
	return pod.Status.Phase == corev1.PodSucceeded, nil
}

// dialer is fit for namespaces in which nothing else may run than what is restricted.
func dialer(namespace string, labels map[string]string, address string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "dialer-", Namespace: namespace, Labels: maps.Clone(labels)},
		Spec: corev1.PodSpec{
			RestartPolicy:                corev1.RestartPolicyNever,
			AutomountServiceAccountToken: new(false),
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot: new(true), RunAsUser: new(int64(65532)),
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{{
				Name: "dialer", Image: standInImage, ImagePullPolicy: corev1.PullNever, Args: []string{"--dial=" + address},
				SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: new(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
			}},
		},
	}
}
