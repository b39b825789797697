package component

import (
	"fmt"
	"path"
	"strings"

	kubernetesutils "github.com/gardener/gardener/pkg/utils/kubernetes"
	corev1 "k8s.io/api/core/v1"
)

// ServingFlags are the flags with which a component that uses Kubernetes' server library serves TLS on a port, with the certificate in a folder (see
// Files).
func ServingFlags(port int32, folder string) []string {
	return []string{
		fmt.Sprintf("--secure-port=%d", port),
		"--tls-cert-file=" + path.Join(folder, corev1.TLSCertKey),
		"--tls-private-key-file=" + path.Join(folder, corev1.TLSPrivateKeyKey),
		"--tls-cipher-suites=" + strings.Join(kubernetesutils.TLSCipherSuites, ","),
	}
}
