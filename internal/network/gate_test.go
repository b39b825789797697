package network

import (
	"context"
	"fmt"
	"slices"
	"testing"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
)

// shootCluster is an API server whose nodes and workloads are those of a shoot. Its tests run one after the other: nodes are in
// no namespace.
type shootCluster struct {
	client.WithWatch
	t         *testing.T
	namespace string
}

func newShootCluster(t *testing.T) *shootCluster {
	t.Helper()
	server := sharedAPIServer.Get(t)
	namespace, err := server.NewNamespace(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, server.Client.DeleteAllOf(context.Background(), &corev1.Node{})) })
	return &shootCluster{WithWatch: server.Client, t: t, namespace: namespace}
}

func (s *shootCluster) createNode(name string, ready corev1.ConditionStatus, others ...corev1.NodeCondition) {
	s.t.Helper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	require.NoError(s.t, s.Create(s.t.Context(), node))
	node.Status.Conditions = slices.Concat(others, []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready}})
	require.NoError(s.t, s.Status().Update(s.t.Context(), node))
}

// createDaemonSet is a DaemonSet that the API server itself has given the second version of its template.
func (s *shootCluster) createDaemonSet() *appsv1.DaemonSet {
	s.t.Helper()
	labels := map[string]string{"app": "example-net"}
	daemonSet := &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "example-net"},
		Spec: appsv1.DaemonSetSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "example-net", Image: "example-net:v1"}}},
		}},
	}
	require.NoError(s.t, s.Create(s.t.Context(), daemonSet))
	daemonSet.Spec.Template.Spec.Containers[0].Image = "example-net:v2"
	require.NoError(s.t, s.Update(s.t.Context(), daemonSet))
	require.Equal(s.t, "2", daemonSet.Annotations[annotationGeneration])
	return daemonSet
}

// setCounts sets what the DaemonSet's controller counts.
func (s *shootCluster) setCounts(daemonSet *appsv1.DaemonSet, desired, updated, unavailable int32) {
	s.t.Helper()
	daemonSet.Status = appsv1.DaemonSetStatus{
		ObservedGeneration: daemonSet.Generation, DesiredNumberScheduled: desired, UpdatedNumberScheduled: updated, NumberUnavailable: unavailable,
	}
	require.NoError(s.t, s.Status().Update(s.t.Context(), daemonSet))
}

func (s *shootCluster) createPod(node, generation string, ready corev1.ConditionStatus) {
	s.t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: s.namespace, GenerateName: "example-net-", Labels: map[string]string{"app": "example-net", labelGeneration: generation},
		},
		Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "example-net", Image: "example-net"}}},
	}
	require.NoError(s.t, s.Create(s.t.Context(), pod))
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}}
	require.NoError(s.t, s.Status().Update(s.t.Context(), pod))
}

// pagedReader returns lists two at a time, as the API server does with lists of more than a page.
type pagedReader struct {
	client.Reader
	lists int
}

func (s *pagedReader) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	s.lists++
	return s.Reader.List(ctx, list, append(options, client.Limit(2))...)
}

func (s *shootCluster) waitingFor(gate Gate) string {
	s.t.Helper()
	waiting, err := gate.inShoot(s.t.Context(), &pagedReader{Reader: s})
	require.NoError(s.t, err)
	return waiting
}

func TestGate_DaemonSet(t *testing.T) {
	s := newShootCluster(t)
	gate := Gate{Workloads: []Workload{{Kind: "DaemonSet", Namespace: s.namespace, Name: "example-net"}}}
	name := s.namespace + "/example-net"
	assert.Equal(t, "DaemonSet "+name+" is not there", s.waitingFor(gate))
	daemonSet := s.createDaemonSet()
	assert.Equal(t, "DaemonSet "+name+" is not observed yet", s.waitingFor(gate))
	s.setCounts(daemonSet, 0, 0, 0)
	assert.Empty(t, s.waitingFor(gate), "without nodes it runs wherever it should")

	for n := range 5 {
		s.createNode(fmt.Sprintf("node-%d", n), corev1.ConditionTrue)
	}
	s.createNode("lost", corev1.ConditionUnknown)
	s.createNode("broken", corev1.ConditionFalse)
	s.setCounts(daemonSet, 7, 5, 0)
	assert.Equal(t, "DaemonSet "+name+" runs in its newest version on 0 of 5 ready nodes, not on node-4", s.waitingFor(gate))
	for n := range 4 {
		s.createPod(fmt.Sprintf("node-%d", n), "2", corev1.ConditionTrue)
	}
	s.createPod("node-4", "1", corev1.ConditionTrue)
	assert.Equal(t, "DaemonSet "+name+" runs in its newest version on 4 of 5 ready nodes, not on node-4", s.waitingFor(gate), "an old pod does not count")
	s.createPod("node-4", "2", corev1.ConditionFalse)
	assert.Contains(t, s.waitingFor(gate), "4 of 5 ready nodes", "nor one that is not ready")
	s.createPod("node-4", "2", corev1.ConditionTrue)
	assert.Empty(t, s.waitingFor(gate), "nodes that are not ready do not keep it shut")

	s.setCounts(daemonSet, 7, 7, 0)
	pages := &pagedReader{Reader: s}
	waiting, err := gate.inShoot(t.Context(), pages)
	require.NoError(t, err)
	assert.Empty(t, waiting)
	assert.Zero(t, pages.lists, "where the numbers suffice nobody reads pods and nodes")
	s.setCounts(daemonSet, 7, 7, 1)
	assert.Empty(t, s.waitingFor(gate))
}

