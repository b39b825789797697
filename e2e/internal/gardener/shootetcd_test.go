package gardener

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestShootArgs(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--one"}}
	tests := map[string]struct {
		container corev1.Container
		want      []string
	}{
		"leaves other containers": {container: corev1.Container{Name: "kube-controller-manager", Args: []string{"--etcd-servers=x"}}},
		"replaces the etcd and removes the VPN": {
			container: corev1.Container{
				Name: "kube-apiserver", Command: []string{"/usr/local/bin/kube-apiserver", "--etcd-cafile=/a", "--tls-cert-file=/b"},
				Args: []string{"--egress-selector-config-file=/c", "--etcd-servers=https://etcd-main-client:2379", "--secure-port=443"},
			},
			want: []string{"--tls-cert-file=/b", "--secure-port=443", "--etcd-servers=http://10.240.0.21:2379", "--etcd-prefix=/registry-shoot--dev--one", "--audit-log-path=-"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			args, env := ShootArgs(pod, &test.container)
			assert.Equal(t, test.want, args)
			assert.Nil(t, env)
		})
	}
}

func TestDeletePrefix(t *testing.T) {
	var path, body string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		content, _ := io.ReadAll(r.Body)
		path, body = r.URL.Path, string(content)
	}))
	defer server.Close()
	require.NoError(t, deletePrefix(t.Context(), server.URL, shootPrefix("shoot--dev--one")))
	assert.Equal(t, "/v3/kv/deleterange", path)
	// In base64: from /registry-shoot--dev--one/ to before /registry-shoot--dev--one0, which spares a shoot "one1".
	assert.JSONEq(t, `{"key": "L3JlZ2lzdHJ5LXNob290LS1kZXYtLW9uZS8=", "range_end": "L3JlZ2lzdHJ5LXNob290LS1kZXYtLW9uZTA="}`, body)

	server.Close()
	assert.Error(t, deletePrefix(t.Context(), server.URL, shootPrefix("shoot--dev--one")))
}
