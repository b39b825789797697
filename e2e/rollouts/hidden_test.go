package rollouts

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/tools/clientcmd"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
)

// A seed whose API server answers with errors is there, and nobody knows how it is. The others wait for it, also after a restart.
func testHidden(t *testing.T, env *environment) {
	env.ensureInstalled(t)
	hidden, seen := env.site(t, "canary-01"), env.site(t, "canary-03")
	env.setAccess(t, hidden, kubeconfigToErrors(t, hidden))
	mark := env.record.len()
	var name string
	env.withOperator(t, func() {
		name = env.release(t, chart(t, "fifth", false), func(r *installationv1alpha1.Rollout) { r.Waves[0].MaxUnavailable = new(intstr.FromString("100%")) })
		eventually(t, "another canary is well with it", func() error {
			return env.checkInstallation(t, seen, env.installations(t, registration)[seen.seed], name, "fifth")
		})
		eventually(t, "it is told that the one is not seen", func() error {
			if status := statusOf(t, env.installations(t, registration)[hidden.seed]); status.LastError == nil || status.LastError.Reason != "OperationFailed" {
				return errNotYet
			}
			return nil
		})
		time.Sleep(soak + tolerance + 3*syncPeriod)
		assert.NotContains(t, env.seedsWithRevision(t, name), "early-01", "the next wave waits")
		assert.Equal(t, candidate, env.revision(t, name).result)
	})
	env.setAccess(t, hidden, hidden.cluster.proxy.Kubeconfig())
	env.withOperator(t, func() {
		env.waitForAll(t, name, "fifth")
		env.waitForResult(t, name, good)
		assignments := env.assignmentsSince(t, mark)
		logAssignments(t, assignments, name)
	})
	env.contentValue = "fifth"
}

// kubeconfigToErrors is a kubeconfig of something that refuses everything as an API server in trouble does.
func kubeconfigToErrors(t *testing.T, s site) []byte {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(response http.ResponseWriter, _ *http.Request) {
		response.Header().Set("Audit-Id", "of-trouble")
		http.Error(response, "etcdserver: request timed out", http.StatusInternalServerError)
	}))
	t.Cleanup(server.Close)
	config, err := clientcmd.Load(s.cluster.proxy.Kubeconfig())
	require.NoError(t, err)
	for _, cluster := range config.Clusters {
		cluster.Server = server.URL
		cluster.CertificateAuthorityData = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	}
	content, err := clientcmd.Write(*config)
	require.NoError(t, err)
	return content
}
