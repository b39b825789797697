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
func testHidden(t *testing.T, w *world) {
	w.begun(t)
	hidden, seen := w.site(t, "canary-01"), w.site(t, "canary-03")
	w.setAccess(t, hidden, leadingToErrors(t, hidden))
	mark := w.record.len()
	var name string
	w.withOperator(t, func() {
		name = w.release(t, chart(t, "fifth", false), func(r *installationv1alpha1.Rollout) { r.Waves[0].MaxUnavailable = new(intstr.FromString("100%")) })
		eventually(t, "another canary is well with it", func() error {
			return w.well(t, seen, w.installations(t, registration)[seen.seed], name, "fifth")
		})
		eventually(t, "it is told that the one is not seen", func() error {
			if status := statusOf(t, w.installations(t, registration)[hidden.seed]); status.LastError == nil || status.LastError.Reason != "OperationFailed" {
				return errNotYet
			}
			return nil
		})
		time.Sleep(soak + tolerance + 3*syncPeriod)
		assert.NotContains(t, w.given(t, name), "early-01", "the next wave waits")
		assert.Equal(t, candidate, w.revision(t, name).verdict)
	})
	w.setAccess(t, hidden, hidden.cluster.front.Kubeconfig())
	w.withOperator(t, func() {
		w.awaitAll(t, name, "fifth")
		w.awaitVerdict(t, name, good)
		assignments := w.assignmentsSince(t, mark)
		tell(t, assignments, name)
	})
	w.word = "fifth"
}

// leadingToErrors is a kubeconfig of something that refuses everything as an API server in trouble does.
func leadingToErrors(t *testing.T, s site) []byte {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(response http.ResponseWriter, _ *http.Request) {
		response.Header().Set("Audit-Id", "of-trouble")
		http.Error(response, "etcdserver: request timed out", http.StatusInternalServerError)
	}))
	t.Cleanup(server.Close)
	config, err := clientcmd.Load(s.cluster.front.Kubeconfig())
	require.NoError(t, err)
	for _, cluster := range config.Clusters {
		cluster.Server = server.URL
		cluster.CertificateAuthorityData = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	}
	content, err := clientcmd.Write(*config)
	require.NoError(t, err)
	return content
}
