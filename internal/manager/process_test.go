package manager

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	ctrlmanager "sigs.k8s.io/controller-runtime/pkg/manager"
)

const (
	timeout  = 30 * time.Second
	interval = 50 * time.Millisecond
)

// apiServer starts a real API server for the test and returns a client and the path of a kubeconfig.
func apiServer(t *testing.T) (client.Client, string) {
	t.Helper()
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	if assets == "" {
		assets = filepath.Join("..", "..", ".cache", "envtest")
	}
	env := &envtest.Environment{BinaryAssetsDirectory: assets}
	restConfig, err := env.Start()
	require.NoError(t, err, "is there an API server? make envtest-assets builds one")
	t.Cleanup(func() { assert.NoError(t, env.Stop()) })

	scheme, err := Binary{AddToScheme: addNothing}.newScheme()
	require.NoError(t, err)
	c, err := client.New(restConfig, client.Options{Scheme: scheme})
	require.NoError(t, err)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(kubeconfig, env.KubeConfig, 0o600))
	return c, kubeconfig
}

func addNothing(*runtime.Scheme) error { return nil }

// freeAddress returns an address on which nobody listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { assert.NoError(t, listener.Close()) }()
	return listener.Addr().String()
}

// get returns status and body, or zero while nobody answers.
func get(ctx context.Context, url string) (status int, body string) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, ""
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, ""
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, ""
	}
	return response.StatusCode, string(content)
}

// buffer collects logs; it may be read while it is written.
type buffer struct {
	mutex   sync.Mutex
	content bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.content.Write(p)
}

func (b *buffer) String() string {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.content.String()
}

// TestProcess holds a process to its promises against a real API server.
func TestProcess(t *testing.T) {
	c, kubeconfig := apiServer(t)
	t.Run("lives from start to stop", func(t *testing.T) { testLifecycle(t, c, kubeconfig) })
	t.Run("fails", func(t *testing.T) { testFailures(t, kubeconfig) })
	t.Run("tells Setup about webhooks", func(t *testing.T) { testWebhookOptions(t, kubeconfig) })
	t.Run("works for the garden", func(t *testing.T) { testGarden(t, kubeconfig) })
	t.Run("obeys signals", func(t *testing.T) { testSignals(t, kubeconfig) })
}

func testLifecycle(t *testing.T, c client.Client, kubeconfig string) {
	t.Helper()
	health, metrics, profiles := freeAddress(t), freeAddress(t), freeAddress(t)
	working, saved := make(chan struct{}), make(chan struct{})
	binary := testBinary()
	binary.AddToScheme = addNothing
	binary.Setup = func(p *Process) error {
		assert.Equal(t, []string{"openstack"}, p.Types)
		p.HandleDebug("/debug/own", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "own page") }))
		err := p.Manager.GetClient().Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "x"}, &corev1.Secret{})
		assert.True(t, apierrors.IsNotFound(err), "reads must not depend on a cache, which would not even run yet: %v", err)
		return p.Manager.Add(ctrlmanager.RunnableFunc(func(ctx context.Context) error {
			close(working)
			<-ctx.Done()
			close(saved)
			return nil
		}))
	}
	logs := &buffer{}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	exit := make(chan int, 1)
	go func() {
		exit <- binary.run(ctx, []string{
			"--types=openstack", "--kubeconfig=" + kubeconfig,
			"--leader-election-namespace=default", "--heartbeat-namespace=default",
			"--health-bind-address=" + health, "--metrics-bind-address=" + metrics,
		}, environment{pprofBindAddress: profiles}, io.Discard, logs)
	}()
	select {
	case <-working:
	case code := <-exit:
		t.Fatalf("ended with code %d before it worked, logs:\n%s", code, logs)
	}

	lease := func(name string) *coordinationv1.Lease {
		lease := &coordinationv1.Lease{}
		if err := c.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: name}, lease); err != nil {
			return nil
		}
		return lease
	}
	require.Eventually(t, func() bool { return lease("gardener-extension-heartbeat") != nil }, timeout, interval)
	holder, err := os.Hostname()
	require.NoError(t, err)
	assert.Equal(t, holder, *lease("gardener-extension-heartbeat").Spec.HolderIdentity)
	assert.NotEmpty(t, *lease("infrastructure-controller-leader-election").Spec.HolderIdentity)

	for _, path := range []string{"/healthz", "/readyz"} {
		status, _ := get(t.Context(), "http://"+health+path)
		assert.Equal(t, http.StatusOK, status, path)
	}
	_, page := get(t.Context(), "http://"+metrics+"/metrics")
	assert.Contains(t, page, "trellis_build_info{")
	status, _ := get(t.Context(), "http://"+profiles+"/debug/pprof/heap")
	assert.Equal(t, http.StatusOK, status)
	status, page = get(t.Context(), "http://"+profiles+"/debug/own")
	assert.Equal(t, http.StatusOK, status)
	assert.Equal(t, "own page", page)

	stop()
	assert.Equal(t, exitClean, <-exit, "logs:\n%s", logs)
	select {
	case <-saved:
	default:
		t.Error("the process must not end before the work under way has ended")
	}
	assert.Empty(t, *lease("infrastructure-controller-leader-election").Spec.HolderIdentity,
		"the lease must be free for the next leader at once")
	assert.Contains(t, logs.String(), `"msg":"Stopped"`)
}

