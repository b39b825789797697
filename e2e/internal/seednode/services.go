package seednode

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// services forwards connections to Services, keeps the names of Services, and gives addresses to those of type LoadBalancer.
type services struct {
	node          *node
	gatewayRoutes []gatewayRoute

	lock     sync.Mutex
	forwards map[string]*forward // by address and port
	routes   map[netip.Addr]bool // of ClusterIPs to this machine
	names    *names
	closed   bool
}

func newServices(n *node) *services {
	return &services{node: n, forwards: map[string]*forward{}, routes: map[netip.Addr]bool{}, names: &names{}}
}

// reconcile follows all Services.
func (s *services) reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	again, err := s.sync(ctx)
	if err != nil && ctx.Err() == nil {
		s.node.logf("Services: %v", err)
	}
	return reconcile.Result{RequeueAfter: again}, err
}

// sync returns after which time it should be called again at the latest.
func (s *services) sync(ctx context.Context) (again time.Duration, err error) {
	list, endpoints := &corev1.ServiceList{}, &discoveryv1.EndpointSliceList{}
	if err := errors.Join(s.node.cache.List(ctx, list), s.node.cache.List(ctx, endpoints)); err != nil {
		return 0, err
	}
	api, err := apiServerAddress(s.node.REST.Host)
	if err != nil {
		return 0, err
	}
	view := newServiceView(list.Items, endpoints.Items, s.node.runs)
	_, others, err := s.readHosts()
	failures := []error{err}
	names := view.names(others)
	s.lock.Lock()
	s.names = names
	s.lock.Unlock()
	if slices.ContainsFunc(list.Items, func(service corev1.Service) bool { return isGateway(&service) }) {
		again = gatewayInterval
		failures = append(failures, s.readRoutes(ctx))
	}
	failures = append(failures, s.writeHosts(names.text), s.route(ctx, view.addresses()), s.follow(ctx, view.destinations(api, s.gatewayRoutes)))
	for i := range list.Items {
		failures = append(failures, s.setLoadBalancer(ctx, &list.Items[i]))
	}
	return again, errors.Join(failures...)
}

// runs reports whether an endpoint is served: it is a pod whose containers run, or no pod.
func (n *node) runs(endpoint *discoveryv1.Endpoint) bool {
	if endpoint.TargetRef == nil || endpoint.TargetRef.Kind != "Pod" {
		return true
	}
	n.lock.Lock()
	defer n.lock.Unlock()
	return n.pods[endpoint.TargetRef.UID] != nil
}

// apiServerAddress returns the address of an API server, with its port.
func apiServerAddress(host string) (string, error) {
	if !strings.Contains(host, "://") {
		host = "https://" + host
	}
	parsed, err := url.Parse(host)
	if err != nil {
		return "", fmt.Errorf("reading the address of the API server: %w", err)
	}
	port := parsed.Port()
	if port == "" {
		port = "443"
	}
	return net.JoinHostPort(parsed.Hostname(), port), nil
}

// serviceView has all Services with their endpoints.
type serviceView struct {
	services []corev1.Service
	slices   map[client.ObjectKey][]discoveryv1.EndpointSlice
	runs     func(*discoveryv1.Endpoint) bool
}

func newServiceView(services []corev1.Service, slices []discoveryv1.EndpointSlice, runs func(*discoveryv1.Endpoint) bool) *serviceView {
	v := &serviceView{services: services, slices: map[client.ObjectKey][]discoveryv1.EndpointSlice{}, runs: runs}
	for _, slice := range slices {
		key := client.ObjectKey{Namespace: slice.Namespace, Name: slice.Labels[discoveryv1.LabelServiceName]}
		v.slices[key] = append(v.slices[key], slice)
	}
	return v
}

// endpoints calls do for all ready endpoints of a Service.
func (v *serviceView) endpoints(service *corev1.Service, do func(*discoveryv1.EndpointSlice, *discoveryv1.Endpoint)) {
	for _, slice := range v.slices[client.ObjectKeyFromObject(service)] {
		for i := range slice.Endpoints {
			endpoint := &slice.Endpoints[i]
			isReady := endpoint.Conditions.Ready == nil || *endpoint.Conditions.Ready || service.Spec.PublishNotReadyAddresses
			if isReady && v.runs(endpoint) {
				do(&slice, endpoint)
			}
		}
	}
}

// hasClusterIP reports whether a Service has an address of its own.
func hasClusterIP(service *corev1.Service) bool {
	return service.Spec.Type != corev1.ServiceTypeExternalName && service.Spec.ClusterIP != "" && service.Spec.ClusterIP != corev1.ClusterIPNone
}

// addresses lists the addresses of all Services.
func (v *serviceView) addresses() map[netip.Addr]bool {
	all := map[netip.Addr]bool{}
	for i := range v.services {
		if address, err := netip.ParseAddr(v.services[i].Spec.ClusterIP); err == nil && hasClusterIP(&v.services[i]) {
			all[address] = true
		}
	}
	return all
}

