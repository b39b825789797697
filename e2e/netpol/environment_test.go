//go:build netpol

package netpol

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"

	"github.com/trellis-garden/trellis/e2e/internal/kindcluster"
	"github.com/trellis-garden/trellis/e2e/internal/nodeimage"
	"github.com/trellis-garden/trellis/e2e/internal/upstreamtests"
)

const (
	// familyVariable and proxyVariable name the variables for another family than IPv4 (ipv6, dual) and another mode of kube-proxy than kind's (nftables, or none).
	familyVariable, proxyVariable = "TRELLIS_NETPOL_FAMILY", "TRELLIS_NETPOL_PROXY"
	// timeout bounds each wait. It is long, because it only takes time if a test fails.
	timeout  = 3 * time.Minute
	interval = 200 * time.Millisecond
)

// environment is a cluster with upstream's tests and the images of their pods.
type environment struct {
	*kindcluster.Cluster
	clients kubernetes.Interface
	suite   *upstreamtests.Suite
	dir     string
	// withoutKubeProxy is true when gardenet's service routers route Services.
	withoutKubeProxy bool
}

// environmentOnce is the environment, once a test has requested it.
type environmentOnce struct {
	once sync.Once
	env  *environment
	err  error
	dir  string
}

// sharedEnvironment is for TestMain, which stops the environment.
var sharedEnvironment environmentOnce

func TestMain(m *testing.M) {
	code := m.Run()
	if err := sharedEnvironment.stop(code != 0); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

func getEnvironment(t *testing.T) *environment {
	t.Helper()
	sharedEnvironment.once.Do(func() {
		// The environment outlives the test that requests it first.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Hour)
		defer cancel()
		sharedEnvironment.err = sharedEnvironment.start(ctx)
	})
	require.NoError(t, sharedEnvironment.err)
	return sharedEnvironment.env
}

func (s *environmentOnce) start(ctx context.Context) error {
	var err error
	if s.dir, err = os.MkdirTemp("", "trellis-netpol-"); err != nil {
		return err
	}
	env := &environment{dir: s.dir}
	if env.suite, err = upstreamtests.Build(ctx, os.Stderr); err != nil {
		return err
	}
	image, err := nodeimage.Build(ctx, os.Stderr) // never the official one, whose network is another
	if err != nil {
		return err
	}
	options := kindcluster.Options{
		Name: "trellis-netpol", Image: image, Dir: s.dir, Nodes: 3, Progress: os.Stderr,
		IPFamily: v1alpha4.ClusterIPFamily(os.Getenv(familyVariable)), KubeProxy: v1alpha4.ProxyMode(os.Getenv(proxyVariable)),
	}
	if options.KubeProxy == kindcluster.WithoutKubeProxy {
		if options.Network, err = networkWithoutKubeProxy(ctx, options); err != nil {
			return err
		}
	}
	env.withoutKubeProxy = options.KubeProxy == kindcluster.WithoutKubeProxy
	if env.Cluster, err = kindcluster.Start(ctx, options); err != nil {
		return err
	}
	s.env = env
	if env.clients, err = kubernetes.NewForConfig(env.Config); err != nil {
		return err
	}
	return env.Load(ctx, env.suite.Images)
}

// dropUnroutedServices drops what is sent to addresses of Services that kube-proxy does not route. Otherwise it leaves the cluster, and some networks, such as those with a
// transparent proxy, accept any connection, while tests expect that nobody does. Nodes forget it when they restart. Service routers need no such help.
func (env *environment) dropUnroutedServices(ctx context.Context) error {
	if env.withoutKubeProxy {
		return nil
	}
	services, err := env.clients.NetworkingV1().ServiceCIDRs().Get(ctx, "kubernetes", metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading the ranges of Services: %w", err)
	}
	rules := ""
	for _, services := range services.Spec.CIDRs {
		family := "ip"
		if strings.Contains(services, ":") {
			family = "ip6"
		}
		rules += fmt.Sprintf("%s daddr %s drop\n", family, services)
	}
	return env.Execute(ctx, "table inet outside\ndelete table inet outside\ntable inet outside {\nchain forward {\ntype filter hook forward priority 10;\n"+rules+"}\n}\n", "nft", "-f", "-")
}

// stop deletes the cluster. Its files and logs are kept after a failure.
func (s *environmentOnce) stop(failed bool) error {
	if s.dir == "" {
		return nil
	}
	var failures []error
	if failed {
		fmt.Fprintln(os.Stderr, "what was written is in", s.dir)
	}
	if s.env != nil {
		if failed {
			failures = append(failures, s.env.CollectLogs(filepath.Join(s.dir, "logs")))
		}
		failures = append(failures, s.env.Delete())
	}
	if !failed {
		failures = append(failures, os.RemoveAll(s.dir))
	}
	return errors.Join(failures...)
}
