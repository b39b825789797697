package shootmachines

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/gardener/gardener/pkg/utils/secrets"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/nodes"
)

const (
	// portForward is the protocol of API servers for tunnels to pods.
	portForward = "portforward.k8s.io"
	// tunnelTimeout bounds a tunnel.
	tunnelTimeout = time.Minute
)

// kubelets serve at the internal addresses of a shoot's nodes. All they do is to open tunnels, through which nothing is sent.
type kubelets struct {
	seed      client.Client
	log       *journal
	namespace string
	servers   map[netip.Addr]*http.Server
}

func newKubelets(seed client.Client, log *journal, namespace string) *kubelets {
	return &kubelets{seed: seed, log: log, namespace: namespace, servers: map[netip.Addr]*http.Server{}}
}

// addressesOf returns the internal addresses of nodes.
func addressesOf(list []corev1.Node) map[netip.Addr]string {
	addresses := map[netip.Addr]string{}
	for _, node := range list {
		for _, address := range node.Status.Addresses {
			if parsed, err := netip.ParseAddr(address.Address); err == nil && address.Type == corev1.NodeInternalIP {
				addresses[parsed] = node.Name
			}
		}
	}
	return addresses
}

// sync serves at the addresses of these nodes. Each keeps the certificate that it got first, by the newest CA of that time: when an older CA is removed, all nodes that
// had its certificates have been replaced.
func (k *kubelets) sync(ctx context.Context, list []corev1.Node) error {
	wanted := addressesOf(list)
	cas, err := listCAs(ctx, k.seed, k.namespace, v1beta1constants.SecretNameCAKubelet)
	if err != nil {
		return err
	}
	if len(cas) == 0 {
		return errors.New("there is no CA of kubelets")
	}
	for address, server := range k.servers {
		if wanted[address] == "" {
			_ = server.Close()
			delete(k.servers, address)
		}
	}
	var failures []error
	for address, name := range wanted {
		if k.servers[address] == nil {
			failures = append(failures, k.serve(ctx, &cas[0], address, name))
		}
	}
	return errors.Join(failures...)
}

func (k *kubelets) serve(ctx context.Context, ca *corev1.Secret, address netip.Addr, name string) error {
	issued, err := issue(ca, secrets.CertificateSecretConfig{
		CommonName: "system:node:" + name, Organization: []string{"system:nodes"}, CertType: secrets.ServerCert,
		DNSNames: []string{name}, IPAddresses: []net.IP{address.AsSlice()},
	})
	if err != nil {
		return err
	}
	pair, err := tls.X509KeyPair(issued.CertificatePEM, issued.PrivateKeyPEM)
	if err != nil {
		return fmt.Errorf("reading the certificate of kubelet %s: %w", name, err)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", netip.AddrPortFrom(address, nodes.KubeletPort).String())
	if err != nil {
		return fmt.Errorf("serving as kubelet of node %s: %w", name, err)
	}
	server := &http.Server{
		Handler: http.HandlerFunc(tunnel), ReadHeaderTimeout: requestTimeout,
		TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, NextProtos: []string{"http/1.1"}},
	}
	k.servers[address] = server
	go func() {
		if err := server.ServeTLS(listener, "", ""); !errors.Is(err, http.ErrServerClosed) {
			k.log.linef("%s: kubelet of node %s: %v", k.namespace, name, err)
		}
	}()
	return nil
}

func (k *kubelets) stop() {
	for _, server := range k.servers {
		_ = server.Close()
	}
}

// tunnel answers the request of an API server for a tunnel to a pod.
func tunnel(w http.ResponseWriter, r *http.Request) {
	if !strings.HasPrefix(r.URL.Path, "/portForward/") {
		http.Error(w, "the simulated kubelet only forwards ports", http.StatusNotImplemented)
		return
	}
	if _, err := httpstream.Handshake(r, w, []string{portForward}); err != nil {
		return // it has been answered
	}
	accept := func(httpstream.Stream, <-chan struct{}) error { return nil }
	connection := spdy.NewResponseUpgrader().UpgradeResponse(w, r, accept)
	if connection == nil {
		return
	}
	defer func() { _ = connection.Close() }()
	select {
	case <-connection.CloseChan():
	case <-time.After(tunnelTimeout):
	}
}
