package shootmachines

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"time"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/gardener/gardener/pkg/client/kubernetes"
	"github.com/gardener/gardener/pkg/utils/secrets"
	secretsmanager "github.com/gardener/gardener/pkg/utils/secrets/manager"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// validity is that of issued certificates.
const validity = 24 * time.Hour

// errNoShoot is returned as long as a shoot's namespace has no API server.
var errNoShoot = errors.New("there is no API server")

// access is a way to a shoot's API server that has been accepted.
type access struct {
	*rest.Config
	// name changes with the client CA, the server's CAs and the address.
	name string
}

// candidate is a way to an API server that may be accepted. Those of newer client CAs come first.
type candidate struct {
	name string
	ca   *corev1.Secret
}

// openAccess returns a way to the shoot's API server, by the newest client CA that it accepts. While the client CA is rotated there are two, and
// the API server knows the newer one only after its next rollout.
func (s *shoot) openAccess(ctx context.Context) (*access, error) {
	seed, namespace := s.seed, s.namespace
	service := &corev1.Service{}
	err := seed.Get(ctx, client.ObjectKey{Namespace: namespace, Name: v1beta1constants.DeploymentNameKubeAPIServer}, service)
	if client.IgnoreNotFound(err) != nil {
		return nil, err
	}
	if err != nil || !service.DeletionTimestamp.IsZero() || len(service.Spec.Ports) == 0 {
		return nil, errNoShoot
	}
	clientCAs, err := listCAs(ctx, seed, namespace, v1beta1constants.SecretNameCAClient)
	if err != nil {
		return nil, err
	}
	serverCAs, err := listCAs(ctx, seed, namespace, v1beta1constants.SecretNameCACluster)
	if err != nil {
		return nil, err
	}
	if len(clientCAs) == 0 || len(serverCAs) == 0 {
		return nil, errNoShoot
	}
	bundle := bundleOf(serverCAs)
	var failures []error
	for _, c := range candidates(clientCAs, bundle, service) {
		if s.known[c.name] == nil {
			config, err := newConfig(c.ca, bundle, service)
			if err != nil {
				return nil, err
			}
			s.known[c.name] = &access{Config: config, name: c.name}
		}
		err := tryConfig(ctx, s.known[c.name].Config)
		if err == nil {
			return s.known[c.name], nil
		}
		failures = append(failures, fmt.Errorf("by %s: %w", c.ca.Name, err))
	}
	return nil, errors.Join(failures...)
}

// candidates names the ways by client CAs.
func candidates(clientCAs []corev1.Secret, bundle []byte, service *corev1.Service) []candidate {
	sum := sha256.Sum256(bundle)
	candidates := make([]candidate, 0, len(clientCAs))
	for i := range clientCAs {
		name := fmt.Sprintf("%s, %s at %s", clientCAs[i].Name, hex.EncodeToString(sum[:4]), service.Spec.ClusterIP)
		candidates = append(candidates, candidate{name: name, ca: &clientCAs[i]})
	}
	return candidates
}

// listCAs lists the CAs with keys of a name, the newest first.
func listCAs(ctx context.Context, seed client.Client, namespace, name string) ([]corev1.Secret, error) {
	list := &corev1.SecretList{}
	if err := seed.List(ctx, list, client.InNamespace(namespace), client.MatchingLabels{secretsmanager.LabelKeyName: name}); err != nil {
		return nil, fmt.Errorf("listing the CAs %s: %w", name, err)
	}
	return newestFirst(list.Items), nil
}

// newestFirst sorts CAs, and removes what is no CA, such as bundles.
func newestFirst(list []corev1.Secret) []corev1.Secret {
	list = slices.DeleteFunc(slices.Clone(list), func(s corev1.Secret) bool {
		return len(s.Data[secrets.DataKeyPrivateKeyCA]) == 0 || len(s.Data[secrets.DataKeyCertificateCA]) == 0
	})
	slices.SortStableFunc(list, func(a, b corev1.Secret) int {
		return cmp.Or(cmp.Compare(b.Labels[secretsmanager.LabelKeyIssuedAtTime], a.Labels[secretsmanager.LabelKeyIssuedAtTime]), cmp.Compare(a.Name, b.Name))
	})
	return list
}

func bundleOf(list []corev1.Secret) []byte {
	var bundle []byte
	for _, ca := range list {
		bundle = append(bundle, ca.Data[secrets.DataKeyCertificateCA]...)
	}
	return bundle
}

// newConfig returns an administrator's config with a client certificate of a CA.
func newConfig(ca *corev1.Secret, bundle []byte, service *corev1.Service) (*rest.Config, error) {
	issued, err := issue(ca, secrets.CertificateSecretConfig{
		CommonName: "landscape-machines", Organization: []string{"system:masters"}, CertType: secrets.ClientCert,
	})
	if err != nil {
		return nil, err
	}
	return &rest.Config{
		Host: "https://" + net.JoinHostPort(service.Spec.ClusterIP, strconv.Itoa(int(service.Spec.Ports[0].Port))), QPS: -1,
		TLSClientConfig: rest.TLSClientConfig{
			CAData: bundle, ServerName: v1beta1constants.DeploymentNameKubeAPIServer, CertData: issued.CertificatePEM, KeyData: issued.PrivateKeyPEM,
		},
	}, nil
}

// issue issues a certificate of a CA of Gardener's secrets manager.
func issue(ca *corev1.Secret, config secrets.CertificateSecretConfig) (*secrets.Certificate, error) {
	signer, err := secrets.LoadCertificate(ca.Name, ca.Data[secrets.DataKeyPrivateKeyCA], ca.Data[secrets.DataKeyCertificateCA])
	if err != nil {
		return nil, fmt.Errorf("reading CA %s: %w", ca.Name, err)
	}
	config.Name, config.SigningCA, config.Validity = config.CommonName, signer, new(validity)
	issued, err := config.GenerateCertificate()
	if err != nil {
		return nil, fmt.Errorf("issuing a certificate of CA %s: %w", ca.Name, err)
	}
	return issued, nil
}

// tryConfig makes one request.
func tryConfig(ctx context.Context, config *rest.Config) error {
	short := rest.CopyConfig(config)
	short.Timeout = requestTimeout
	c, err := client.New(short, client.Options{Scheme: kubernetes.ShootScheme})
	if err != nil {
		return err
	}
	return c.Get(ctx, client.ObjectKey{Name: "kube-system"}, &corev1.Namespace{})
}
