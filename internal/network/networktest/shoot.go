package networktest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/network"
)

// labelShoot distinguishes the nodes of one shoot from those of others.
const labelShoot = "networktest.trellis.garden/shoot"

const (
	// readyNodes are the names of nodes that roll out when the test lets them; another one is never ready.
	firstNode, secondNode, notReadyNode = "first", "second", "broken"

	labelGeneration      = "pod-template-generation"
	annotationGeneration = "deprecated.daemonset.template.generation"
)

// shoot is a cluster with three nodes, one of which is not ready. Workloads that the resource manager creates are objects of the API server; simulated
// nodes and kube-controller-manager ignore them until the test lets them roll out. All other objects exist only in the resource manager's records.
type shoot struct {
	*apiServerProxy
	client    client.Client
	nodes     bool
	immediate bool
	mutex     sync.Mutex
	errs      []error
}

// newShoot returns a shoot with nodes or without. If immediate, its nodes roll out at once.
func newShoot(ctx context.Context, server *contracttest.APIServer, nodes, immediate bool) (*shoot, error) {
	namespace, err := server.NewNamespace(ctx)
	if err != nil {
		return nil, err
	}
	g, err := newAPIServerProxy(server.Config, namespace)
	if err != nil {
		return nil, err
	}
	s := &shoot{apiServerProxy: g, client: server.Client, nodes: nodes, immediate: immediate}
	if nodes {
		err = errors.Join(s.createNode(ctx, firstNode, true), s.createNode(ctx, secondNode, true), s.createNode(ctx, notReadyNode, false))
	}
	return s, err
}

func (s *shoot) createNode(ctx context.Context, node string, ready bool) error {
	object := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: s.namespace + "-" + node, Labels: map[string]string{labelShoot: s.namespace}}}
	if err := s.client.Create(ctx, object); err != nil {
		return fmt.Errorf("creating node %s: %w", node, err)
	}
	object.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status(ready), Reason: "Suite"}}
	return s.client.Status().Update(ctx, object)
}

func status(is bool) corev1.ConditionStatus {
	if is {
		return corev1.ConditionTrue
	}
	return corev1.ConditionFalse
}

// mirror creates objects in the API server for workloads in the resource manager's records.
func (s *shoot) mirror(object *unstructured.Unstructured, there bool) {
	if kind := object.GetKind(); kind != "DaemonSet" && kind != "Deployment" {
		return
	}
	if object.GetNamespace() != kubeSystem {
		return
	}
	ctx := context.Background()
	object.SetNamespace(s.namespace)
	var err error
	if there {
		err = s.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("suite"), client.ForceOwnership)
	} else {
		err = client.IgnoreNotFound(s.client.Delete(ctx, object))
	}
	if err == nil && s.immediate {
		err = s.rollOutAll(ctx)
	}
	if err != nil {
		s.mutex.Lock()
		defer s.mutex.Unlock()
		s.errs = append(s.errs, fmt.Errorf("%s %s cannot be in a shoot: %w", object.GetKind(), object.GetName(), err))
	}
}

// violations returns why the shoot could not run its workloads.
func (s *shoot) violations() []string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var sentences []string
	for _, err := range s.errs {
		sentences = append(sentences, err.Error())
	}
	return sentences
}

// rollOutAll rolls all workloads out on all nodes that are ready.
func (s *shoot) rollOutAll(ctx context.Context) error {
	daemonSets, deployments := &appsv1.DaemonSetList{}, &appsv1.DeploymentList{}
	if err := s.client.List(ctx, daemonSets, client.InNamespace(s.namespace)); err != nil {
		return err
	}
	if err := s.client.List(ctx, deployments, client.InNamespace(s.namespace)); err != nil {
		return err
	}
	var errs []error
	for i := range daemonSets.Items {
		errs = append(errs, s.rollOutDaemonSet(ctx, &daemonSets.Items[i], firstNode, secondNode))
	}
	for i := range deployments.Items {
		errs = append(errs, s.rollOutDeployment(ctx, &deployments.Items[i]))
	}
	return errors.Join(errs...)
}

