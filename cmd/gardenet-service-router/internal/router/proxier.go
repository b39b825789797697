package router

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/proxy"
	"k8s.io/kubernetes/pkg/proxy/apis"
	"k8s.io/kubernetes/pkg/proxy/config"
	"k8s.io/kubernetes/pkg/proxy/healthcheck"
	"k8s.io/kubernetes/pkg/proxy/nftables"
	proxyutil "k8s.io/kubernetes/pkg/proxy/util"
	utilnode "k8s.io/kubernetes/pkg/util/node"
)

// These are kube-proxy's defaults, and the bit of packet marks that its rules use in all modes: where both have rules, either may masquerade what the other has
// marked. gardenet's own table marks connections, not packets.
const (
	resyncInterval = 15 * time.Minute
	retryInterval  = 30 * time.Second
	minSyncPeriod  = time.Second
	masqueradeBit  = 14
)

// healthRetryInterval is how often a router tries to listen at kube-proxy's port while kube-proxy still does.
const healthRetryInterval = 5 * time.Second

// proxier is Kubernetes' proxier with what it is fed by.
type proxier struct {
	proxy.Provider
	// failed gets an error when the process has to start anew.
	failed chan error

	mutex    sync.Mutex
	topology map[string]string
}

// OnTopologyChange implements config.NodeTopologyHandler.
func (p *proxier) OnTopologyChange(topology map[string]string) {
	p.mutex.Lock()
	p.topology = topology
	p.mutex.Unlock()
	p.Provider.OnTopologyChange(topology)
}

// syncAll makes all rules anew. To the proxier it is as if the labels of the node had changed: it has no other way to ask for that.
func (p *proxier) syncAll() {
	p.mutex.Lock()
	topology := p.topology
	p.mutex.Unlock()
	p.Provider.OnTopologyChange(topology)
}

// startProxier starts the proxier, its informers, and the server for load balancers. They end with the process.
func (r *Router) startProxier(ctx context.Context) (*proxier, error) {
	ctx = klog.NewContext(ctx, r.options.Log)
	nodes, err := proxy.NewNodeManager(ctx, r.options.Client, resyncInterval, r.options.Node, false)
	if err != nil {
		return nil, fmt.Errorf("reading the own Node: %w", err)
	}
	addresses := byFamily(nodes.NodeIPs())
	if len(addresses) == 0 {
		return nil, errors.New("the own Node has no addresses")
	}
	health := healthcheck.NewProxyHealthServer(r.options.HealthAddress, 2*retryInterval, nodes)
	provider, err := r.newProvider(ctx, addresses, health)
	if err != nil {
		return nil, fmt.Errorf("creating the proxier: %w", err)
	}
	p := &proxier{Provider: provider, failed: make(chan error, 1)}
	p.OnServiceCIDRsChanged(textsOf(r.options.ServiceRanges))
	r.feed(ctx, p, nodes)
	go p.SyncLoop()
	r.health.Store(health)
	if !r.options.HandOver {
		go wait.UntilWithContext(ctx, func(ctx context.Context) {
			r.options.Log.V(1).Info("Not serving health", "reason", health.Run(ctx))
		}, healthRetryInterval)
	}
	return p, nil
}

// newProvider returns the proxier for the families of the pods.
func (r *Router) newProvider(ctx context.Context, addresses map[corev1.IPFamily]net.IP, health *healthcheck.ProxyHealthServer) (proxy.Provider, error) {
	recorder := logRecorder{r.options.Log}
	// The addresses of the Node are those at which node ports are reached.
	var nodePorts []string
	for _, family := range []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol} {
		if address, ok := netip.AddrFromSlice(addresses[family]); ok {
			nodePorts = append(nodePorts, netip.PrefixFrom(address, address.BitLen()).String())
		}
	}
	detectors := map[corev1.IPFamily]proxyutil.LocalTrafficDetector{}
	for _, prefix := range r.options.PodRanges {
		detectors[familyOf(prefix.Addr())] = proxyutil.NewDetectLocalByCIDR(prefix.String())
	}
	families := r.options.families()
	if len(families) == 1 {
		family := families[0]
		return nftables.NewProxier(ctx, family, retryInterval, minSyncPeriod, false, masqueradeBit, detectors[family], r.options.Node, addresses[family],
			recorder, health, nodePorts, false)
	}
	return nftables.NewDualStackProxier(ctx, retryInterval, minSyncPeriod, false, masqueradeBit, detectors, r.options.Node, addresses,
		recorder, health, nodePorts, false)
}

