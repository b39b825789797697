package command

import (
	"context"
	"fmt"
	"net"
	"net/http"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/component-base/metrics/legacyregistry"

	"github.com/trellis-garden/trellis/cmd/gardenet-service-router/internal/router"
	"github.com/trellis-garden/trellis/internal/buildinfo"
	"github.com/trellis-garden/trellis/internal/gardenet/process"
)

// serve runs the router and its HTTP server until the context ends, or one of them fails.
func serve(ctx context.Context, o options, log logr.Logger) error {
	client, err := newClient(o.kubeconfig)
	if err != nil {
		return err
	}
	r := router.New(router.Options{
		Node: o.node, PodRanges: o.podRanges, ServiceRanges: o.serviceRanges, HandOver: o.handOver, HealthAddress: o.healthAddress, KubeProxy: o.kubeProxy,
		NFT: o.nft, VerifyInterval: o.verifyInterval, Client: client, Log: log.WithName("router"),
	})
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", o.bindAddress)
	if err != nil {
		return fmt.Errorf("--bind-address: listening: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("/metrics", legacyregistry.Handler())
	mux.Handle("/healthz", probe(r.Alive))
	mux.Handle("/readyz", probe(r.Ready))
	log.Info("Starting", "binary", name, "version", buildinfo.Read().String(), "node", o.node, "address", listener.Addr().String(), "handOver", o.handOver)
	err = process.Run(ctx, listener, mux, r.Run)
	log.Info("Stopped", "binary", name)
	return err
}

// probe answers with what keeps the check from being true.
func probe(check func() error) http.Handler {
	return http.HandlerFunc(func(response http.ResponseWriter, _ *http.Request) {
		if err := check(); err != nil {
			http.Error(response, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(response, "ok")
	})
}

// newClient returns a client of the API server: by a kubeconfig, or as a pod has it.
func newClient(kubeconfig string) (kubernetes.Interface, error) {
	config, err := process.RESTConfig(kubeconfig)
	if err != nil {
		return nil, err
	}
	config.UserAgent = name + "/" + buildinfo.Read().Version
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	return kubernetes.NewForConfig(config)
}
