package webhook

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	ctrlmanager "sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/trellis-garden/trellis/internal/manager"
)

const (
	timeout  = time.Minute
	interval = 50 * time.Millisecond
)

// quickTiming is a timing with the proportions of the default one, as far as a test can wait.
func quickTiming() timing {
	return timing{
		reconcileInterval: 200 * time.Millisecond, reloadInterval: time.Second, startupInterval: interval, retryInterval: interval,
		trustDelay: 3 * time.Second, loadDelay: 4 * time.Second,
		oldAuthorityRetention: time.Minute + 8*time.Second, // certificates are born a minute old
	}
}

// startAPIServer starts a real API server for the test.
func startAPIServer(t *testing.T) (*rest.Config, client.Client) {
	t.Helper()
	ctrllog.SetLogger(logr.Discard()) // controller-runtime's webhook server logs through a global
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	if assets == "" {
		assets = filepath.Join("..", "..", "..", ".cache", "envtest")
	}
	env := &envtest.Environment{BinaryAssetsDirectory: assets}
	config, err := env.Start()
	require.NoError(t, err, "is there an API server? make envtest-assets builds one")
	t.Cleanup(func() { assert.NoError(t, env.Stop()) })
	config.QPS = -1
	c, err := client.New(config, client.Options{})
	require.NoError(t, err)
	return config, c
}

// environment is what the replicas of one binary share: an API server, a namespace, and an address in front of them.
type environment struct {
	config       *rest.Config
	client       client.Client
	binary       string
	namespace    string
	loadBalancer *loadBalancer
	// garden is another cluster that the replicas serve, if there is one. They reach it by its gate.
	garden             *environment
	gardenLoadBalancer *loadBalancer
	// shoots are registrations in shoots; without them, the replicas serve no shoots.
	shoots *shootRegistrations
}

// newEnvironment makes a namespace in which webhooks are called. Binaries of different tests know nothing of each other.
func newEnvironment(t *testing.T, config *rest.Config, c client.Client, binary string) *environment {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "webhooks-", Labels: map[string]string{"test": "webhooks"},
	}}
	require.NoError(t, c.Create(t.Context(), namespace))
	l := &environment{config: config, client: c, binary: binary, namespace: namespace.Name, loadBalancer: newLoadBalancer(t)}
	t.Cleanup(func() { // so that no request of another test waits for a webhook of this one
		meta := metav1.ObjectMeta{Name: l.configName()}
		for _, object := range []client.Object{
			&admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: meta},
			&admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: meta},
		} {
			assert.NoError(t, client.IgnoreNotFound(c.Delete(context.WithoutCancel(t.Context()), object)))
		}
	})
	return l
}

// configName is the name of the webhook configurations.
func (l *environment) configName() string { return l.binary + "-installation" }

// replica is a running process.
type replica struct {
	process *manager.Process
	// address is where it listens, health where it tells how it is.
	address, health string
	// shootAddress is where it listens for kube-apiservers of shoots, if it does.
	shootAddress string
	logs         *buffer
	// writes counts what it has written to the API server, but for the Lease.
	writes atomic.Int64
	stop   func()
}

// start starts a replica behind the entrance. It ends when the test does, or is told to.
func (l *environment) start(t *testing.T, timing timing, disabled []string, webhooks ...Webhook) *replica {
	t.Helper()
	r := &replica{address: freeAddress(t), health: freeAddress(t), logs: &buffer{}}
	log := funcr.New(func(prefix, args string) { r.logs.add(prefix + " " + args + "\n") }, funcr.Options{})
	mgr, err := ctrlmanager.New(l.config, ctrlmanager.Options{
		Scheme: clientgoscheme.Scheme, Logger: log, Metrics: metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress: r.health,
		NewClient:              r.newClient,
		LeaderElection:         true, LeaderElectionID: l.binary, LeaderElectionNamespace: l.namespace, LeaderElectionReleaseOnCancel: true,
		RetryPeriod: new(100 * time.Millisecond),
	})
	require.NoError(t, err)
	host, portText, err := net.SplitHostPort(r.address)
	require.NoError(t, err)
	port, err := strconv.Atoi(portText)
	require.NoError(t, err)
	r.process = &manager.Process{
		Name: l.binary, Manager: mgr, Log: log, Registerer: prometheus.NewRegistry(),
		Webhooks: manager.WebhookOptions{
			Compiled: []string{"tune", "guard", "wait"}, Disabled: disabled,
			Mode: manager.WebhookModeURL, URL: l.loadBalancer.address, ServerHost: host, ServerPort: port,
			ConfigName: l.configName(), Namespace: l.namespace, OwnerNamespace: l.namespace,
		},
	}
	l.configureGarden(t, r.process)
	var shoots ShootRegistrations
	if l.shoots != nil {
		shoots = l.shoots
		r.shootAddress = freeAddress(t)
		_, port, err := net.SplitHostPort(r.shootAddress)
		require.NoError(t, err)
		r.process.Webhooks.ShootServerPort, err = strconv.Atoi(port)
		require.NoError(t, err)
	}
	require.NoError(t, serve(r.process, timing, shoots, webhooks))

	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	r.stop = sync.OnceFunc(func() {
		cancel()
		assert.NoError(t, <-ended)
		l.loadBalancer.remove(r.address)
		if t.Failed() {
			t.Logf("logs of %s:\n%s", r.address, r.logs)
		}
	})
	t.Cleanup(r.stop)
	l.loadBalancer.add(r.address)
	return r
}

// newClient returns a client that does not cache, as that of a manager.Process, and counts.
func (r *replica) newClient(config *rest.Config, options client.Options) (client.Client, error) {
	options.Cache = nil
	c, err := client.NewWithWatch(config, options)
	if err != nil {
		return nil, err
	}
	return interceptor.NewClient(c, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			r.writes.Add(1)
			return c.Create(ctx, object, options...)
		},
		Update: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.UpdateOption) error {
			r.writes.Add(1)
			return c.Update(ctx, object, options...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			r.writes.Add(1)
			return c.Patch(ctx, object, patch, options...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			r.writes.Add(1)
			return c.Delete(ctx, object, options...)
		},
	}), nil
}

func (r *replica) isLeader() bool {
	select {
	case <-r.process.Manager.Elected():
		return true
	default:
		return false
	}
}

// readiness returns status and text of the webhooks' readiness check.
func (r *replica) readiness(ctx context.Context) (int, string) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+r.health+"/readyz?verbose", nil)
	if err != nil {
		return 0, err.Error()
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	return response.StatusCode, errors.Join(errors.New(string(body)), err).Error()
}

func (r *replica) waitReady(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool {
		status, _ := r.readiness(t.Context())
		return status == http.StatusOK
	}, timeout, interval, "logs:\n%s", r.logs)
}

// freeAddress returns an address on which nobody listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { assert.NoError(t, listener.Close()) }()
	return listener.Addr().String()
}

// buffer collects logs; it may be read while it is written.
type buffer struct {
	mutex   sync.Mutex
	content bytes.Buffer
}

func (b *buffer) add(line string) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.content.WriteString(line)
}

func (b *buffer) String() string {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.content.String()
}

func refusesConnections(t *testing.T, address string) bool {
	t.Helper()
	connection, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	if err == nil {
		_ = connection.Close()
	}
	return err != nil
}
