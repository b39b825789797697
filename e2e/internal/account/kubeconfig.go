// Package account gives programs the identity of a ServiceAccount: its token, and so exactly its rights. It must not depend on the purpose of the
// cluster.
package account

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Kubeconfig requests a token from the cluster of config and returns the path of a kubeconfig with it, in the folder dir.
func Kubeconfig(ctx context.Context, cluster client.Client, config *rest.Config, dir, namespace, name string) (string, error) {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}}
	request := &authenticationv1.TokenRequest{}
	if err := cluster.SubResource("token").Create(ctx, account, request); err != nil {
		return "", fmt.Errorf("asking for a token of ServiceAccount %s/%s: %w", namespace, name, err)
	}
	kubeconfig := clientcmdapi.NewConfig()
	kubeconfig.Clusters["cluster"] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData}
	kubeconfig.AuthInfos["account"] = &clientcmdapi.AuthInfo{Token: request.Status.Token}
	kubeconfig.Contexts["account"] = &clientcmdapi.Context{Cluster: "cluster", AuthInfo: "account"}
	kubeconfig.CurrentContext = "account"
	content, err := clientcmd.Write(*kubeconfig)
	if err != nil {
		return "", fmt.Errorf("encoding the kubeconfig of ServiceAccount %s/%s: %w", namespace, name, err)
	}
	path := filepath.Join(dir, fmt.Sprintf("%s-%s.kubeconfig", namespace, name))
	return path, os.WriteFile(path, content, 0o600)
}
