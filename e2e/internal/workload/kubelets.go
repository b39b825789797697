// Package workload simulates the nodes of a cluster: pods become ready as if they ran, unless a test prevents it, and a single container may run
// as a real process. It must not depend on the workload.
package workload

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/trellis-garden/trellis/e2e/internal/apiserver"
	"github.com/trellis-garden/trellis/e2e/internal/kubelet"
)

// Kubelets simulate the kubelet for all pods of a cluster. Without OnNodes a pod is not bound to a node. Kubernetes' own controllers do the rest,
// such as a Deployment's status.
type Kubelets struct {
	client   client.Client
	stop     context.CancelFunc
	stopping <-chan struct{} // closed by stop
	ended    chan struct{}
	err      error // of the manager; valid once ended is closed
	events   chan event.GenericEvent
	onNodes  bool

	lock      sync.Mutex
	held      map[client.ObjectKey]bool
	heldNodes map[string]bool
	addresses int // how many pods have got one
}

// Option configures Kubelets.
type Option func(*Kubelets)

// OnNodes makes pods run on the nodes of the cluster: those of a DaemonSet on the node that they name, others on any ready node that is not drained; they wait if
// there is none. No pod starts or ends on a node that is not ready.
func OnNodes() Option { return func(k *Kubelets) { k.onNodes = true } }

// Start starts Kubelets for the cluster of an administrator's config.
func Start(ctx context.Context, cluster *rest.Config, options ...Option) (*Kubelets, error) {
	mgr, err := manager.New(cluster, manager.Options{
		Scheme:     clientgoscheme.Scheme,
		Logger:     logr.Discard(),
		Metrics:    server.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)},
	})
	if err != nil {
		return nil, fmt.Errorf("preparing simulated kubelets: %w", err)
	}
	k := &Kubelets{
		client: mgr.GetClient(), ended: make(chan struct{}), events: make(chan event.GenericEvent),
		held: map[client.ObjectKey]bool{}, heldNodes: map[string]bool{},
	}
	for _, option := range options {
		option(k)
	}
	wiring := builder.ControllerManagedBy(mgr).
		For(&corev1.Pod{}).
		WatchesRawSource(source.Channel(k.events, handler.EnqueueRequestsFromMapFunc(k.pods))).
		WithOptions(controller.Options{MaxConcurrentReconciles: 4})
	if k.onNodes {
		wiring.Watches(&corev1.Node{}, handler.EnqueueRequestsFromMapFunc(k.pods))
	}
	if err := wiring.Complete(reconcile.AsReconciler(k.client, k)); err != nil {
		return nil, fmt.Errorf("preparing simulated kubelets: %w", err)
	}
	if err := apiserver.WaitUntilAccepted(ctx, mgr.GetAPIReader()); err != nil {
		return nil, fmt.Errorf("preparing simulated kubelets: %w", err)
	}
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	k.stop, k.stopping = stop, run.Done()
	go k.run(run, mgr)
	syncing, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-k.ended: // the caches of a manager that has ended are never synced
			cancel()
		case <-syncing.Done():
		}
	}()
	if !mgr.GetCache().WaitForCacheSync(syncing) {
		return nil, errors.Join(fmt.Errorf("waiting for pods: %w", syncing.Err()), k.Stop())
	}
	return k, nil
}

// run runs the manager. If it ends before Stop, it prints the error at once, since pods would not become ready any more.
func (k *Kubelets) run(ctx context.Context, mgr manager.Manager) {
	defer close(k.ended)
	if k.err = mgr.Start(ctx); k.err != nil && ctx.Err() == nil {
		fmt.Fprintf(os.Stderr, "the simulated kubelets have ended: %v\n", k.err)
	}
}

// Ended is closed when the simulation has ended, by Stop or by itself.
func (k *Kubelets) Ended() <-chan struct{} { return k.ended }

// Stop leaves all pods as they are.
func (k *Kubelets) Stop() error {
	k.stop()
	<-k.ended
	if k.err != nil {
		return fmt.Errorf("simulating kubelets: %w", k.err)
	}
	return nil
}

// Hold keeps the pods of a Deployment or DaemonSet from being ready, including those that are ready.
func (k *Kubelets) Hold(namespace, name string) { k.set(namespace, name, true) }

// Release reverts Hold.
func (k *Kubelets) Release(namespace, name string) { k.set(namespace, name, false) }

func (k *Kubelets) set(namespace, name string, held bool) {
	k.lock.Lock()
	k.held[client.ObjectKey{Namespace: namespace, Name: name}] = held
	k.lock.Unlock()
	k.enqueuePods(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}})
}

// enqueuePods enqueues the pods in the namespace of an object.
func (k *Kubelets) enqueuePods(object client.Object) {
	select {
	case k.events <- event.GenericEvent{Object: object}:
	case <-k.stopping:
	}
}

// pods lists the pods in the namespace of an object, or all for a cluster-scoped one.
func (k *Kubelets) pods(ctx context.Context, object client.Object) []reconcile.Request {
	list := &corev1.PodList{}
	if err := k.client.List(ctx, list, client.InNamespace(object.GetNamespace())); err != nil {
		return nil // of the cache: the manager has ended
	}
	var requests []reconcile.Request
	for _, pod := range list.Items {
		requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&pod)})
	}
	return requests
}

// Reconcile updates the status of a pod.
func (k *Kubelets) Reconcile(ctx context.Context, pod *corev1.Pod) (reconcile.Result, error) {
	if k.onNodes {
		if onNode, err := k.syncToNode(ctx, pod); !onNode || err != nil {
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}
	}
	if pod.DeletionTimestamp != nil {
		return reconcile.Result{}, nil
	}
	pending := pod.Status.Phase != corev1.PodRunning
	held, started := k.isHeld(pod), !pending
	if held && pending || started && kubelet.IsReady(pod) != held {
		return reconcile.Result{}, nil
	}
	patch := client.MergeFrom(pod.DeepCopy())
	kubelet.SetRunning(&pod.Status, pod.Spec.Containers, !held)
	return reconcile.Result{}, client.IgnoreNotFound(k.client.Status().Patch(ctx, pod, patch))
}

// isHeld reports whether a pod must not be ready.
func (k *Kubelets) isHeld(pod *corev1.Pod) bool {
	k.lock.Lock()
	defer k.lock.Unlock()
	return k.held[client.ObjectKey{Namespace: pod.Namespace, Name: workloadOf(pod)}] ||
		k.heldNodes[pod.Spec.NodeName] && pod.Status.Phase != corev1.PodRunning
}

// workloadOf returns the name of a pod's Deployment or DaemonSet. A ReplicaSet's name is that of its Deployment and the hash of the template.
func workloadOf(pod *corev1.Pod) string {
	owner := metav1.GetControllerOf(pod)
	if owner == nil {
		return pod.Name
	}
	return strings.TrimSuffix(owner.Name, "-"+pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey])
}
