//go:build kind

package kind

import (
	"context"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/trellis-garden/trellis/e2e/internal/kindseed"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// TestLeader_Killed kills the leader at several moments of a shoot's creation, and of its deletion.
func TestLeader_Killed(t *testing.T) {
	env := getEnvironment(t)
	assertUnchanged := env.othersUnchanged(t, infrastructureController)
	reference := env.newShoot(t, "undisturbed")
	require.NoError(t, reference.ReconcileInfrastructure(t.Context()))
	want := env.shootInventory(t, reference)
	history := env.recordStatusHistory(t)

	shoots := []*kindseed.Shoot{reference}
	for _, moment := range []killPoint{
		{name: "first-call", begun: 1, kill: env.killProcess},
		{name: "third-effect", done: 3, kill: env.killPod},
		{name: "sixth-call", begun: 6, kill: env.killProcess},
	} {
		shoot := env.newShoot(t, moment.name)
		shoots = append(shoots, shoot)
		env.interrupt(t, shoot.ReconcileInfrastructure, moment)
		found := env.shootInventory(t, shoot)
		// The result of a request without a response is unknown. The state records that for an hour.
		found.State = slices.DeleteFunc(found.State, func(key string) bool { return key == "trellis.uncertainCreates" })
		assert.Equal(t, want, found, "shoot %s", shoot.Name)
	}
	last := shoots[len(shoots)-1]
	last.LastOperationType = gardencorev1beta1.LastOperationTypeDelete
	env.interrupt(t, last.DestroyInfrastructure, killPoint{done: 2, kill: env.killPod})
	history.requireNoError(t)
	env.deleteShoots(t, shoots...)
	assertUnchanged()
}

// killPoint is when a leader is killed: after a number of the cloud's write requests have begun, and a number have taken effect.
type killPoint struct {
	name        string
	begun, done int
	// kill prepares to kill a pod, and returns a function that does so at once.
	kill func(*testing.T, *corev1.Pod) func()
}

func (m killPoint) reached(calls wire.Calls) bool {
	done := calls.Where(func(c wire.Call) bool { return c.Status != 0 })
	return len(calls) >= m.begun && len(done) >= m.done
}

// interrupt starts an operation on a shoot, kills the leader at a moment, and waits for the end.
func (env *environment) interrupt(t *testing.T, action func(context.Context) error, point killPoint) {
	t.Helper()
	leader, err := env.Leader(t.Context(), infrastructureController)
	require.NoError(t, err)
	kill := point.kill(t, leader)
	require.NoError(t, env.Remote.SetLatency(t.Context(), 500*time.Millisecond))
	defer func() { assert.NoError(t, env.Remote.SetLatency(context.WithoutCancel(t.Context()), 0)) }()
	require.NoError(t, env.Remote.ResetCalls(t.Context()))
	done := make(chan error, 1)
	go func() { done <- action(t.Context()) }()
	for end := time.Now().Add(timeout); !point.reached(env.cloudWrites(t)); time.Sleep(10 * time.Millisecond) {
		require.True(t, time.Now().Before(end), "waited in vain for changes of the cloud: %s", env.cloudWrites(t))
	}
	kill()
	start, before := time.Now(), env.cloudWrites(t)
	select {
	case err := <-done:
		require.FailNow(t, "all was done before the leader was killed", "%v", err)
	default:
	}
	require.NoError(t, <-done)
	next, err := env.Leader(t.Context(), infrastructureController)
	require.NoError(t, err)
	t.Logf("the leader was killed in its call %d, all was done %s later, by %s instead of %s:\n%s",
		len(before), time.Since(start).Round(time.Millisecond), next.Name, leader.Name, env.cloudWrites(t))
}

// killPod deletes the pod without a grace period. kubelet gives its process a second nevertheless.
func (env *environment) killPod(t *testing.T, pod *corev1.Pod) func() {
	return func() { require.NoError(t, env.Kill(t.Context(), pod.Namespace, pod.Name)) }
}

// killProcess kills the pod's process, which cannot release its Lease.
func (env *environment) killProcess(t *testing.T, pod *corev1.Pod) func() {
	t.Helper()
	run := func(script string) string {
		output, err := exec.CommandContext(t.Context(), "docker", "exec", pod.Spec.NodeName, "sh", "-c", script).CombinedOutput()
		require.NoError(t, err, "%s", output)
		return strings.TrimSpace(string(output))
	}
	container := run("crictl ps --quiet --label io.kubernetes.pod.uid=" + string(pod.UID))
	process := run("crictl inspect --output go-template --template '{{.info.pid}}' " + container)
	return func() { run("kill -9 " + process) }
}
