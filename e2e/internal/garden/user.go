package garden

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// KubeconfigOf returns the path of a kubeconfig with a token of a ServiceAccount of the garden, as gardener-resource-manager gives it to
// what runs in the runtime cluster.
func (g *Garden) KubeconfigOf(ctx context.Context, namespace, serviceAccount string) (string, error) {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: serviceAccount, Namespace: namespace}}
	request := &authenticationv1.TokenRequest{}
	if err := g.Client.SubResource("token").Create(ctx, account, request); err != nil {
		return "", fmt.Errorf("asking for a token of ServiceAccount %s/%s: %w", namespace, serviceAccount, err)
	}
	config := clientcmdapi.NewConfig()
	config.Clusters["garden"] = &clientcmdapi.Cluster{Server: g.Config.Host, CertificateAuthorityData: g.Config.CAData}
	config.AuthInfos["account"] = &clientcmdapi.AuthInfo{Token: request.Status.Token}
	config.Contexts["garden"] = &clientcmdapi.Context{Cluster: "garden", AuthInfo: "account"}
	config.CurrentContext = "garden"
	content, err := clientcmd.Write(*config)
	if err != nil {
		return "", fmt.Errorf("encoding the kubeconfig of ServiceAccount %s/%s: %w", namespace, serviceAccount, err)
	}
	path := filepath.Join(g.dir, fmt.Sprintf("%s-%s.kubeconfig", namespace, serviceAccount))
	return path, os.WriteFile(path, content, 0o600)
}
