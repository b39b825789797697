package shoot

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net"
	"os"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

const (
	apiServer = "kube-apiserver"

	serverCertificate = "server.crt"
	serverKey         = "server.key"
	caCertificate     = "ca.crt"
	serviceAccountKey = "service-account.key"
	tokens            = "tokens.csv"
	auditRules        = "audit-policy.yaml"
	auditLog          = "audit.log"
)

// args are the API server's arguments. It has CAs for client certificates and for proxies because programs that delegate authentication to it,
// such as a cloud-controller-manager, read both; there are no clients with certificates.
func (c *Cluster) args() []string {
	host, port, _ := net.SplitHostPort(c.address)
	return []string{
		"--etcd-servers=" + c.etcd,
		"--etcd-prefix=" + c.prefix,
		"--bind-address=" + host,
		"--advertise-address=" + host,
		"--secure-port=" + port,
		"--endpoint-reconciler-type=none",
		"--service-cluster-ip-range=100.64.0.0/13",
		"--tls-cert-file=" + c.path(serverCertificate),
		"--tls-private-key-file=" + c.path(serverKey),
		"--client-ca-file=" + c.path(caCertificate),
		"--requestheader-client-ca-file=" + c.path(caCertificate),
		"--requestheader-allowed-names=front-proxy-client",
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--token-auth-file=" + c.path(tokens),
		"--authorization-mode=Node,RBAC",
		"--audit-policy-file=" + c.path(auditRules),
		"--audit-log-path=" + c.path(auditLog),
		"--service-account-issuer=" + c.URL(),
		"--service-account-signing-key-file=" + c.path(serviceAccountKey),
		"--service-account-key-file=" + c.path(serviceAccountKey),
		"--api-audiences=" + c.URL() + ",kubernetes," + v1beta1constants.GardenerAudience,
		"--allow-privileged=true",
		"--profiling=false",
	}
}

// writeFiles creates all certificates, keys and tokens.
func (c *Cluster) writeFiles() error {
	host, _, _ := net.SplitHostPort(c.address)
	certificate, key, err := cert.GenerateSelfSignedCertKey(host, nil, append([]string{"localhost", "kubernetes.default.svc"}, c.names...))
	if err != nil {
		return err
	}
	chain, err := cert.ParseCertsPEM(certificate)
	if err != nil {
		return err
	}
	if c.CA, err = cert.EncodeCertificates(chain[len(chain)-1]); err != nil {
		return err
	}
	signingKey, err := keyutil.MakeEllipticPrivateKeyPEM()
	if err != nil {
		return err
	}
	token := random(16)
	kubeconfig, err := c.kubeconfig(token)
	if err != nil {
		return err
	}
	c.Kubeconfig = c.path("admin.kubeconfig")
	for name, content := range map[string][]byte{
		serverCertificate:  certificate,
		serverKey:          key,
		caCertificate:      c.CA,
		serviceAccountKey:  signingKey,
		tokens:             fmt.Appendf(nil, "%s,administrator,administrator,system:masters\n", token),
		auditRules:         []byte(auditPolicy),
		auditLog:           nil,
		"admin.kubeconfig": kubeconfig,
	} {
		if err := os.WriteFile(c.path(name), content, 0o600); err != nil {
			return err
		}
	}
	c.Config, err = clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		return err
	}
	c.Config.QPS = -1
	return nil
}

func (c *Cluster) kubeconfig(token string) ([]byte, error) {
	config := clientcmdapi.NewConfig()
	config.Clusters["shoot"] = &clientcmdapi.Cluster{Server: c.URL(), CertificateAuthorityData: c.CA}
	config.AuthInfos["administrator"] = &clientcmdapi.AuthInfo{Token: token}
	config.Contexts["shoot"] = &clientcmdapi.Context{Cluster: "shoot", AuthInfo: "administrator"}
	config.CurrentContext = "shoot"
	return clientcmd.Write(*config)
}

func random(length int) string {
	content := make([]byte, length)
	_, _ = rand.Read(content) // never fails
	return hex.EncodeToString(content)
}
