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
func testUnreachable(t *testing.T, env *environment) {
	env.ensureInstalled(t)
	closed, silent := env.site(t, "early-03"), env.site(t, "rest-05")
	away := []string{closed.seed, silent.seed}
	unusedAddress, err := process.FreeAddress()
	require.NoError(t, err)
	env.setAccess(t, closed, kubeconfigTo(t, closed, unusedAddress))
	env.setAccess(t, silent, kubeconfigTo(t, silent, silentServer(t)))

	env.withOperator(t, func() {
		mark := env.record.len()
		name := env.release(t, chart(t, "fourth", false), func(r *installationv1alpha1.Rollout) { r.SoakTime = &metav1.Duration{Duration: time.Second} })
		env.waitForAll(t, name, "fourth", away...)
		env.waitForResult(t, name, good)
		assignments := env.assignmentsSince(t, mark)
		logAssignments(t, assignments, name)
		assert.Empty(t, env.rules(time.Second).violations(assignments, name))
		eventually(t, "it is known that two seeds are away", func() error { return env.checkUnreachable(t, away) })
		installations := env.installations(t, registration)
		for _, seed := range away {
			s := env.site(t, seed)
			assert.Equal(t, env.contentValue, env.content(t, s, installations[seed].Name)[contentKey], "%s goes on as it is", seed)
			assert.True(t, v1beta1helper.IsControllerInstallationSuccessful(*installations[seed]), "%s: and nobody knows better", seed)
			env.setAccess(t, s, s.cluster.proxy.Kubeconfig())
		}
		env.waitForAll(t, name, "fourth")
	})
	env.contentValue = "fourth"
}

// checkUnreachable says which installation is not known to be out of reach.
func (env *environment) checkUnreachable(t *testing.T, seeds []string) error {
	t.Helper()
	installations := env.installations(t, registration)
	for _, seed := range seeds {
		status := statusOf(t, installations[seed])
		if status.Phase != installationv1alpha1.PhaseUnreachable || status.LastError == nil || status.LastError.Reason != "SeedUnreachable" {
			return fmt.Errorf("%s is %+v", seed, status)
		}
	}
	return nil
}

// kubeconfigTo is the kubeconfig of a seed with another address.
func kubeconfigTo(t *testing.T, s site, address string) []byte {
	t.Helper()
	config, err := clientcmd.Load(s.cluster.proxy.Kubeconfig())
	require.NoError(t, err)
	for _, cluster := range config.Clusters {
		cluster.Server = "https://" + address
	}
	content, err := clientcmd.Write(*config)
	require.NoError(t, err)
	return content
}

// silentServer is an address at which everybody is kept waiting.
func silentServer(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, listener.Close()) })
	return listener.Addr().String()
}