// targets lists where connections to Services lead to. A Service without an endpoint is left out, so that connections are refused.
func (v *serviceView) targets(apiServer string) map[string][]string {
	targets := map[string][]string{}
	for i := range v.services {
		service := &v.services[i]
		if !hasClusterIP(service) {
			continue
		}
		for _, port := range service.Spec.Ports {
			if port.Protocol != corev1.ProtocolTCP && port.Protocol != "" {
				continue
			}
			at := net.JoinHostPort(service.Spec.ClusterIP, strconv.Itoa(int(port.Port)))
			if client.ObjectKeyFromObject(service) == apiService() {
				targets[at] = []string{apiServer}
				continue
			}
			if found := v.targetsOf(service, port.Name); len(found) > 0 {
				targets[at] = found
			}
		}
	}
	return targets
}

// destinations adds to targets where connections to ingress gateways lead to.
func (v *serviceView) destinations(apiServer string, routes []gatewayRoute) map[string]destinations {
	all, targets := map[string]destinations{}, v.targets(apiServer)
	for at, to := range targets {
		all[at] = destinations{targets: to}
	}
	byHost := v.gatewayTargets(routes, targets)
	for i := range v.services {
		if service := &v.services[i]; isGateway(service) && hasClusterIP(service) && len(byHost) > 0 {
			all[net.JoinHostPort(service.Spec.ClusterIP, strconv.Itoa(gatewayPort))] = destinations{byHost: byHost}
		}
	}
	return all
}

// targetsOf lists the endpoints of a Service's port, sorted.
func (v *serviceView) targetsOf(service *corev1.Service, port string) []string {
	found := map[string]bool{}
	v.endpoints(service, func(slice *discoveryv1.EndpointSlice, endpoint *discoveryv1.Endpoint) {
		for _, p := range slice.Ports {
			if p.Port == nil || p.Name != nil && *p.Name != port {
				continue
			}
			for _, address := range endpoint.Addresses {
				found[net.JoinHostPort(address, strconv.Itoa(int(*p.Port)))] = true
			}
		}
	})
	return slices.Sorted(maps.Keys(found))
}

// follow opens and closes listeners.
func (s *services) follow(ctx context.Context, all map[string]destinations) error {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.closed {
		return nil
	}
	for at, f := range s.forwards {
		if all[at].isEmpty() {
			f.stopListening()
			delete(s.forwards, at)
		}
	}
	var failures []error
	for _, at := range slices.Sorted(maps.Keys(all)) {
		f := s.forwards[at]
		if f == nil {
			var err error
			if f, err = newForward(ctx, at); err != nil {
				failures = append(failures, err)
				continue
			}
			s.forwards[at] = f
		}
		f.lead(all[at])
	}
	return errors.Join(failures...)
}

// route makes the addresses of all Services those of this machine: connections to a Service without endpoints are refused here, too.
func (s *services) route(ctx context.Context, addresses map[netip.Addr]bool) error {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.closed {
		return nil
	}
	var lines strings.Builder
	for address := range addresses {
		if !s.routes[address] {
			fmt.Fprintf(&lines, "route replace local %s dev lo\n", address)
		}
	}
	for address := range s.routes {
		if !addresses[address] {
			fmt.Fprintf(&lines, "route del local %s dev lo\n", address)
		}
	}
	if err := batch(ctx, lines.String()); err != nil {
		return fmt.Errorf("routing the addresses of Services to this machine: %w", err)
	}
	s.routes = addresses
	return nil
}

func batch(ctx context.Context, lines string) error {
	if lines == "" {
		return nil
	}
	return command(ctx, lines, "ip", "-batch", "-")
}

// setLoadBalancer gives an address to a Service of type LoadBalancer: its ClusterIP, so that it works.
func (s *services) setLoadBalancer(ctx context.Context, service *corev1.Service) error {
	if service.Spec.Type != corev1.ServiceTypeLoadBalancer || !hasClusterIP(service) || len(service.Status.LoadBalancer.Ingress) > 0 {
		return nil
	}
	changed := service.DeepCopy()
	changed.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: service.Spec.ClusterIP}}
	return client.IgnoreNotFound(s.node.client.Status().Patch(ctx, changed, client.MergeFrom(service)))
}

// close ends all connections and removes all routes.
func (s *services) close() {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.closed = true
	for _, f := range s.forwards {
		f.close()
	}
	var lines strings.Builder
	for ip := range s.routes {
		fmt.Fprintf(&lines, "route del local %s dev lo\n", ip)
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	if err := batch(ctx, lines.String()); err != nil {
		s.node.logf("Removing the routes of Services failed: %v", err)
	}
}
