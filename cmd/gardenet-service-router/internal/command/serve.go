package command

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/component-base/metrics/legacyregistry"

	"github.com/trellis-garden/trellis/cmd/gardenet-service-router/internal/router"
	"github.com/trellis-garden/trellis/internal/buildinfo"
	"github.com/trellis-garden/trellis/internal/memory"
)

const (
	readHeaderTimeout = 10 * time.Second
	// shutdownTimeout bounds the end of requests for metrics.
	shutdownTimeout = time.Second
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
	err = runTogether(ctx, listener, mux, r.Run)
	log.Info("Stopped", "binary", name)
	return err
}

// runTogether runs the router and an HTTP server. Each of them ends with the context or the other one.
func runTogether(ctx context.Context, listener net.Listener, handler http.Handler, run func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	server := &http.Server{Handler: handler, ReadHeaderTimeout: readHeaderTimeout}
	var running sync.WaitGroup
	var routed error
	running.Go(func() { _ = memory.NewReleaser().Start(ctx) })
	running.Go(func() {
		defer cancel()
		routed = run(ctx)
	})
	running.Go(func() {
		<-ctx.Done()
		shutdown, stop := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
		defer stop()
		if server.Shutdown(shutdown) != nil {
			_ = server.Close() // of requests that take too long
		}
	})
	err := server.Serve(listener)
	cancel()
	running.Wait()
	if !errors.Is(err, http.ErrServerClosed) {
		return errors.Join(routed, fmt.Errorf("serving HTTP: %w", err))
	}
	return routed
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
	config, err := rest.InClusterConfig()
	if kubeconfig != "" {
		config, err = clientcmd.BuildConfigFromFlags("", kubeconfig)
	}
	if err != nil {
		return nil, fmt.Errorf("finding the API server: %w; give --kubeconfig, or run in a pod", err)
	}
	config.UserAgent = name + "/" + buildinfo.Read().Version
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	return kubernetes.NewForConfig(config)
}
