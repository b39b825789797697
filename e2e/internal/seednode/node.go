package seednode

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/trellis-garden/trellis/e2e/internal/apiserver"
	"github.com/trellis-garden/trellis/e2e/internal/standin"
)

// Config configures a node. All fields without "optional" are required.
type Config struct {
	// REST is an administrator's config. Its host is also where the Service default/kubernetes leads to.
	REST *rest.Config
	// NodeName is the name of the Node, which is created if it does not exist.
	NodeName string
	// Labels are further labels of the Node. Optional.
	Labels map[string]string
	// Programs returns the path of the program of a container. It must not need shared libraries. Containers without one are only reported as
	// running.
	Programs func(image, container string) (path string, ok bool)
	// Dir is a folder for files of pods. The output of a container is in Dir/<namespace>/<pod>/<container>.log, and stays.
	Dir string
	// Hosts is a file that always has the names of all Services, in the format of /etc/hosts, for processes beside the pods. It is written in
	// place, so that it may be mounted.
	Hosts string
	// PodRange has the addresses of pods.
	PodRange netip.Prefix
	// Bridge is an existing bridge with an address, in a network that has PodRange in it.
	Bridge string
	// Address is the address of the node. Optional, default that of the bridge.
	Address netip.Addr
	// Log gets a line for each change. Optional.
	Log io.Writer
	// Overrides returns other arguments of a container, nil for its own (its command without the program, and its args), and variables to add or
	// replace. Arguments are expanded. Optional.
	Overrides func(pod *corev1.Pod, c *corev1.Container) (args []string, env []corev1.EnvVar)
	// OnStandIn is called once for each image that has no program. Optional.
	OnStandIn func(standin.StandIn)
}

// stopTimeout bounds the end of all containers when Run ends.
const stopTimeout = 10 * time.Second

// node is a running node.
type node struct {
	Config

	client      client.Client // Secrets and ConfigMaps are not cached
	cache       client.Reader // of all kinds
	bridge      netip.Prefix  // with its address
	addresses   *addresses
	standIns    *standIns
	services    *services
	allocatable corev1.ResourceList
	events      chan event.GenericEvent
	stopping    <-chan struct{}
	logLock     sync.Mutex

	lock sync.Mutex
	pods map[types.UID]*pod // of known programs
}

// Run is the node until ctx ends. It returns after all its processes have ended.
func Run(ctx context.Context, c Config) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	n := &node{
		Config: c, events: make(chan event.GenericEvent), stopping: ctx.Done(), pods: map[types.UID]*pod{},
		standIns: &standIns{report: c.OnStandIn, reported: map[string]bool{}},
		allocatable: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("64"), corev1.ResourceMemory: resource.MustParse("256Gi"), corev1.ResourcePods: resource.MustParse("1000"),
			corev1.ResourceEphemeralStorage: resource.MustParse("1Ti"),
		},
	}
	if n.Log == nil {
		n.Log = io.Discard
	}
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return fmt.Errorf("creating the folder of pods: %w", err)
	}
	if err := n.readBridge(); err != nil {
		return err
	}
	mgr, err := n.manager(ctx)
	if err != nil {
		return fmt.Errorf("preparing node %s: %w", c.NodeName, err)
	}
	if err := n.join(ctx); err != nil {
		return fmt.Errorf("registering node %s: %w", c.NodeName, err)
	}
	var beside sync.WaitGroup
	beside.Go(func() { n.keepLease(ctx) })
	err = mgr.Start(ctx)
	cancel()
	n.stopPods()
	n.services.close()
	beside.Wait()
	if err != nil {
		return fmt.Errorf("running node %s: %w", c.NodeName, err)
	}
	return nil
}

