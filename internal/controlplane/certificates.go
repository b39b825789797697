package controlplane

import (
	"context"
	"fmt"
	"time"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	kubernetesutils "github.com/gardener/gardener/pkg/utils/kubernetes"
	secretsutils "github.com/gardener/gardener/pkg/utils/secrets"
	secretsmanager "github.com/gardener/gardener/pkg/utils/secrets/manager"
	"k8s.io/utils/clock"

	"github.com/trellis-garden/trellis/internal/controlplane/component"
)

// authority issues the certificates of one shoot's control plane. Its CA is the control plane's own, is kept in a migration, and is rotated with the
// shoot's CAs, in the same phases: a new one is created when the rotation is being prepared, both are trusted until it is being completed, and then the
// old one is removed.
//
// Names and identity are upstream's, so that an adopted shoot keeps its CA.
type authority struct {
	secretsmanager.Interface
	ca        string
	namespace string
	phase     gardencorev1beta1.CredentialsRotationPhase
}

func newAuthority(ctx context.Context, rec *reconciliation) (*authority, error) {
	ca := caName(rec.Object.Spec.Type)
	manager, err := secretsmanager.New(ctx, rec.Log, clock.RealClock{}, rec.Client, certificateManager(rec.Object.Spec.Type),
		secretsmanager.WithNamespaces(rec.Object.Namespace),
		secretsmanager.WithSecretNamesToTimes(rotationStart(rec.Cluster.Shoot, ca)),
	)
	if err != nil {
		return nil, fmt.Errorf("reading the certificates that are there: %w", err)
	}
	var credentials *gardencorev1beta1.ShootCredentials
	if rec.Cluster.Shoot != nil {
		credentials = rec.Cluster.Shoot.Status.Credentials
	}
	return &authority{
		Interface: manager, ca: ca, namespace: rec.Object.Namespace,
		phase: v1beta1helper.GetShootCARotationPhase(credentials),
	}, nil
}

// certificateManager is the identity of the secrets manager of control planes of a type, and caName the name of their CA.
func certificateManager(providerType string) string {
	return "provider-" + providerType + "-controlplane"
}
func caName(providerType string) string { return "ca-" + certificateManager(providerType) }

// rotationStart starts the CA's rotation with that of the shoot's CAs.
func rotationStart(shoot *gardencorev1beta1.Shoot, ca string) map[string]time.Time {
	if shoot == nil || shoot.Status.Credentials == nil || shoot.Status.Credentials.Rotation == nil {
		return nil
	}
	rotation := shoot.Status.Credentials.Rotation.CertificateAuthorities
	if rotation == nil || rotation.LastInitiationTime == nil {
		return nil
	}
	return map[string]time.Time{ca: rotation.LastInitiationTime.Time}
}

// issue makes sure that the CA and all certificates exist, and returns the names of their Secrets for component.Values.
func (a *authority) issue(ctx context.Context, certificates []Certificate) (map[string]string, error) {
	names := map[string]string{}
	if len(certificates) == 0 {
		return names, nil
	}
	if err := a.ensureCA(ctx); err != nil {
		return nil, err
	}
	bundle, found := a.Get(a.ca, secretsmanager.Bundle)
	if !found {
		return nil, fmt.Errorf("the bundle of %s does not exist", a.ca)
	}
	for _, certificate := range certificates {
		secret, err := a.Generate(ctx, &secretsutils.CertificateSecretConfig{
			Name:                        certificate.Name,
			CommonName:                  certificate.Service,
			DNSNames:                    kubernetesutils.DNSNamesForService(certificate.Service, a.namespace),
			CertType:                    secretsutils.ServerCert,
			SkipPublishingCACertificate: true,
		}, secretsmanager.SignedByCA(a.ca))
		if err != nil {
			return nil, fmt.Errorf("issuing certificate %s: %w", certificate.Name, err)
		}
		names[certificate.Name] = secret.Name
		names[component.CABundleOf(certificate.Name)] = bundle.Name
	}
	return names, nil
}

// bundle returns the certificates, in PEM, of all CAs that may have signed a certificate. issue must have been called with at least one certificate.
func (a *authority) bundle() ([]byte, error) {
	secret, found := a.Get(a.ca, secretsmanager.Bundle)
	if !found {
		return nil, fmt.Errorf("the bundle of %s does not exist", a.ca)
	}
	return secret.Data[secretsutils.DataKeyCertificateBundle], nil
}

func (a *authority) ensureCA(ctx context.Context) error {
	options := []secretsmanager.GenerateOption{secretsmanager.Persist(), secretsmanager.Rotate(secretsmanager.KeepOld)}
	if a.phase == gardencorev1beta1.RotationCompleting {
		options = append(options, secretsmanager.IgnoreOldSecrets())
	}
	config := &secretsutils.CertificateSecretConfig{Name: a.ca, CommonName: a.ca, CertType: secretsutils.CACert}
	if _, err := a.Generate(ctx, config, options...); err != nil {
		return fmt.Errorf("issuing %s: %w", a.ca, err)
	}
	return nil
}
