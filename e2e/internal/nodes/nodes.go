package nodes

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gardener/gardener/pkg/client/kubernetes"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// KubeletPort is where kubelets serve, according to their Nodes.
	KubeletPort = 10250
	// interval is how often servers and Nodes are compared.
	interval = 250 * time.Millisecond
	// bootDuration is the minimum time between the start of a server and the registration of the Node.
	bootDuration = 500 * time.Millisecond
	// heartbeat is the interval of a kubelet's heartbeats.
	heartbeat = 10 * time.Second
	// deletionDelay is how long a Node whose server is gone is unknown, before it is deleted.
	deletionDelay = time.Second
)

// Server has the properties of a server that its Node depends on.
type Server struct {
	// Name is that of its Node.
	ID, Name string
	// Running is set while its operating system runs.
	Running bool
	// ProviderID is its name in Kubernetes.
	ProviderID string
	// Zone and Region are its location, Address its internal address.
	Zone, Region, Address string
	// KubernetesVersion is its kubelet's.
	KubernetesVersion string
}

// Nodes simulates the nodes of one shoot.
type Nodes struct {
	client                     client.Client
	servers                    func(context.Context) ([]Server, error)
	stop                       context.CancelFunc
	ended                      chan struct{}
	realCloudControllerManager bool // a real cloud-controller-manager
	realKubeControllerManager  bool // a real kube-controller-manager
	onResult                   func(error)

	lock    sync.Mutex
	held    bool
	failing string
	seen    map[string]time.Time // by ID
	missed  map[string]time.Time // by name of the Node
}

// Start starts the simulation. servers lists the shoot's servers. The cluster may be hibernated meanwhile.
func Start(ctx context.Context, cluster *rest.Config, servers func(context.Context) ([]Server, error), options ...Option) (*Nodes, error) {
	c, err := client.New(cluster, client.Options{Scheme: kubernetes.ShootScheme})
	if err != nil {
		return nil, fmt.Errorf("preparing to play nodes: %w", err)
	}
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	n := &Nodes{
		client: c, servers: servers, stop: stop, ended: make(chan struct{}),
		seen: map[string]time.Time{}, missed: map[string]time.Time{},
	}
	for _, option := range options {
		option(n)
	}
	go n.run(run)
	return n, nil
}

// Stop leaves all Nodes as they are.
func (n *Nodes) Stop() {
	n.stop()
	<-n.ended
}

// Hold keeps machines from booting, until Release. Booted machines continue.
func (n *Nodes) Hold() { n.set(func() { n.held = true }) }

// Release reverts Hold.
func (n *Nodes) Release() { n.set(func() { n.held = false }) }

// FailUpdates makes all in-place updates fail for a reason, until it is called with an empty one.
func (n *Nodes) FailUpdates(reason string) { n.set(func() { n.failing = reason }) }

func (n *Nodes) set(change func()) {
	n.lock.Lock()
	defer n.lock.Unlock()
	change()
}

// SelectForUpdate selects a node of a pool with manual updates for an update, as an operator does.
func (n *Nodes) SelectForUpdate(ctx context.Context, name string) error {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := n.client.Get(ctx, client.ObjectKeyFromObject(node), node); err != nil {
		return fmt.Errorf("selecting node %s: %w", name, err)
	}
	return n.patch(ctx, node, func() {
		metav1.SetMetaDataLabel(&node.ObjectMeta, machinev1alpha1.LabelKeyNodeSelectedForUpdate, "true")
	})
}

func (n *Nodes) run(ctx context.Context) {
	defer close(n.ended)
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			// An unreachable cluster or cloud is retried. A test that misses a Node asks for the reason.
			if err := n.sync(ctx); n.onResult != nil && ctx.Err() == nil {
				n.onResult(err)
			}
		}
	}
}

// sync compares Nodes and servers.
func (n *Nodes) sync(ctx context.Context) error {
	servers, err := n.servers(ctx)
	if err != nil {
		return err
	}
	list := &corev1.NodeList{}
	if err := n.client.List(ctx, list); err != nil {
		return err
	}
	n.lock.Lock()
	defer n.lock.Unlock()
	taken, nodes := rangesOf(list), map[string]*corev1.Node{}
	for i := range list.Items {
		nodes[list.Items[i].Name] = &list.Items[i]
	}
	var failures []error
	for _, server := range servers {
		switch node := nodes[server.Name]; {
		case !server.Running:
		case node == nil:
			failures = append(failures, n.join(ctx, server, taken))
		default:
			delete(n.missed, node.Name)
			failures = append(failures, n.updateNode(ctx, node, server))
		}
		delete(nodes, server.Name)
	}
	for _, node := range nodes {
		failures = append(failures, n.leave(ctx, node))
	}
	return errors.Join(failures...)
}

// join registers the Node of a machine that has booted.
func (n *Nodes) join(ctx context.Context, server Server, taken ranges) error {
	since, known := n.seen[server.ID]
	if !known {
		n.seen[server.ID] = time.Now()
	}
	if !known || n.held || time.Since(since) < bootDuration {
		return nil
	}
	node := newNode(server)
	if n.realCloudControllerManager {
		removeCloudFields(node)
		if !n.realKubeControllerManager {
			node.Spec.PodCIDR = taken.take()
			node.Spec.PodCIDRs = []string{node.Spec.PodCIDR}
		}
	}
	if err := n.client.Create(ctx, node); err != nil {
		return fmt.Errorf("registering node %s: %w", node.Name, err)
	}
	return n.patchStatus(ctx, node, func() { n.initStatus(node, server) })
}

// leave handles a Node whose server is gone.
func (n *Nodes) leave(ctx context.Context, node *corev1.Node) error {
	if n.realKubeControllerManager {
		return nil
	}
	since, known := n.missed[node.Name]
	if !known {
		n.missed[node.Name] = time.Now()
		return n.patchStatus(ctx, node, func() { setCondition(node, corev1.NodeReady, corev1.ConditionUnknown, "NodeStatusUnknown") })
	}
	if n.realCloudControllerManager || time.Since(since) < deletionDelay || node.DeletionTimestamp != nil {
		return nil
	}
	return client.IgnoreNotFound(n.client.Delete(ctx, node))
}

func (n *Nodes) patch(ctx context.Context, node *corev1.Node, change func()) error {
	patch := client.MergeFromWithOptions(node.DeepCopy(), client.MergeFromWithOptimisticLock{})
	change()
	return client.IgnoreNotFound(n.client.Patch(ctx, node, patch))
}

func (n *Nodes) patchStatus(ctx context.Context, node *corev1.Node, change func()) error {
	patch := client.MergeFromWithOptions(node.DeepCopy(), client.MergeFromWithOptimisticLock{})
	change()
	return client.IgnoreNotFound(n.client.Status().Patch(ctx, node, patch))
}
