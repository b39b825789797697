package rollouts

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/clusters"
	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/crash"
	"github.com/trellis-garden/trellis/e2e/internal/garden"
)

const (
	// timeout bounds every wait. It is generous, because it only costs time when a test fails.
	timeout  = 5 * time.Minute
	interval = 100 * time.Millisecond
	// clusterCount is how many API servers the seeds share.
	clusterCount = 3
	// inGarden is the namespace of that name, in the garden and in seeds.
	inGarden = "garden"
)

// environment is a landscape, and the operator as often as it was started.
type environment struct {
	*garden.Garden
	clusters         []*cluster
	sites            []site
	record           *record
	trap             *crash.Injector
	gardenKubeconfig string // the path of the operator's kubeconfig for the garden

	// contentValue is what all seeds have.
	contentValue string

	path, dir string
	operator  *controller.Controller
	outputs   []string
}

// cluster is an API server that several seeds share.
type cluster struct {
	*clusters.Seed
	proxy    *crash.Proxy
	contents *contents
}

func newEnvironment(t *testing.T) *environment {
	t.Helper()
	env := &environment{dir: t.TempDir(), trap: crash.NewInjector()}
	var err error
	env.path, err = controller.ControllerInstallation().Build(t.Context())
	require.NoError(t, err)
	started := clusterstest.New(t, clusters.Options{Seeds: clusterCount, Garden: garden.Beside(&env.Garden)})
	for _, s := range started.Seeds {
		env.clusters = append(env.clusters, &cluster{Seed: s})
	}
	t.Cleanup(func() { env.tail(t) })
	t.Cleanup(func() { assert.NoError(t, env.trap.Close()) }) // before the API servers, which would wait for watches
	env.startRecording(t)
	env.setUp(t)
	return env
}

// startRecording puts fronts before all API servers, and begins to take down what happens there.
func (env *environment) startRecording(t *testing.T) {
	t.Helper()
	front, err := env.trap.Proxy("garden", env.Config)
	require.NoError(t, err)
	env.gardenKubeconfig = filepath.Join(env.dir, "garden.kubeconfig")
	require.NoError(t, os.WriteFile(env.gardenKubeconfig, front.Kubeconfig(), 0o600))
	env.record = newRecord(t, env.Config)
	for i, c := range env.clusters {
		c.proxy, err = env.trap.Proxy(fmt.Sprintf("cluster %d", i), c.Config)
		require.NoError(t, err)
		require.NoError(t, c.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: inGarden}}))
		c.contents = newContents(t, c.Config)
	}
}

// tail shows what the last processes had to say, when something failed.
func (env *environment) tail(t *testing.T) {
	if !t.Failed() {
		return
	}
	for _, output := range env.outputs[max(0, len(env.outputs)-2):] {
		content, err := os.ReadFile(output)
		if !assert.NoError(t, err) {
			continue
		}
		lines := slices.DeleteFunc(strings.Split(string(content), "\n"), func(line string) bool { return strings.Contains(line, "\tDEBUG\t") })
		t.Logf("the end of %s:\n%s", filepath.Base(output), strings.Join(lines[max(0, len(lines)-60):], "\n"))
	}
}

func exists(t *testing.T, c client.Client, object client.Object) bool {
	t.Helper()
	err := c.Get(t.Context(), client.ObjectKeyFromObject(object), object)
	require.NoError(t, client.IgnoreNotFound(err))
	return err == nil
}

// eventually waits until nothing is missing any more.
func eventually(t *testing.T, what string, missing func() error) {
	t.Helper()
	start := time.Now()
	for {
		last := missing()
		if last == nil {
			break
		}
		if time.Since(start) > timeout {
			require.FailNow(t, "waited in vain until "+what, "%v", last)
		}
		time.Sleep(interval)
	}
	if waited := time.Since(start); waited > 5*time.Second {
		t.Logf("waited %.0f s until %s", waited.Seconds(), what)
	}
}

var errNotYet = errors.New("not yet")