// manager returns a manager with the controllers of pods and Services.
func (n *node) manager(ctx context.Context) (manager.Manager, error) {
	cluster := rest.CopyConfig(n.REST)
	cluster.QPS = -1
	mgr, err := manager.New(cluster, manager.Options{
		Scheme: clientgoscheme.Scheme, Logger: logr.Discard(), Metrics: server.Options{BindAddress: "0"},
		Controller:              config.Controller{SkipNameValidation: new(true)},
		Client:                  client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}, &corev1.ConfigMap{}}}},
		GracefulShutdownTimeout: new(stopTimeout),
	})
	if err != nil {
		return nil, err
	}
	n.client, n.cache = mgr.GetClient(), mgr.GetCache()
	n.services = newServices(n)
	if err := builder.ControllerManagedBy(mgr).Named("pods").
		For(&corev1.Pod{}).
		WatchesRawSource(source.Channel(n.events, &handler.EnqueueRequestForObject{})).
		WithOptions(controller.Options{MaxConcurrentReconciles: 4}).
		Complete(reconcile.Func(n.reconcilePod)); err != nil {
		return nil, err
	}
	all := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request { return []reconcile.Request{{}} })
	if err := builder.ControllerManagedBy(mgr).Named("services").
		Watches(&corev1.Service{}, all).
		Watches(&discoveryv1.EndpointSlice{}, all).
		Complete(reconcile.Func(n.services.reconcile)); err != nil {
		return nil, err
	}
	return mgr, apiserver.WaitUntilAccepted(ctx, mgr.GetAPIReader())
}

// join creates or updates the Node.
func (n *node) join(ctx context.Context) error {
	object := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.NodeName}}
	uncached, err := client.New(n.REST, client.Options{Scheme: clientgoscheme.Scheme})
	if err != nil {
		return err
	}
	if _, err := controllerutil.CreateOrPatch(ctx, uncached, object, func() error {
		metav1.SetMetaDataLabel(&object.ObjectMeta, corev1.LabelHostname, n.NodeName)
		metav1.SetMetaDataLabel(&object.ObjectMeta, corev1.LabelOSStable, "linux")
		metav1.SetMetaDataLabel(&object.ObjectMeta, corev1.LabelArchStable, "amd64")
		for name, value := range n.Labels {
			metav1.SetMetaDataLabel(&object.ObjectMeta, name, value)
		}
		return nil
	}); err != nil {
		return err
	}
	patch := client.MergeFrom(object.DeepCopy())
	now := metav1.Now()
	object.Status.Capacity, object.Status.Allocatable = n.allocatable, n.allocatable
	object.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: n.Address.String()}, {Type: corev1.NodeHostName, Address: n.NodeName}}
	object.Status.NodeInfo.OperatingSystem, object.Status.NodeInfo.Architecture, object.Status.NodeInfo.KubeletVersion = "linux", "amd64", "v1.36.3"
	object.Status.Conditions = []corev1.NodeCondition{{
		Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", LastHeartbeatTime: now, LastTransitionTime: now,
	}}
	return uncached.Status().Patch(ctx, object, patch)
}

const (
	leaseDuration = 40 * time.Second
	leaseRenewal  = 10 * time.Second
)

// keepLease renews the Lease of the node, by which Kubernetes knows that it is alive.
func (n *node) keepLease(ctx context.Context) {
	uncached, err := client.New(n.REST, client.Options{Scheme: clientgoscheme.Scheme})
	if err != nil {
		n.logf("Renewing the Lease of the node failed: %v", err)
		return
	}
	for {
		lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: corev1.NamespaceNodeLease, Name: n.NodeName}}
		_, err := controllerutil.CreateOrPatch(ctx, uncached, lease, func() error {
			lease.Spec.HolderIdentity, lease.Spec.LeaseDurationSeconds = &n.NodeName, new(int32(leaseDuration/time.Second))
			lease.Spec.RenewTime = new(metav1.NowMicro())
			return nil
		})
		if err != nil && ctx.Err() == nil {
			n.logf("Renewing the Lease of the node failed: %v", err)
		}
		wait := leaseRenewal
		if apierrors.IsNotFound(err) { // the namespace, soon after the start of the API server
			wait = time.Second
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// stopPods ends all pods' processes.
func (n *node) stopPods() {
	n.lock.Lock()
	pods := slices.Collect(maps.Values(n.pods))
	n.lock.Unlock()
	for _, p := range pods {
		p.stop(stopTimeout)
	}
	for _, p := range pods {
		<-p.ended
	}
}

// enqueue makes the controller look at a pod.
func (n *node) enqueue(object client.Object) {
	select {
	case n.events <- event.GenericEvent{Object: object}:
	case <-n.stopping:
	}
}

func (n *node) logf(format string, args ...any) {
	n.logLock.Lock()
	defer n.logLock.Unlock()
	_, _ = fmt.Fprintf(n.Log, time.Now().UTC().Format("15:04:05.000")+" "+format+"\n", args...)
}