func testFailures(t *testing.T, kubeconfig string) {
	t.Helper()
	t.Setenv("KUBERNETES_SERVICE_HOST", "") // these tests may themselves run in a pod
	tests := map[string]struct {
		kubeconfig string
		args       []string
		setup      func(*Process) error
		want       string
	}{
		"when the kubeconfig is missing": {
			kubeconfig: kubeconfig + ".gone",
			want:       "loading kubeconfig",
		},
		"when there is no API server to talk to": {
			want: "give --kubeconfig, set KUBECONFIG, or run in a pod",
		},
		"when Setup fails": {
			kubeconfig: kubeconfig,
			setup:      func(*Process) error { return errors.New("no driver") },
			want:       "setting up infrastructure-controller: no driver",
		},
		"when the address for debugging is in use": {
			kubeconfig: kubeconfig,
			args:       []string{"--pprof-bind-address=" + usedAddress(t)},
			want:       "--pprof-bind-address: listening: listen tcp",
		},
		"when something that runs in it fails": {
			kubeconfig: kubeconfig,
			setup: func(p *Process) error {
				return p.Manager.Add(ctrlmanager.RunnableFunc(func(context.Context) error { return errors.New("broken") }))
			},
			want: "running infrastructure-controller: broken",
		},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			binary := testBinary()
			binary.AddToScheme, binary.Setup = addNothing, test.setup
			logs := &buffer{}
			code := binary.run(t.Context(), append([]string{
				"--types=aws", "--kubeconfig=" + test.kubeconfig, "--leader-election=false",
				"--health-bind-address=0", "--metrics-bind-address=0", "--log-format=text",
			}, test.args...), environment{}, io.Discard, logs)
			assert.Equal(t, exitFailure, code)
			assert.Contains(t, logs.String(), test.want)
		})
	}
}

// usedAddress returns an address that something listens at until the test ends.
func usedAddress(t *testing.T) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	return listener.Addr().String()
}

// neverSynced is a cache that waits until it is told to stop.
type neverSynced struct{}

func (neverSynced) WaitForCacheSync(ctx context.Context) bool {
	<-ctx.Done()
	return false
}

func TestCachesSynced_Timeout(t *testing.T) {
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", nil)
	require.NoError(t, err)
	assert.EqualError(t, cachesSynced(neverSynced{})(request), "caches have not synced yet")
}

func TestClassesAs(t *testing.T) {
	type class string
	assert.Equal(t, []class{"shoot", "garden"}, ClassesAs[class](&Process{Classes: []string{"shoot", "garden"}}))
}