// rollOutWorkload rolls one workload out: completely, or only partly.
func (s *shoot) rollOutWorkload(ctx context.Context, workload network.Workload, completely bool) error {
	key := client.ObjectKey{Namespace: s.namespace, Name: workload.Name}
	if workload.Kind == "Deployment" {
		deployment := &appsv1.Deployment{}
		if err := s.client.Get(ctx, key, deployment); err != nil || !completely {
			return err
		}
		return s.rollOutDeployment(ctx, deployment)
	}
	daemonSet := &appsv1.DaemonSet{}
	if err := s.client.Get(ctx, key, daemonSet); err != nil {
		return err
	}
	if completely {
		return s.rollOutDaemonSet(ctx, daemonSet, firstNode, secondNode)
	}
	return s.rollOutDaemonSet(ctx, daemonSet, firstNode)
}

// rolloutPending reports whether a workload is not rolled out completely.
func (s *shoot) rolloutPending(ctx context.Context, workload network.Workload) (bool, error) {
	key := client.ObjectKey{Namespace: s.namespace, Name: workload.Name}
	if workload.Kind == "Deployment" {
		deployment := &appsv1.Deployment{}
		err := s.client.Get(ctx, key, deployment)
		return deployment.Status.ObservedGeneration < deployment.Generation, err
	}
	daemonSet := &appsv1.DaemonSet{}
	err := s.client.Get(ctx, key, daemonSet)
	return daemonSet.Status.ObservedGeneration < daemonSet.Generation || daemonSet.Status.NumberReady < 2, err
}

// rollOutDaemonSet creates pods of a DaemonSet's newest version on the named nodes, which are ready.
func (s *shoot) rollOutDaemonSet(ctx context.Context, daemonSet *appsv1.DaemonSet, nodes ...string) error {
	daemonSet.Status = appsv1.DaemonSetStatus{ObservedGeneration: daemonSet.Generation}
	if s.nodes {
		for _, node := range nodes {
			if err := s.runPod(ctx, daemonSet, node); err != nil {
				return err
			}
		}
		ready := int32(len(nodes))
		daemonSet.Status.DesiredNumberScheduled, daemonSet.Status.CurrentNumberScheduled = 3, 3
		daemonSet.Status.UpdatedNumberScheduled, daemonSet.Status.NumberReady, daemonSet.Status.NumberAvailable = ready, ready, ready
		daemonSet.Status.NumberUnavailable = 3 - ready
	}
	return s.client.Status().Update(ctx, daemonSet)
}

func (s *shoot) runPod(ctx context.Context, daemonSet *appsv1.DaemonSet, node string) error {
	labels := maps.Clone(daemonSet.Spec.Template.Labels)
	labels[labelGeneration] = daemonSet.Annotations[annotationGeneration]
	pod := &corev1.Pod{}
	key := client.ObjectKey{Namespace: s.namespace, Name: daemonSet.Name + "-" + node}
	err := s.client.Get(ctx, key, pod)
	if err == nil {
		pod.Labels = labels
		return s.client.Update(ctx, pod)
	}
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	pod.Namespace, pod.Name, pod.Labels = key.Namespace, key.Name, labels
	pod.Spec = corev1.PodSpec{NodeName: s.namespace + "-" + node, Containers: []corev1.Container{{Name: "suite", Image: "suite"}}}
	if err := s.client.Create(ctx, pod); err != nil {
		return err
	}
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	return s.client.Status().Update(ctx, pod)
}

func (s *shoot) rollOutDeployment(ctx context.Context, deployment *appsv1.Deployment) error {
	deployment.Status.ObservedGeneration = deployment.Generation
	deployment.Status.Conditions = []appsv1.DeploymentCondition{
		{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue, Reason: "MinimumReplicasAvailable"},
		{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable"},
	}
	return s.client.Status().Update(ctx, deployment)
}

// setRoutes writes the route controller's node conditions: that there are routes to the pods, or that there are none yet.
func (s *shoot) setRoutes(ctx context.Context, made bool, nodes ...string) error {
	for _, name := range nodes {
		node := &corev1.Node{}
		if err := s.client.Get(ctx, client.ObjectKey{Name: s.namespace + "-" + name}, node); err != nil {
			return err
		}
		conditions := []corev1.NodeCondition{node.Status.Conditions[0]}
		if made {
			conditions = append(conditions, corev1.NodeCondition{Type: corev1.NodeNetworkUnavailable, Status: corev1.ConditionFalse, Reason: "RouteCreated"})
		}
		node.Status.Conditions = conditions
		if err := s.client.Status().Update(ctx, node); err != nil {
			return err
		}
	}
	return nil
}
