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
	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

// TestAKilledLeaderLeavesNothingBehind kills the replica that works at several moments of a shoot's creation, and of its deletion.
func TestAKilledLeaderLeavesNothingBehind(t *testing.T) {
	w := theWorld(t)
	untouched := w.othersStand(t, infrastructureController)
	calm := w.newShoot(t, "undisturbed")
	require.NoError(t, calm.OrderInfrastructure(t.Context()))
	want := w.whole(t, calm)
	said := w.keepDiary(t)

	shoots := []*kindseed.Shoot{calm}
	for _, moment := range []moment{
		{name: "first-call", begun: 1, kill: w.killProcess},
		{name: "third-effect", done: 3, kill: w.killPod},
		{name: "sixth-call", begun: 6, kill: w.killProcess},
	} {
		shoot := w.newShoot(t, moment.name)
		shoots = append(shoots, shoot)
		w.interrupt(t, shoot.OrderInfrastructure, moment)
		found := w.whole(t, shoot)
		// Nobody knows what becomes of a call whose answer nobody heard. The state says so for an hour.
		found.State = slices.DeleteFunc(found.State, func(key string) bool { return key == "trellis.doubts" })
		assert.Equal(t, want, found, "shoot %s", shoot.Name)
	}
	last := shoots[len(shoots)-1]
	last.LastOperationType = gardencorev1beta1.LastOperationTypeDelete
	w.interrupt(t, last.DestroyInfrastructure, moment{done: 2, kill: w.killPod})
	said.requireNoError(t)
	w.leave(t, shoots...)
	untouched()
}

// moment is when a leader is killed: when so many calls that change the cloud have begun, and so many have had their effect.
type moment struct {
	name        string
	begun, done int
	// kill prepares to kill a pod, and returns what does it at once.
	kill func(*testing.T, *corev1.Pod) func()
}

func (m moment) hasCome(calls wire.Calls) bool {
	done := calls.Where(func(c wire.Call) bool { return c.Status != 0 })
	return len(calls) >= m.begun && len(done) >= m.done
}

// interrupt begins something with a shoot, kills the leader at a moment, and waits for the end.
func (w *world) interrupt(t *testing.T, deed func(context.Context) error, moment moment) {
	t.Helper()
	leader, err := w.Leader(t.Context(), infrastructureController)
	require.NoError(t, err)
	kill := moment.kill(t, leader)
	require.NoError(t, w.Dials.SetLatency(t.Context(), 500*time.Millisecond))
	defer func() { assert.NoError(t, w.Dials.SetLatency(context.WithoutCancel(t.Context()), 0)) }()
	require.NoError(t, w.Dials.ResetCalls(t.Context()))
	done := make(chan error, 1)
	go func() { done <- deed(t.Context()) }()
	for end := time.Now().Add(patience); !moment.hasCome(w.cloudWrites(t)); time.Sleep(10 * time.Millisecond) {
		require.True(t, time.Now().Before(end), "waited in vain for changes of the cloud: %s", w.cloudWrites(t))
	}
	kill()
	start, before := time.Now(), w.cloudWrites(t)
	select {
	case err := <-done:
		require.FailNow(t, "all was done before the leader was killed", "%v", err)
	default:
	}
	require.NoError(t, <-done)
	next, err := w.Leader(t.Context(), infrastructureController)
	require.NoError(t, err)
	t.Logf("the leader was killed in its call %d, all was done %s later, by %s instead of %s:\n%s",
		len(before), time.Since(start).Round(time.Millisecond), next.Name, leader.Name, w.cloudWrites(t))
}

// killPod deletes the pod with no time to end. Its process gets a second after all, since kubelet gives each that much.
func (w *world) killPod(t *testing.T, pod *corev1.Pod) func() {
	return func() { require.NoError(t, w.Kill(t.Context(), pod.Namespace, pod.Name)) }
}

// killProcess ends the pod's process in the middle of whatever it does. It cannot give up its Lease.
func (w *world) killProcess(t *testing.T, pod *corev1.Pod) func() {
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