func TestGate_ListsInPages(t *testing.T) {
	s := newShootCluster(t)
	daemonSet := s.createDaemonSet()
	s.setCounts(daemonSet, 6, 5, 1)
	for n := range 5 {
		s.createNode(fmt.Sprintf("node-%d", n), corev1.ConditionTrue)
		s.createPod(fmt.Sprintf("node-%d", n), "2", corev1.ConditionTrue)
	}
	pages := &pagedReader{Reader: s}
	waiting, err := Gate{Workloads: []Workload{{Kind: "DaemonSet", Namespace: s.namespace, Name: "example-net"}}}.inShoot(t.Context(), pages)
	require.NoError(t, err)
	assert.Empty(t, waiting)
	assert.Equal(t, 6, pages.lists, "three pages of pods and three of nodes")
}

func TestGate_Deployment(t *testing.T) {
	s := newShootCluster(t)
	gate := Gate{Workloads: []Workload{{Kind: "Deployment", Namespace: s.namespace, Name: "agent"}}}
	assert.Contains(t, s.waitingFor(gate), "is not there")
	labels := map[string]string{"app": "agent"}
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "agent"},
		Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "agent", Image: "agent"}}},
		}},
	}
	require.NoError(t, s.Create(t.Context(), deployment))
	assert.Contains(t, s.waitingFor(gate), "is not rolled out")
	report := func(conditions ...appsv1.DeploymentCondition) {
		deployment.Status = appsv1.DeploymentStatus{ObservedGeneration: deployment.Generation, Conditions: conditions}
		require.NoError(t, s.Status().Update(t.Context(), deployment))
	}
	progressing := appsv1.DeploymentCondition{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "ReplicaSetUpdated", Message: "1 of 2 replicas"}
	available := appsv1.DeploymentCondition{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue}
	report(progressing, available)
	assert.Equal(t, "Deployment "+s.namespace+"/agent is not rolled out (1 of 2 replicas)", s.waitingFor(gate))
	progressing.Reason = "NewReplicaSetAvailable"
	available.Status = corev1.ConditionFalse
	report(progressing, available)
	assert.Contains(t, s.waitingFor(gate), "agent is not healthy")
	available.Status = corev1.ConditionTrue
	report(progressing, available)
	assert.Empty(t, s.waitingFor(gate))
}

func TestGate_Routes(t *testing.T) {
	s := newShootCluster(t)
	gate := Gate{Routes: true}
	networkUnavailable := func(status corev1.ConditionStatus, reason string) corev1.NodeCondition {
		return corev1.NodeCondition{Type: corev1.NodeNetworkUnavailable, Status: status, Reason: reason}
	}
	assert.Empty(t, s.waitingFor(gate), "without nodes there is nobody to find")
	for n := range 3 {
		s.createNode(fmt.Sprintf("routed-%d", n), corev1.ConditionTrue, networkUnavailable(corev1.ConditionFalse, "RouteCreated"))
	}
	s.createNode("broken", corev1.ConditionFalse)
	assert.Empty(t, s.waitingFor(gate))
	s.createNode("unrouted", corev1.ConditionTrue, networkUnavailable(corev1.ConditionTrue, "NoRouteCreated"))
	assert.Equal(t, "the route controller has made routes to the pods of 3 of 4 ready nodes, not of unrouted", s.waitingFor(gate))
	s.createNode("untold", corev1.ConditionTrue)
	assert.Contains(t, s.waitingFor(gate), "3 of 5 ready nodes")
	s.createNode("told-by-another", corev1.ConditionTrue, networkUnavailable(corev1.ConditionFalse, "CalicoIsUp"))
	assert.Contains(t, s.waitingFor(gate), "3 of 6 ready nodes", "what a plugin says tells nothing of routes")
}

func TestGate_UnknownKind(t *testing.T) {
	s := newShootCluster(t)
	_, err := Gate{Workloads: []Workload{{Kind: "StatefulSet", Namespace: s.namespace, Name: "example-net"}}}.inShoot(t.Context(), s)
	assert.EqualError(t, err, `unsupported kind of workload "StatefulSet"`)
}

