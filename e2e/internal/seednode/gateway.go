package seednode

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// gatewayApp is the label "app" of the pods of Istio's ingress gateways, gatewayPort their port for TLS.
	gatewayApp  = "istio-ingressgateway"
	gatewayPort = 443
	// gatewayInterval is how often Istio's objects are read: their kind may be created at any time, so they are not watched.
	gatewayInterval = 2 * time.Second
)

// isGateway reports whether a Service is that of an ingress gateway.
func isGateway(service *corev1.Service) bool { return service.Spec.Selector["app"] == gatewayApp }

// gatewayRoute leads connections to hosts, in which a first label * stands for any, to the port of a Service.
type gatewayRoute struct {
	hosts   []string
	service string // name.namespace
	port    int64
}

// readRoutes reads the routes of all VirtualServices. If that fails, the present ones stay.
func (s *services) readRoutes(ctx context.Context) error {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: "networking.istio.io", Version: "v1beta1", Kind: "VirtualServiceList"})
	if err := s.node.client.List(ctx, list); err != nil && !meta.IsNoMatchError(err) {
		return fmt.Errorf("reading the routes of ingress gateways: %w", err)
	}
	s.gatewayRoutes = nil
	for _, item := range list.Items {
		s.gatewayRoutes = append(s.gatewayRoutes, routesOf(item.Object)...)
	}
	return nil
}

// routesOf returns the routes of a VirtualService by the names in TLS' first message, which is as far as connections are looked into. Where a
// gateway would end TLS and decide by requests, connections go where it sends those to that are in no way special.
func routesOf(virtualService map[string]any) []gatewayRoute {
	var routes []gatewayRoute
	for _, rule := range objects(virtualService, "spec", "tls") {
		route, found := routeOf(rule)
		if !found {
			continue
		}
		for _, match := range objects(rule, "match") {
			hosts, _, _ := unstructured.NestedStringSlice(match, "sniHosts")
			route.hosts = append(route.hosts, hosts...)
		}
		routes = append(routes, route)
	}
	for _, rule := range objects(virtualService, "spec", "http") {
		if route, found := routeOf(rule); found && !isSpecial(rule) {
			route.hosts, _, _ = unstructured.NestedStringSlice(virtualService, "spec", "hosts")
			return append(routes, route)
		}
	}
	return routes
}

// isSpecial reports whether a rule is for some requests only.
func isSpecial(rule map[string]any) bool { return len(objects(rule, "match")) > 0 }

// routeOf returns the first destination of a rule.
func routeOf(rule map[string]any) (gatewayRoute, bool) {
	for _, destination := range objects(rule, "route") {
		host, _, _ := unstructured.NestedString(destination, "destination", "host")
		port, _, _ := unstructured.NestedInt64(destination, "destination", "port", "number")
		return gatewayRoute{service: strings.TrimSuffix(strings.TrimSuffix(host, "."), "."+clusterDomain), port: port}, true
	}
	return gatewayRoute{}, false
}

// objects returns the objects in a list.
func objects(object map[string]any, path ...string) []map[string]any {
	entries, _, _ := unstructured.NestedSlice(object, path...)
	var found []map[string]any
	for _, entry := range entries {
		if object, is := entry.(map[string]any); is {
			found = append(found, object)
		}
	}
	return found
}

// gatewayTargets lists where connections to ingress gateways lead to, by host. Hosts without an endpoint are left out.
func (v *serviceView) gatewayTargets(routes []gatewayRoute, targets map[string][]string) map[string][]string {
	addresses := map[string]string{}
	for i := range v.services {
		addresses[v.services[i].Name+"."+v.services[i].Namespace] = v.services[i].Spec.ClusterIP
	}
	byHost := map[string][]string{}
	for _, route := range routes {
		found := targets[net.JoinHostPort(addresses[route.service], strconv.FormatInt(route.port, 10))]
		for _, host := range route.hosts {
			if len(found) > 0 {
				byHost[host] = found
			}
		}
	}
	return byHost
}

// targetsFor returns the targets of a host: those of its name, or those of the name with * as its first label.
func targetsFor(byHost map[string][]string, host string) []string {
	if found := byHost[host]; len(found) > 0 {
		return found
	}
	_, parent, _ := strings.Cut(host, ".")
	return byHost["*."+parent]
}

// helloTimeout bounds the time until a client has said which server it wants.
const helloTimeout = 10 * time.Second

// readServerName reads the first message of TLS, and returns the name of the server in it, and all that was read.
func readServerName(connection net.Conn) (name string, read []byte, err error) {
	if err := connection.SetReadDeadline(time.Now().Add(helloTimeout)); err != nil {
		return "", nil, err
	}
	recorder, done := &recorder{Conn: connection}, errors.New("the first message is read")
	err = tls.Server(recorder, &tls.Config{GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		name = hello.ServerName
		return nil, done
	}}).Handshake()
	if !errors.Is(err, done) {
		return "", nil, err
	}
	return name, recorder.read.Bytes(), connection.SetReadDeadline(time.Time{})
}

// recorder remembers what was read from a connection, and writes nothing to it.
type recorder struct {
	net.Conn

	read bytes.Buffer
}

func (r *recorder) Read(p []byte) (int, error) {
	n, err := r.Conn.Read(p)
	r.read.Write(p[:n])
	return n, err
}

func (*recorder) Write(p []byte) (int, error) { return len(p), nil }
