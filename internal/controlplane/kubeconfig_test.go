package controlplane

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
)

// KubeconfigSecret is what gardenlet leaves for extensions: access to the shoot, which is an API server of its own here.
func KubeconfigSecret(t *testing.T, server *contracttest.APIServer, namespace, name string) *corev1.Secret {
	t.Helper()
	config := clientcmdapi.NewConfig()
	config.Clusters["shoot"] = &clientcmdapi.Cluster{Server: server.Config.Host, CertificateAuthorityData: server.Config.CAData}
	config.AuthInfos["gardener"] = &clientcmdapi.AuthInfo{ClientCertificateData: server.Config.CertData, ClientKeyData: server.Config.KeyData}
	config.Contexts["shoot"] = &clientcmdapi.Context{Cluster: "shoot", AuthInfo: "gardener"}
	config.CurrentContext = "shoot"
	kubeconfig, err := clientcmd.Write(*config)
	require.NoError(t, err)
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: map[string][]byte{"kubeconfig": kubeconfig}}
}
