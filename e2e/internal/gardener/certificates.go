package gardener

import (
	"fmt"
	"net"
	"os"
	"path/filepath"

	secretsutils "github.com/gardener/gardener/pkg/utils/secrets"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// authority issues certificates, in files of a folder.
type authority struct {
	dir string
	ca  *secretsutils.Certificate
	// path is that of the certificate of the CA.
	path string
}

// certificate is a certificate and its key in files.
type certificate struct {
	*secretsutils.Certificate
	crt, key string
}

func newAuthority(dir, name string) (*authority, error) {
	ca, err := (&secretsutils.CertificateSecretConfig{Name: name, CommonName: name, CertType: secretsutils.CACert}).GenerateCertificate()
	if err != nil {
		return nil, fmt.Errorf("creating the CA %s: %w", name, err)
	}
	a := &authority{dir: dir, ca: ca, path: filepath.Join(dir, name+".crt")}
	return a, os.WriteFile(a.path, ca.CertificatePEM, 0o600)
}

func (a *authority) issue(config secretsutils.CertificateSecretConfig) (certificate, error) {
	config.SigningCA = a.ca
	issued, err := config.GenerateCertificate()
	if err != nil {
		return certificate{}, fmt.Errorf("creating the certificate %s: %w", config.Name, err)
	}
	c := certificate{Certificate: issued, crt: filepath.Join(a.dir, config.Name+".crt"), key: filepath.Join(a.dir, config.Name+".key")}
	if err := os.WriteFile(c.crt, issued.CertificatePEM, 0o600); err != nil {
		return certificate{}, err
	}
	return c, os.WriteFile(c.key, issued.PrivateKeyPEM, 0o600)
}

// issueClient issues the certificate of a user in groups.
func (a *authority) issueClient(name, user string, groups ...string) (certificate, error) {
	return a.issue(secretsutils.CertificateSecretConfig{Name: name, CommonName: user, Organization: groups, CertType: secretsutils.ClientCert})
}

// issueServer issues the certificate of a server behind names and loopback.
func (a *authority) issueServer(name string, names ...string) (certificate, error) {
	return a.issue(secretsutils.CertificateSecretConfig{
		Name: name, CommonName: name, CertType: secretsutils.ServerCert, DNSNames: append(names, "localhost"), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	})
}

// writeKubeconfig writes a kubeconfig for the cluster of config with a certificate.
func writeKubeconfig(path string, config *rest.Config, client certificate) error {
	kubeconfig := clientcmdapi.NewConfig()
	kubeconfig.Clusters["cluster"] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData}
	kubeconfig.AuthInfos["user"] = &clientcmdapi.AuthInfo{ClientCertificateData: client.CertificatePEM, ClientKeyData: client.PrivateKeyPEM}
	kubeconfig.Contexts["user"] = &clientcmdapi.Context{Cluster: "cluster", AuthInfo: "user"}
	kubeconfig.CurrentContext = "user"
	return clientcmd.WriteToFile(*kubeconfig, path)
}
