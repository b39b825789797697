package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	admissionmetrics "k8s.io/apiserver/pkg/admission/metrics"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/component-base/metrics/legacyregistry"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	webhookadmission "sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/trellis-garden/trellis/internal/metriclist"
	"github.com/trellis-garden/trellis/internal/queue"
)

// exerciseTimeout bounds what takes milliseconds.
const exerciseTimeout = 30 * time.Second

// metricsOfLibraries uses the parts of the libraries that the binaries use, once, so that their metrics have series, and gathers these.
func metricsOfLibraries(ctx context.Context) ([]metriclist.Metric, error) {
	log.SetLogger(logr.Discard())
	ctx, cancel := context.WithTimeout(ctx, exerciseTimeout)
	defer cancel()
	for name, exercise := range map[string]func(context.Context) error{
		"controller": runController, "webhook": callWebhook, "client": sendRequest, "leader election": newElector,
	} {
		if err := exercise(logr.NewContext(ctx, logr.Discard())); err != nil {
			return nil, fmt.Errorf("using the %s of the libraries: %w", name, err)
		}
	}
	running := queue.New("example", nil) // that of the controller has ended
	defer running.ShutDown()
	all, err := metriclist.Gather(metrics.Registry)
	if err != nil {
		return nil, err
	}
	prefixes := []string{"controller_runtime_", "workqueue_", "rest_client_", "leader_election_", "process_", "go_goroutines", "go_memstats_heap_alloc_bytes"}
	return slices.DeleteFunc(all, func(m metriclist.Metric) bool {
		return !slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(m.Name, prefix) })
	}), nil
}

// runController runs a controller until it has reconciled an object.
func runController(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c, err := controller.NewUnmanaged("example", controller.Options{
		NewQueue:       queue.New,
		LogConstructor: func(*reconcile.Request) logr.Logger { return logr.Discard() },
		Reconciler: reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
			cancel()
			return reconcile.Result{}, nil
		}),
	})
	if err != nil {
		return err
	}
	err = c.Watch(source.Func(func(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		queue.Add(reconcile.Request{})
		return nil
	}))
	if err != nil {
		return err
	}
	return c.Start(ctx)
}

// callWebhook sends one request to a webhook.
func callWebhook(ctx context.Context) error {
	handler, err := webhookadmission.StandaloneWebhook(&webhook.Admission{
		Handler: webhookadmission.HandlerFunc(func(context.Context, webhookadmission.Request) webhookadmission.Response {
			return webhookadmission.Allowed("")
		}),
	}, webhookadmission.StandaloneOptions{MetricsPath: "/example", Logger: logr.Discard()})
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "/example", strings.NewReader("{}"))
	if err != nil {
		return err
	}
	handler.ServeHTTP(httptest.NewRecorder(), request)
	return nil
}

// sendRequest sends one request with client-go.
func sendRequest(context.Context) error {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	c, err := discovery.NewDiscoveryClientForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		return err
	}
	if _, err := c.ServerVersion(); !apierrors.IsNotFound(err) {
		return fmt.Errorf("a server without pages answers: %w", err)
	}
	return nil
}

// newElector prepares a leader election, which is enough for its metric.
func newElector(context.Context) error {
	lock, err := resourcelock.NewFromKubeconfig(resourcelock.LeasesResourceLock, "default", "example", resourcelock.ResourceLockConfig{Identity: "example"},
		&rest.Config{Host: "https://nowhere.invalid"}, time.Second)
	if err != nil {
		return err
	}
	_, err = leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: lock, Name: "example", LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
		Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) {}, OnStoppedLeading: func() {}},
	})
	return err
}

// metricsOfAPIServers lets the library of API servers count one call of a webhook and one rejection.
func metricsOfAPIServers(ctx context.Context) ([]metriclist.Metric, error) {
	attributes := admission.NewAttributesRecord(nil, nil, schema.GroupVersionKind{}, "", "", schema.GroupVersionResource{}, "", admission.Create, nil, false, nil)
	admissionmetrics.Metrics.ObserveWebhook(ctx, "example", time.Millisecond, true, attributes, "validating", http.StatusOK)
	admissionmetrics.Metrics.ObserveWebhookRejection(ctx, "example", "validating", string(admission.Create), admissionmetrics.WebhookRejectionNoError, http.StatusForbidden)
	all, err := metriclist.Gather(legacyregistry.DefaultGatherer)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(m metriclist.Metric) bool { return !strings.HasPrefix(m.Name, "apiserver_admission_webhook_") }), nil
}