// feed starts the informers of what the proxier routes. What it does not need of the objects is not kept.
func (r *Router) feed(ctx context.Context, p *proxier, nodes *proxy.NodeManager) {
	services := r.informers(apis.LabelServiceProxyName, fields.OneTermNotEqualSelector("spec.clusterIP", corev1.ClusterIPNone))
	serviceConfig := config.NewServiceConfig(ctx, services.Core().V1().Services(), resyncInterval)
	serviceConfig.RegisterEventHandler(p)
	go serviceConfig.Run(ctx.Done())

	slicesOf := r.informers(corev1.IsHeadlessService, fields.Everything())
	sliceConfig := config.NewEndpointSliceConfig(ctx, slicesOf.Discovery().V1().EndpointSlices(), resyncInterval)
	sliceConfig.RegisterEventHandler(p)
	go sliceConfig.Run(ctx.Done())

	services.Start(ctx.Done())
	slicesOf.Start(ctx.Done())

	nodeConfig := config.NewNodeConfig(ctx, nodes.NodeInformer(), resyncInterval)
	nodeConfig.RegisterEventHandler(nodes)
	nodeConfig.RegisterEventHandler(&addressWatcher{addresses: nodes.NodeIPs(), failed: p.failed})
	topologyConfig := config.NewNodeTopologyConfig(ctx, nodes.NodeInformer(), resyncInterval)
	topologyConfig.RegisterEventHandler(p)
	go nodeConfig.Run(ctx.Done())
}

// informers returns informers of objects without a label.
func (r *Router) informers(without string, selector fields.Selector) informers.SharedInformerFactory {
	return informers.NewSharedInformerFactoryWithOptions(r.options.Client, resyncInterval,
		informers.WithTransform(withoutManagedFields),
		informers.WithTweakListOptions(func(options *metav1.ListOptions) {
			options.LabelSelector, options.FieldSelector = "!"+without, selector.String()
		}))
}

func withoutManagedFields(object any) (any, error) {
	if accessor, err := meta.Accessor(object); err == nil {
		accessor.SetManagedFields(nil)
	}
	return object, nil
}

// addressWatcher notices that the Node has other addresses. The proxier is made for those at its start.
type addressWatcher struct {
	addresses []net.IP
	failed    chan error
}

var _ config.NodeHandler = (*addressWatcher)(nil)

// OnNodeChange implements config.NodeHandler.
func (w *addressWatcher) OnNodeChange(node *corev1.Node) {
	addresses, err := utilnode.GetNodeHostIPs(node)
	if err != nil || slices.EqualFunc(addresses, w.addresses, net.IP.Equal) {
		return
	}
	select {
	case w.failed <- fmt.Errorf("the addresses of the Node have changed from %v to %v", w.addresses, addresses):
	default: // it is on its way to start anew
	}
}

// OnNodeDelete implements config.NodeHandler.
func (w *addressWatcher) OnNodeDelete(*corev1.Node) {}

// OnNodeSynced implements config.NodeHandler.
func (w *addressWatcher) OnNodeSynced() {}

// byFamily returns the first address of each family.
func byFamily(addresses []net.IP) map[corev1.IPFamily]net.IP {
	found := map[corev1.IPFamily]net.IP{}
	for _, address := range addresses {
		if parsed, ok := netip.AddrFromSlice(address); ok {
			parsed = parsed.Unmap()
			if family := familyOf(parsed); found[family] == nil {
				found[family] = parsed.AsSlice()
			}
		}
	}
	return found
}
