package controlplane

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	secretsmanager "github.com/gardener/gardener/pkg/utils/secrets/manager"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/observer"
)

const (
	// serverCertificateWarning is how long before its end a server certificate is reported. A reconciliation renews it after four fifths of its time, which
	// are years, and at the latest ten days before the end. So one that is reported was not renewed when it should have been.
	serverCertificateWarning = 14 * 24 * time.Hour
	// caWarning is that of a CA, which nothing renews: the owner of the shoot rotates it, in two phases with changes to clients between them.
	caWarning = 90 * 24 * time.Hour
)

// issuedCertificate is a certificate of the contract's own, as the labels of its Secret describe it.
type issuedCertificate struct {
	// name is the certificate's, secret the Secret's.
	name, secret string
	isCA         bool
	notAfter     time.Time
}

// observeCertificates reads metadata only: no private key leaves the API server. There is no finding for a control plane without certificates.
func observeCertificates(ctx context.Context, input observer.Input[*extensionsv1alpha1.ControlPlane]) (*observer.Finding, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
	providerType := input.Object.Spec.Type
	err := input.Reader.List(ctx, list, client.InNamespace(input.Object.Namespace), client.MatchingLabels{
		secretsmanager.LabelKeyManagedBy:       secretsmanager.LabelValueSecretsManager,
		secretsmanager.LabelKeyManagerIdentity: certificateManager(providerType),
	})
	if err != nil {
		return nil, fmt.Errorf("listing the Secrets of certificates: %w", err)
	}
	certificates, err := newestCertificates(list.Items, caName(providerType))
	if err != nil || len(certificates) == 0 {
		return nil, err
	}
	return new(certificatesFinding(certificates, input.Now)), nil
}

// newestCertificates returns the certificates in use, sorted by name: the newest of each name, as the secrets manager selects them. Others are about to be
// removed. The secrets manager writes the end of a certificate to a label; Secrets without it, such as bundles, have none of their own.
func newestCertificates(secrets []metav1.PartialObjectMetadata, ca string) ([]issuedCertificate, error) {
	newest := map[string]*metav1.PartialObjectMetadata{}
	for i := range secrets {
		secret := &secrets[i]
		name := secret.Labels[secretsmanager.LabelKeyName]
		if secret.Labels[secretsmanager.LabelKeyValidUntilTime] == "" || !secret.DeletionTimestamp.IsZero() {
			continue
		}
		if other := newest[name]; other == nil || other.CreationTimestamp.Before(&secret.CreationTimestamp) {
			newest[name] = secret
		}
	}
	certificates := make([]issuedCertificate, 0, len(newest))
	for name, secret := range newest {
		seconds, err := strconv.ParseInt(secret.Labels[secretsmanager.LabelKeyValidUntilTime], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("reading label %s of Secret %s: %w", secretsmanager.LabelKeyValidUntilTime, secret.Name, err)
		}
		certificates = append(certificates, issuedCertificate{
			name: name, secret: secret.Name, isCA: name == ca, notAfter: time.Unix(seconds, 0).UTC(),
		})
	}
	slices.SortFunc(certificates, func(a, b issuedCertificate) int { return strings.Compare(a.name, b.name) })
	return certificates, nil
}

// certificatesFinding reports the certificates that end soon. There must be at least one.
func certificatesFinding(certificates []issuedCertificate, now time.Time) observer.Finding {
	var problems []string
	first := certificates[0]
	for _, certificate := range certificates {
		if certificate.notAfter.Before(first.notAfter) {
			first = certificate
		}
		if problem := certificate.problem(now); problem != "" {
			problems = append(problems, problem)
		}
	}
	if len(problems) > 0 {
		return observer.Finding{Message: strings.Join(problems, "; ")}
	}
	return observer.Finding{Healthy: true, Message: fmt.Sprintf("Of %d certificates, %s ends first, at %s.", len(certificates), first.name, formatEnd(first.notAfter))}
}

// problem is empty if the certificate does not end soon.
func (c issuedCertificate) problem(now time.Time) string {
	left := c.notAfter.Sub(now)
	verb := "ends"
	if left <= 0 {
		verb = "ended"
	}
	switch {
	case c.isCA && left < caWarning:
		return fmt.Sprintf("CA %s (Secret %s) %s at %s, and is not renewed by reconciliations: rotate the certificate authorities of the shoot",
			c.name, c.secret, verb, formatEnd(c.notAfter))
	case !c.isCA && left < serverCertificateWarning:
		return fmt.Sprintf("certificate %s (Secret %s) %s at %s: the next reconciliation of the shoot renews it; it should have been renewed already",
			c.name, c.secret, verb, formatEnd(c.notAfter))
	default:
		return ""
	}
}

func formatEnd(end time.Time) string { return end.UTC().Format(time.RFC3339) }