// staleReader is an API server with a stale cache: it does not return the last writes.
type staleReader struct {
	client.Reader
	stale *resourcesv1alpha1.ManagedResource
}

func (f staleReader) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	asked := (&client.GetOptions{}).ApplyOptions(options)
	if resource, ok := object.(*resourcesv1alpha1.ManagedResource); ok && asked.Raw != nil && asked.Raw.ResourceVersion == "0" {
		f.stale.DeepCopyInto(resource)
		return nil
	}
	return f.Reader.Get(ctx, key, object, options...)
}

func TestGateChecker_StaleManagedResource(t *testing.T) {
	s := newShootCluster(t)
	old := contracttest.ManagedResource("extension-networking-example-net-config")
	resource := old.DeepCopy()
	resource.Namespace = s.namespace
	require.NoError(t, s.Create(t.Context(), resource))
	waiting, err := gateChecker{reader: staleReader{Reader: s, stale: old}, namespace: s.namespace, networkType: "example-net"}.check(t.Context(), Gate{})
	require.NoError(t, err)
	assert.Equal(t, "gardener-resource-manager has not applied extension-networking-example-net-config yet", waiting)
}

// TestGateChecker_SeedBeforeShoot goes by what gardenlet and gardener-resource-manager leave in the seed.
func TestGateChecker_SeedBeforeShoot(t *testing.T) {
	s := newShootCluster(t)
	object := &extensionsv1alpha1.Network{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "one"}}
	object.Spec.Type = "example-net"
	pending := func(gate string) {
		object.Status.State = &runtime.RawExtension{Raw: fmt.Appendf(nil,
			`{"apiVersion":"network.trellis.garden/v1alpha1","kind":"NetworkState","form":{},"stage":{"name":"rolling out","gate":%s}}`, gate)}
	}
	checker := gateChecker{reader: s, namespace: s.namespace, networkType: "example-net"}
	pending(`{}`)
	require.True(t, isBetweenStages(object))
	waiting, err := checker.check(t.Context(), Gate{})
	require.NoError(t, err)
	assert.Equal(t, "ManagedResource extension-networking-example-net-config is not there", waiting)

	resource := contracttest.ManagedResource("extension-networking-example-net-config", contracttest.ManagedResourceState{Kind: resourcesv1alpha1.ResourcesApplied})
	resource.Namespace, resource.Generation = s.namespace, 0
	require.NoError(t, s.Create(t.Context(), resource))
	due, err := isGateOpen(t.Context(), s, object)
	require.NoError(t, err)
	assert.False(t, due, "nothing has been applied yet")
	applied := contracttest.ManagedResource("any")
	resource.Status.Conditions, resource.Status.ObservedGeneration = applied.Status.Conditions, resource.Generation
	require.NoError(t, s.Status().Update(t.Context(), resource))
	due, err = isGateOpen(t.Context(), s, object)
	require.NoError(t, err)
	assert.True(t, due, "that it is applied is all that this gate asks for, and nobody looks into the shoot")

	pending(`{"routes":true}`)
	_, err = isGateOpen(t.Context(), s, object)
	assert.ErrorContains(t, err, "reading the kubeconfig of the shoot from Secret gardener-internal, or gardener outside of a seed: ")

	config := clientcmdapi.NewConfig()
	server := sharedAPIServer.Get(t).Config
	config.Clusters["shoot"] = &clientcmdapi.Cluster{Server: server.Host, CertificateAuthorityData: server.CAData}
	config.AuthInfos["gardener"] = &clientcmdapi.AuthInfo{ClientCertificateData: server.CertData, ClientKeyData: server.KeyData}
	config.Contexts["shoot"] = &clientcmdapi.Context{Cluster: "shoot", AuthInfo: "gardener"}
	config.CurrentContext = "shoot"
	kubeconfig, err := clientcmd.Write(*config)
	require.NoError(t, err)
	require.NoError(t, s.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "gardener-internal"}, Data: map[string][]byte{"kubeconfig": kubeconfig},
	}))
	s.createNode("untold", corev1.ConditionTrue)
	due, err = isGateOpen(t.Context(), s, object)
	require.NoError(t, err)
	assert.False(t, due)
	node := &corev1.Node{}
	require.NoError(t, s.Get(t.Context(), client.ObjectKey{Name: "untold"}, node))
	node.Status.Conditions = append(node.Status.Conditions, corev1.NodeCondition{Type: corev1.NodeNetworkUnavailable, Status: corev1.ConditionFalse, Reason: "RouteCreated"})
	require.NoError(t, s.Status().Update(t.Context(), node))
	due, err = isGateOpen(t.Context(), s, object)
	require.NoError(t, err)
	assert.True(t, due)
}
