package main

import (
	"context"
	"fmt"
	"log"
	"net/netip"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	networkinglisters "k8s.io/client-go/listers/networking/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/trellis-garden/trellis/e2e/nodeimage/programs/podnet/policy"
)

// resyncDelay is how long changes are gathered: those of pods that start come by the dozen.
const resyncDelay = 50 * time.Millisecond

// agent brings a node in line with what the API server knows, whenever that changes.
type agent struct {
	node   string
	subnet netip.Prefix

	factory    informers.SharedInformerFactory
	nodes      corelisters.NodeLister
	pods       corelisters.PodLister
	namespaces corelisters.NamespaceLister
	policies   networkinglisters.NetworkPolicyLister

	changed chan struct{}     // holds one at most: that something has
	applied map[string]string // what stands on the node, by what it is
}

func newAgent(clients kubernetes.Interface, node string, subnet netip.Prefix) *agent {
	factory := informers.NewSharedInformerFactoryWithOptions(clients, 0, informers.WithTransform(trim))
	return &agent{
		node: node, subnet: subnet, factory: factory,
		nodes:      factory.Core().V1().Nodes().Lister(),
		pods:       factory.Core().V1().Pods().Lister(),
		namespaces: factory.Core().V1().Namespaces().Lister(),
		policies:   factory.Networking().V1().NetworkPolicies().Lister(),
		changed:    make(chan struct{}, 1),
		applied:    map[string]string{},
	}
}

// trim drops the part of objects that nobody here looks at.
func trim(object any) (any, error) {
	if accessor, ok := object.(metav1.Object); ok {
		accessor.SetManagedFields(nil)
	}
	if pod, ok := object.(*corev1.Pod); ok {
		pod.Spec.Volumes = nil
		for _, containers := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
			for i := range containers {
				containers[i] = corev1.Container{Name: containers[i].Name, Ports: containers[i].Ports}
			}
		}
		pod.Status = corev1.PodStatus{Phase: pod.Status.Phase, PodIP: pod.Status.PodIP}
	}
	return object, nil
}

func (a *agent) run(ctx context.Context) error {
	onChange := cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { a.notifyChanged() },
		UpdateFunc: func(any, any) { a.notifyChanged() },
		DeleteFunc: func(any) { a.notifyChanged() },
	}
	for _, informer := range []cache.SharedIndexInformer{
		a.factory.Core().V1().Nodes().Informer(),
		a.factory.Core().V1().Pods().Informer(),
		a.factory.Core().V1().Namespaces().Informer(),
		a.factory.Networking().V1().NetworkPolicies().Informer(),
	} {
		if _, err := informer.AddEventHandler(onChange); err != nil {
			return fmt.Errorf("watching: %w", err)
		}
	}
	a.factory.Start(ctx.Done())
	defer a.factory.Shutdown()
	a.factory.WaitForCacheSync(ctx.Done())
	for wait := resyncDelay; ; wait = resyncDelay {
		select {
		case <-ctx.Done():
			return nil
		case <-a.changed:
		}
		if err := a.sync(ctx); err != nil {
			log.Print(err)
			wait = time.Second
			a.notifyChanged()
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
	}
}

func (a *agent) notifyChanged() {
	select {
	case a.changed <- struct{}{}:
	default: // it is known already
	}
}

// sync brings the node in line. The container runtime is told last how to connect pods: none starts before the rules stand.
func (a *agent) sync(ctx context.Context) error {
	node, err := a.nodes.Get(a.node)
	if err != nil {
		return fmt.Errorf("looking for our node: %w", err)
	}
	if node.Spec.PodCIDR == "" {
		return nil // there will be another change
	}
	own, err := netip.ParsePrefix(node.Spec.PodCIDR)
	if err != nil {
		return fmt.Errorf("reading the addresses for pods of our node: %w", err)
	}
	if err := a.syncRoutes(ctx); err != nil {
		return err
	}
	ruleset, err := a.ruleset(own)
	if err != nil {
		return err
	}
	if err := a.applyOnce("rules", ruleset, func() error { return filter(ctx, ruleset) }); err != nil {
		return fmt.Errorf("setting the rules: %w", err)
	}
	conflist := conflist(own, mtu(addressOf(node)))
	if err := a.applyOnce("conflist", conflist, func() error { return writeConflist(conflist) }); err != nil {
		return fmt.Errorf("writing the CNI configuration: %w", err)
	}
	return nil
}

// syncRoutes sets a route to the pods of each other node. Nodes don't leave: kind has no way to take one out.
func (a *agent) syncRoutes(ctx context.Context) error {
	nodes, err := a.nodes.List(labels.Everything())
	if err != nil {
		return fmt.Errorf("listing nodes: %w", err)
	}
	for _, node := range nodes {
		pods, gateway := node.Spec.PodCIDR, addressOf(node)
		if node.Name == a.node || pods == "" || gateway == "" {
			continue
		}
		if err := a.applyOnce("route "+pods, gateway, func() error { return route(ctx, pods, gateway) }); err != nil {
			return fmt.Errorf("setting the route to the pods of node %s: %w", node.Name, err)
		}
	}
	return nil
}

func (a *agent) ruleset(own netip.Prefix) (string, error) {
	cluster := policy.Cluster{Node: a.node, NodePods: own, AllPods: a.subnet}
	var err error
	if cluster.Pods, err = a.pods.List(labels.Everything()); err != nil {
		return "", fmt.Errorf("listing pods: %w", err)
	}
	if cluster.Namespaces, err = a.namespaces.List(labels.Everything()); err != nil {
		return "", fmt.Errorf("listing namespaces: %w", err)
	}
	if cluster.Policies, err = a.policies.List(labels.Everything()); err != nil {
		return "", fmt.Errorf("listing NetworkPolicies: %w", err)
	}
	return policy.Ruleset(cluster), nil
}

// applyOnce does what is not done yet.
func (a *agent) applyOnce(what, wanted string, do func() error) error {
	if a.applied[what] == wanted {
		return nil
	}
	if err := do(); err != nil {
		return err
	}
	a.applied[what] = wanted
	return nil
}

// addressOf returns the IPv4 address of a node, or nothing.
func addressOf(node *corev1.Node) string {
	for _, address := range node.Status.Addresses {
		if parsed, err := netip.ParseAddr(address.Address); err == nil && parsed.Is4() && address.Type == corev1.NodeInternalIP {
			return address.Address
		}
	}
	return ""
}
