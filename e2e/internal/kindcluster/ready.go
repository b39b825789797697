package kindcluster

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// waitUntilReady waits until all nodes and all pods in kube-system are ready: the pod network, kube-proxy and CoreDNS.
func waitUntilReady(ctx context.Context, config *rest.Config) error {
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("creating a client: %w", err)
	}
	last := "nothing has been looked at yet"
	err = wait.PollUntilContextCancel(ctx, 200*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		last, err = missing(ctx, clients)
		if err != nil {
			last = err.Error() // the API server has just started
		}
		return last == "", nil
	})
	if err != nil {
		return fmt.Errorf("waiting until the cluster is ready: %w; last: %s", err, last)
	}
	return nil
}

// missing describes what is not ready yet; empty when all is.
func missing(ctx context.Context, clients *kubernetes.Clientset) (string, error) {
	nodes, err := clients.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", err
	}
	for _, node := range nodes.Items {
		if !nodeIsReady(node) {
			return fmt.Sprintf("node %s is not ready", node.Name), nil
		}
	}
	sets, err := clients.AppsV1().DaemonSets(metav1.NamespaceSystem).List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", err
	}
	for _, set := range sets.Items {
		if s := set.Status; s.ObservedGeneration < set.Generation || int(s.NumberReady) < len(nodes.Items) {
			return fmt.Sprintf("DaemonSet %s is ready on %d of %d nodes", set.Name, s.NumberReady, len(nodes.Items)), nil
		}
	}
	deployments, err := clients.AppsV1().Deployments(metav1.NamespaceSystem).List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", err
	}
	for _, deployment := range deployments.Items {
		if s := deployment.Status; s.ObservedGeneration < deployment.Generation || s.ReadyReplicas < *deployment.Spec.Replicas {
			return fmt.Sprintf("Deployment %s has %d of %d pods ready", deployment.Name, s.ReadyReplicas, *deployment.Spec.Replicas), nil
		}
	}
	return "", nil
}

func nodeIsReady(node corev1.Node) bool {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}
