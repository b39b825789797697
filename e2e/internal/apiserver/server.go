package apiserver

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"path/filepath"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"

	"github.com/trellis-garden/trellis/e2e/internal/audit"
	"github.com/trellis-garden/trellis/e2e/internal/process"
)

const (
	serverCertificate = "server.crt"
	serverKey         = "server.key"
	caCertificate     = "ca.crt"
	serviceAccountKey = "service-account.key"
	tokens            = "tokens.csv"
	auditLog          = "audit.log"
)

// ServerOptions configure a Server.
type ServerOptions struct {
	// Dir is an empty folder for all files, which the caller removes after Stop.
	Dir string
	// Etcd is the address of an existing etcd, in which the server's objects have a prefix of their own.
	Etcd string
	// IP is an address of this machine; empty for loopback. Port is empty for a free one.
	IP, Port string
	// Names and IPs are further DNS names and addresses in the certificate.
	Names []string
	IPs   []net.IP
	// AuditPolicy is the policy of the audit log.
	AuditPolicy string
	// Args are further arguments; they win over those of the same names that every server has.
	Args []string
	// ServiceRanges are the ranges of Services, one of each family, with commas; empty for one of IPv4.
	ServiceRanges string
}

// Server is an API server in an existing etcd, with the configuration that Gardener gives to shoots: RBAC, tokens for ServiceAccounts, and the
// audience of Gardener's own tokens. It can be stopped and started again with the same objects, address and credentials.
type Server struct {
	// Kubeconfig is the path of an administrator's kubeconfig, Config its content, without client-side rate limits.
	Kubeconfig string
	Config     *rest.Config
	// CA is the certificate of the server's CA, in PEM.
	CA []byte

	programs, prefix, address, policy string
	options                           ServerOptions
	process                           *process.Process
}

// NewServer writes the files of a server, which Start starts from the programs in the folder programs.
func NewServer(programs string, options ServerOptions) (*Server, error) {
	s := &Server{programs: programs, prefix: "/shoot-" + random(4), options: options}
	ip := cmp.Or(options.IP, "127.0.0.1")
	s.address = net.JoinHostPort(ip, options.Port)
	if options.Port == "" {
		var err error
		if s.address, err = process.FreeAddressAt(ip); err != nil {
			return nil, err
		}
	}
	if err := s.writeFiles(); err != nil {
		return nil, fmt.Errorf("writing the files of an API server: %w", err)
	}
	return s, nil
}

// URL is the server's URL.
func (s *Server) URL() string { return "https://" + s.address }

// Address is the server's IP address, with its port.
func (s *Server) Address() string { return s.address }

// AuditLog is the server's audit log.
func (s *Server) AuditLog() audit.Log { return audit.Log(s.path(auditLog)) }

// Start starts the server and waits until it is ready.
func (s *Server) Start(ctx context.Context) error {
	var err error
	if s.process, err = process.Start(filepath.Join(s.programs, apiServer), s.args(), nil, s.path(apiServer+".log")); err != nil {
		return err
	}
	if err := s.process.WaitForTLS(ctx, s.URL()+"/readyz"); err != nil {
		s.Kill()
		return fmt.Errorf("starting an API server: %w", err)
	}
	return nil
}

// Exited is closed when the server has ended. It must have been started.
func (s *Server) Exited() <-chan struct{} { return s.process.Exited() }

// PID is the server's process ID. It must have been started.
func (s *Server) PID() int { return s.process.PID() }

// Kill kills the server if it runs. Terminated, it would wait a minute for its watches; nothing is lost.
func (s *Server) Kill() {
	if s.process != nil {
		s.process.Kill()
	}
	s.process = nil
}

// args are the server's arguments. It has CAs for client certificates and for proxies because programs that delegate authentication to it,
// such as a cloud-controller-manager, read both; there are no clients with certificates.
func (s *Server) args() []string {
	host, port, _ := net.SplitHostPort(s.address)
	return append([]string{
		"--etcd-servers=" + s.options.Etcd,
		"--etcd-prefix=" + s.prefix,
		"--bind-address=" + host,
		"--advertise-address=" + host,
		"--secure-port=" + port,
		"--endpoint-reconciler-type=none",
		"--service-cluster-ip-range=" + cmp.Or(s.options.ServiceRanges, "100.64.0.0/13"),
		"--tls-cert-file=" + s.path(serverCertificate),
		"--tls-private-key-file=" + s.path(serverKey),
		"--client-ca-file=" + s.path(caCertificate),
		"--requestheader-client-ca-file=" + s.path(caCertificate),
		"--requestheader-allowed-names=front-proxy-client",
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--token-auth-file=" + s.path(tokens),
		"--authorization-mode=Node,RBAC",
		"--audit-policy-file=" + s.policy,
		"--audit-log-path=" + s.path(auditLog),
		"--audit-log-maxsize=" + auditLogMegabytes,
		"--service-account-issuer=" + s.URL(),
		"--service-account-signing-key-file=" + s.path(serviceAccountKey),
		"--service-account-key-file=" + s.path(serviceAccountKey),
		"--api-audiences=" + s.URL() + ",kubernetes," + v1beta1constants.GardenerAudience,
		"--allow-privileged=true",
		"--profiling=false",
	}, s.options.Args...)
}

// writeFiles creates all certificates, keys and tokens.
func (s *Server) writeFiles() error {
	host, _, _ := net.SplitHostPort(s.address)
	certificate, key, err := cert.GenerateSelfSignedCertKey(host, s.options.IPs, append([]string{"localhost", "kubernetes.default.svc"}, s.options.Names...))
	if err != nil {
		return err
	}
	chain, err := cert.ParseCertsPEM(certificate)
	if err != nil {
		return err
	}
	if s.CA, err = cert.EncodeCertificates(chain[len(chain)-1]); err != nil {
		return err
	}
	signingKey, err := keyutil.MakeEllipticPrivateKeyPEM()
	if err != nil {
		return err
	}
	token := random(16)
	kubeconfig, err := s.KubeconfigWith(token)
	if err != nil {
		return err
	}
	s.Kubeconfig = s.path("admin.kubeconfig")
	if s.policy, err = WritePolicy(s.AuditLog(), s.options.AuditPolicy); err != nil {
		return err
	}
	for name, content := range map[string][]byte{
		serverCertificate:  certificate,
		serverKey:          key,
		caCertificate:      s.CA,
		serviceAccountKey:  signingKey,
		tokens:             fmt.Appendf(nil, "%s,administrator,administrator,system:masters\n", token),
		auditLog:           nil,
		"admin.kubeconfig": kubeconfig,
	} {
		if err := os.WriteFile(s.path(name), content, 0o600); err != nil {
			return err
		}
	}
	s.Config, err = clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		return err
	}
	s.Config.QPS = -1
	return nil
}

// KubeconfigWith returns a kubeconfig for the server with a token.
func (s *Server) KubeconfigWith(token string) ([]byte, error) {
	config := clientcmdapi.NewConfig()
	config.Clusters["shoot"] = &clientcmdapi.Cluster{Server: s.URL(), CertificateAuthorityData: s.CA}
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

func (s *Server) path(name string) string { return filepath.Join(s.options.Dir, name) }
