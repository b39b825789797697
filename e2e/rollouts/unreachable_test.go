package rollouts

import (
	"fmt"
	"net"
	"testing"
	"time"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
	"github.com/trellis-garden/trellis/e2e/internal/process"
)

// Seeds that cannot be reached are waited for by nobody else. They get what they have missed when they are back.
func testUnreachable(t *testing.T, w *world) {
	w.begun(t)
	closed, silent := w.site(t, "early-03"), w.site(t, "rest-05")
	away := []string{closed.seed, silent.seed}
	nobody, err := process.FreeAddress()
	require.NoError(t, err)
	w.setAccess(t, closed, leadingTo(t, closed, nobody))
	w.setAccess(t, silent, leadingTo(t, silent, blackHole(t)))

	w.withOperator(t, func() {
		mark := w.record.len()
		name := w.release(t, chart(t, "fourth", false), func(r *installationv1alpha1.Rollout) { r.SoakTime = &metav1.Duration{Duration: time.Second} })
		w.awaitAll(t, name, "fourth", away...)
		w.awaitVerdict(t, name, good)
		assignments := w.assignmentsSince(t, mark)
		tell(t, assignments, name)
		assert.Empty(t, w.rules(time.Second).broken(assignments, name))
		eventually(t, "it is known that two seeds are away", func() error { return w.areAway(t, away) })
		installations := w.installations(t, registration)
		for _, seed := range away {
			s := w.site(t, seed)
			assert.Equal(t, w.word, w.content(t, s, installations[seed].Name)[contentKey], "%s goes on as it is", seed)
			assert.True(t, v1beta1helper.IsControllerInstallationSuccessful(*installations[seed]), "%s: and nobody knows better", seed)
			w.setAccess(t, s, s.cluster.front.Kubeconfig())
		}
		w.awaitAll(t, name, "fourth")
	})
	w.word = "fourth"
}

// areAway says which installation is not known to be out of reach.
func (w *world) areAway(t *testing.T, seeds []string) error {
	t.Helper()
	installations := w.installations(t, registration)
	for _, seed := range seeds {
		status := statusOf(t, installations[seed])
		if status.Phase != installationv1alpha1.PhaseUnreachable || status.LastError == nil || status.LastError.Reason != "SeedUnreachable" {
			return fmt.Errorf("%s is %+v", seed, status)
		}
	}
	return nil
}

// leadingTo is the kubeconfig of a seed with another address.
func leadingTo(t *testing.T, s site, address string) []byte {
	t.Helper()
	config, err := clientcmd.Load(s.cluster.front.Kubeconfig())
	require.NoError(t, err)
	for _, cluster := range config.Clusters {
		cluster.Server = "https://" + address
	}
	content, err := clientcmd.Write(*config)
	require.NoError(t, err)
	return content
}

// blackHole is an address at which everybody is kept waiting.
func blackHole(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, listener.Close()) })
	return listener.Addr().String()
}
