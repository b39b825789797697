//go:build gardenet

package gardenet

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/process"
)

// The ranges of Services.
const (
	serviceRange4 = "100.64.0.0/13"
	serviceRange6 = "fd00:64::/108"
)

const (
	routerReady  = "http://127.0.0.1:19082/readyz"
	routerHealth = "http://127.0.0.1:10256/healthz"
)

// startRouter starts a router as the driver does, with further flags.
func (n *node) startRouter(t *testing.T, flags ...string) {
	flags = append([]string{
		"--node=" + n.name, "--kubeconfig=" + n.cluster.kubeconfig, "--pod-ranges=100.96.0.0/11,fd00:96::/64", "--service-ranges=" + serviceRange4 + "," + serviceRange6,
		"--verify-interval=500ms", "--log-level=debug",
	}, flags...)
	require.NoError(t, n.do(func() (err error) {
		n.router, err = process.Start(n.cluster.router, flags, nil, filepath.Join(n.folder, "router.log"))
		return err
	}))
}

// awaitRouter waits until the router is ready.
func (n *node) awaitRouter(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	require.NoError(t, n.router.WaitFor(ctx, "the router to be ready", n.responds(routerReady)), "node %s", n.name)
}

func (n *node) endRouter(t *testing.T) {
	require.NoError(t, n.router.Terminate(t.Context()), "node %s", n.name)
	n.router = nil
}

func (n *node) killRouter() {
	if n.router != nil {
		n.router.Kill()
	}
	n.router = nil
}

// serviceRules returns the tables of the router, without what counters have counted, and without the clients that have an affinity; it is empty without a table. Sets
// and chains are sorted, since nft lists them in the order in which they were made.
func (n *node) serviceRules(t *testing.T) string {
	var listings []string
	for _, family := range []string{"ip", "ip6"} {
		require.NoError(t, n.do(func() error {
			output, err := exec.CommandContext(t.Context(), "nft", "-s", "list", "table", family, "kube-proxy").CombinedOutput()
			if err == nil {
				listings = append(listings, sorted(string(output)))
			} else if !strings.Contains(string(output), "No such file or directory") {
				return fmt.Errorf("listing the rules of Services: %w: %s", err, output)
			}
			return nil
		}))
	}
	return strings.Join(listings, "")
}

// sorted sorts the parts of a table, and leaves out sets of clients.
func sorted(listing string) string {
	header, rest, _ := strings.Cut(listing, "\n")
	parts := strings.SplitAfter(rest, "\n\t}\n")
	for i := range parts {
		parts[i] = strings.TrimLeft(parts[i], "\n")
	}
	parts = slices.DeleteFunc(parts, func(part string) bool { return strings.HasPrefix(part, "\tset affinity-") })
	slices.Sort(parts)
	return header + "\n" + strings.Join(parts, "")
}

// fakeKubeProxy serves what kube-proxy tells of itself on a node.
type fakeKubeProxy struct {
	server *http.Server
	synced atomic.Bool
}

func (n *node) startFakeKubeProxy(t *testing.T, mode string) *fakeKubeProxy {
	fake := &fakeKubeProxy{}
	mux := http.NewServeMux()
	mux.HandleFunc("/proxyMode", func(response http.ResponseWriter, _ *http.Request) { fmt.Fprint(response, mode) })
	mux.HandleFunc("/metrics", func(response http.ResponseWriter, _ *http.Request) {
		const metric = "kubeproxy_sync_proxy_rules_last_timestamp_seconds"
		fmt.Fprintf(response, "# HELP %s When it has made rules\n# TYPE %[1]s gauge\n", metric)
		if fake.synced.Load() {
			fmt.Fprintf(response, "%s{ip_family=\"IPv4\"} 1.7e+09\n%[1]s{ip_family=\"IPv6\"} 1.7e+09\n", metric)
		}
	})
	fake.server = &http.Server{Handler: mux}
	require.NoError(t, n.do(func() error {
		listener, err := net.Listen("tcp", "127.0.0.1:10249")
		if err != nil {
			return err
		}
		go func() { _ = fake.server.Serve(listener) }()
		return nil
	}))
	t.Cleanup(fake.stop)
	return fake
}

func (f *fakeKubeProxy) stop() { _ = f.server.Close() }
