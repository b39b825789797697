package network

import (
	"context"
	"fmt"

	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/gardener/gardener/pkg/utils/kubernetes/health"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/contract/managedresource"
	"github.com/trellis-garden/trellis/internal/contract/shootclient"
	"github.com/trellis-garden/trellis/internal/truncate"
)

const (
	// reasonRouteCreated is the reason in the node condition that Kubernetes' route controller sets when it has created a route to the node's pods.
	reasonRouteCreated = "RouteCreated"
	// labelGeneration on a pod and annotationGeneration on its DaemonSet hold the generation of the template.
	labelGeneration      = "pod-template-generation"
	annotationGeneration = "deprecated.daemonset.template.generation"
)

// gateChecker checks the gate of one Network, in the seed first and then in the shoot.
type gateChecker struct {
	reader                 client.Reader
	namespace, networkType string
}

// check returns what the gate waits for, as a clause for users; empty when it is open.
func (l gateChecker) check(ctx context.Context, gate Gate) (waiting string, err error) {
	resource := &resourcesv1alpha1.ManagedResource{}
	// A cached read may be older than the last write, and report that everything is applied.
	err = l.reader.Get(ctx, client.ObjectKey{Namespace: l.namespace, Name: resourceShoot(l.networkType)}, resource)
	if apierrors.IsNotFound(err) {
		return fmt.Sprintf("ManagedResource %s is not there", resourceShoot(l.networkType)), nil
	}
	if err != nil {
		return "", fmt.Errorf("reading ManagedResource %s: %w", resourceShoot(l.networkType), err)
	}
	if waiting := managedresource.ApplyPendingReason(resource); waiting != "" {
		return waiting, nil
	}
	if len(gate.Workloads) == 0 && !gate.Routes {
		return "", nil
	}
	shoot, err := shootclient.New(ctx, l.reader, l.namespace)
	if err != nil {
		return "", err
	}
	if waiting, err = gate.inShoot(ctx, shoot); err != nil {
		return "", cloud.Errorf(cloud.Unavailable, "looking at the shoot's nodes: %w", err)
	}
	return waiting, nil
}

func (g Gate) inShoot(ctx context.Context, shoot client.Reader) (waiting string, err error) {
	for _, workload := range g.Workloads {
		if waiting, err = workload.rolloutPending(ctx, shoot); waiting != "" || err != nil {
			return waiting, err
		}
	}
	if g.Routes {
		return nodesWithoutRoute(ctx, shoot)
	}
	return "", nil
}

func (w Workload) rolloutPending(ctx context.Context, shoot client.Reader) (waiting string, err error) {
	key := client.ObjectKey{Namespace: w.Namespace, Name: w.Name}
	switch w.Kind {
	case "DaemonSet":
		daemonSet := &appsv1.DaemonSet{}
		if err := shoot.Get(ctx, key, daemonSet); err != nil {
			return workloadMissing(w, err)
		}
		return daemonSetPending(ctx, shoot, daemonSet)
	case "Deployment":
		deployment := &appsv1.Deployment{}
		if err := shoot.Get(ctx, key, deployment); err != nil {
			return workloadMissing(w, err)
		}
		return deploymentPending(deployment), nil
	default:
		return "", fmt.Errorf("unsupported kind of workload %q", w.Kind)
	}
}

func workloadMissing(w Workload, err error) (string, error) {
	if apierrors.IsNotFound(err) {
		return fmt.Sprintf("%s %s/%s is not there", w.Kind, w.Namespace, w.Name), nil
	}
	return "", err
}

func deploymentPending(deployment *appsv1.Deployment) string {
	if progressing, reason := health.IsDeploymentProgressing(deployment); progressing {
		return fmt.Sprintf("Deployment %s/%s is not rolled out (%s)", deployment.Namespace, deployment.Name, truncate.Line(reason, truncate.MaxExternal))
	}
	if err := health.CheckDeployment(deployment); err != nil {
		return fmt.Sprintf("Deployment %s/%s is not healthy (%s)", deployment.Namespace, deployment.Name, truncate.Line(err.Error(), truncate.MaxExternal))
	}
	return ""
}

// daemonSetPending reads single nodes only when the DaemonSet's own counters do not suffice.
func daemonSetPending(ctx context.Context, shoot client.Reader, daemonSet *appsv1.DaemonSet) (string, error) {
	status := daemonSet.Status
	switch {
	case status.ObservedGeneration < daemonSet.Generation:
		return fmt.Sprintf("DaemonSet %s/%s is not observed yet", daemonSet.Namespace, daemonSet.Name), nil
	case status.UpdatedNumberScheduled >= status.DesiredNumberScheduled && status.NumberUnavailable == 0:
		return "", nil
	}
	current, err := nodesWithCurrentPod(ctx, shoot, daemonSet)
	if err != nil {
		return "", err
	}
	ready, lagging, example := 0, 0, ""
	err = shootclient.EachNode(ctx, shoot, func(node *corev1.Node) error {
		if !isReady(node) {
			return nil
		}
		ready++
		if !current[node.Name] {
			lagging++
			example = node.Name
		}
		return nil
	})
	if err != nil || lagging == 0 {
		return "", err
	}
	return fmt.Sprintf("DaemonSet %s/%s runs in its newest version on %d of %d ready nodes, not on %s",
		daemonSet.Namespace, daemonSet.Name, ready-lagging, ready, example), nil
}

// nodesWithCurrentPod returns the names of the nodes on which a pod of the DaemonSet's newest version is ready.
func nodesWithCurrentPod(ctx context.Context, shoot client.Reader, daemonSet *appsv1.DaemonSet) (map[string]bool, error) {
	selector, err := metav1.LabelSelectorAsSelector(daemonSet.Spec.Selector)
	if err != nil {
		return nil, err
	}
	current := map[string]bool{}
	options := client.ListOptions{Namespace: daemonSet.Namespace, LabelSelector: selector}
	err = shootclient.EachPod(ctx, shoot, options, func(pod *corev1.Pod) error {
		if pod.Labels[labelGeneration] == daemonSet.Annotations[annotationGeneration] && health.IsPodReady(pod) {
			current[pod.Spec.NodeName] = true
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("looking at DaemonSet %s: %w", daemonSet.Name, err)
	}
	return current, nil
}

func nodesWithoutRoute(ctx context.Context, shoot client.Reader) (string, error) {
	ready, lagging, example := 0, 0, ""
	err := shootclient.EachNode(ctx, shoot, func(node *corev1.Node) error {
		if !isReady(node) {
			return nil
		}
		ready++
		if !hasRoute(node) {
			lagging++
			example = node.Name
		}
		return nil
	})
	if err != nil || lagging == 0 {
		return "", err
	}
	return fmt.Sprintf("the route controller has made routes to the pods of %d of %d ready nodes, not of %s", ready-lagging, ready, example), nil
}

func hasRoute(node *corev1.Node) bool {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeNetworkUnavailable {
			return condition.Status == corev1.ConditionFalse && condition.Reason == reasonRouteCreated
		}
	}
	return false
}

func isReady(node *corev1.Node) bool {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}
