// Command podnet is the network of the pods of a node: it tells the container runtime how to connect a pod (a CNI
// configuration), keeps a route to the pods of every other node, and makes NetworkPolicies hold. It runs as a pod on each node's
// own network. IPv4 only.
//
// It takes its place from the environment: NODE_NAME and POD_SUBNET (all nodes' pods, e.g. 10.244.0.0/16), and where kind names the
// API server before there are Services, CONTROL_PLANE_ENDPOINT.
package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		log.Fatal("podnet: ", err)
	}
}

func run(ctx context.Context) error {
	subnet, err := netip.ParsePrefix(os.Getenv("POD_SUBNET"))
	if err != nil {
		return fmt.Errorf("reading the environment variable POD_SUBNET: %w", err)
	}
	if host, port, err := net.SplitHostPort(os.Getenv("CONTROL_PLANE_ENDPOINT")); err == nil {
		// The kubelet may have started us before it has heard of the Service.
		_ = os.Setenv("KUBERNETES_SERVICE_HOST", host)
		_ = os.Setenv("KUBERNETES_SERVICE_PORT", port)
	}
	config, err := rest.InClusterConfig()
	if err != nil {
		return fmt.Errorf("reading the ServiceAccount: %w", err)
	}
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("creating a client: %w", err)
	}
	a := newAgent(clients, os.Getenv("NODE_NAME"), subnet)
	log.Printf("node %s, pods %s, API server %s", a.node, subnet, config.Host)
	return a.run(ctx)
}
