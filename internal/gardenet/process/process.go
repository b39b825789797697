// Package process has what the processes of gardenet on a node have in common: how they reach the API server, and an HTTP server for metrics and
// health beside their work. It must not know what that work is.
package process

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/trellis-garden/trellis/internal/memory"
)

const (
	readHeaderTimeout = 10 * time.Second
	// shutdownTimeout bounds the end of requests for metrics.
	shutdownTimeout = time.Second
)

// RESTConfig returns how to reach the API server: by a kubeconfig, the value of the flag --kubeconfig, or as a pod does if it is empty.
func RESTConfig(kubeconfig string) (*rest.Config, error) {
	if kubeconfig != "" {
		config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
		if err != nil {
			return nil, fmt.Errorf("--kubeconfig: %w", err)
		}
		return config, nil
	}
	config, err := rest.InClusterConfig()
	if err != nil {
		return nil, fmt.Errorf("finding the API server: %w; give --kubeconfig, or run in a pod", err)
	}
	return config, nil
}

// Run does the work and serves HTTP, until the context ends or one of both does. The listener is closed then. Memory that is free is given back
// meanwhile. It returns the errors of both; the end of the context is none.
func Run(ctx context.Context, listener net.Listener, handler http.Handler, work func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	server := &http.Server{Handler: handler, ReadHeaderTimeout: readHeaderTimeout}
	var running sync.WaitGroup
	var worked error
	running.Go(func() { _ = memory.NewReleaser().Start(ctx) })
	running.Go(func() {
		defer cancel()
		worked = work(ctx)
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
		return errors.Join(worked, fmt.Errorf("serving HTTP: %w", err))
	}
	return worked
}
