//go:build kind

package kind

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/trellis-garden/trellis/e2e/internal/kindseed"
	"github.com/trellis-garden/trellis/e2e/internal/nodeimage"
)

// The versions of our binaries with images: all are installed in the first, and may be upgraded to the second.
const (
	firstVersion  = "v0.1.0-e2e"
	secondVersion = "v0.2.0-e2e"
)

// timeout bounds each wait. It is long, because it only takes time if a test fails.
const timeout = 3 * time.Minute

// environment is shared by all tests.
type environment struct{ *kindseed.Env }

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

// getEnvironment returns the seed in which all our controllers are installed in their first version. Tests that change that revert it.
func getEnvironment(t *testing.T) *environment {
	t.Helper()
	sharedEnvironment.once.Do(func() {
		// The environment outlives the test that requests it first.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 20*time.Minute)
		defer cancel()
		sharedEnvironment.err = sharedEnvironment.start(ctx)
	})
	require.NoError(t, sharedEnvironment.err)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(sharedEnvironment.env.Report(context.Background(), 30))
		}
	})
	return sharedEnvironment.env
}

func (s *environmentOnce) start(ctx context.Context) error {
	var err error
	if s.dir, err = os.MkdirTemp("", "trellis-kind-"); err != nil {
		return err
	}
	image, err := nodeimage.Ensure(ctx, os.Stderr)
	if err != nil {
		return err
	}
	made, err := kindseed.Start(ctx, kindseed.Options{
		Dir: s.dir, NodeImage: image, Cluster: os.Getenv("TRELLIS_KIND_CLUSTER"), Versions: []string{firstVersion}, Progress: os.Stderr,
	})
	if err != nil {
		return err
	}
	s.env = &environment{made}
	if err := made.Install(ctx, firstVersion); err != nil {
		return fmt.Errorf("%w\n%s", err, made.Report(ctx, 30))
	}
	return nil
}

// stop stops the environment. Its files are kept after a failure. With KEEP_KIND it runs until an interrupt; with TRELLIS_KIND_CLUSTER its cluster has
// another name, so that there can be two.
func (s *environmentOnce) stop(failed bool) error {
	if s.dir == "" {
		return nil
	}
	var failures []error
	if s.env != nil {
		if os.Getenv("KEEP_KIND") != "" {
			fmt.Fprintf(os.Stderr, "the cluster runs; KUBECONFIG=%s. Interrupt to delete it.\n", s.env.Kubeconfig)
			interrupted, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			<-interrupted.Done()
			stop()
		}
		failures = append(failures, s.env.Stop())
	}
	if failed {
		fmt.Fprintln(os.Stderr, "what was written is in", s.dir)
	} else {
		failures = append(failures, os.RemoveAll(s.dir))
	}
	return errors.Join(failures...)
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(timeout); !condition(); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			require.FailNow(t, "waited in vain until "+what)
		}
	}
}

// controllers lists the installed ones.
func controllers() []string {
	return []string{"infrastructure-controller", "controlplane-controller", "network-controller", "worker-controller"}
}

// readyPods lists the ready pods of a controller.
func (env *environment) readyPods(t *testing.T, binary string) []corev1.Pod {
	t.Helper()
	pods, err := env.ReadyPods(t.Context(), binary)
	require.NoError(t, err)
	return pods
}

// newShoot describes a shoot, and fills its namespace in the seed.
func (env *environment) newShoot(t *testing.T, name string) *kindseed.Shoot {
	t.Helper()
	shoot, err := env.NewShoot(t.Context(), name)
	require.NoError(t, err)
	return shoot
}

// release removes the namespace of a shoot without resources in the cloud, also after a failed test.
func (env *environment) release(t *testing.T, shoot *kindseed.Shoot) {
	t.Helper()
	assert.NoError(t, shoot.Release(context.WithoutCancel(t.Context())))
}
