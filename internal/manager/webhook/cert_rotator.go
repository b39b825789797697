package webhook

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	secretsutils "github.com/gardener/gardener/pkg/utils/secrets"
	secretsmanager "github.com/gardener/gardener/pkg/utils/secrets/manager"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlmanager "sigs.k8s.io/controller-runtime/pkg/manager"
)

// validity is how long certificates are valid. The secrets manager renews them 10 days before the end.
const validity = 30 * 24 * time.Hour

// errNotServing is not a failure: the server has not begun to listen yet.
var errNotServing = errors.New("this process does not serve webhooks yet")

// certRotator renews certificates and reconciles registrations. It runs on the leader.
//
// A request fails if a replica presents a certificate that its API server does not trust yet, or no longer trusts. It is unknown which authorities an
// API server trusts at a moment: there may be several API servers, and each watches the configurations with a delay, as long as a broken watch takes
// to reconnect. It is also unknown which certificate a replica presents: it reads the Secrets periodically. So a renewal has steps, with ample time
// between two of them, and every certificate that a replica may present remains trusted:
//
//  1. There is a new authority. The configurations contain it and the old one; replicas present their old certificates.
//  2. After timing.trustDelay, in which it was in every configuration, all API servers trust it. Only now it signs a server
//     certificate. That is the newest, so replicas load it.
//  3. After timing.loadDelay, all replicas have loaded it. Only now the secrets manager may delete outdated Secrets. It keeps
//     the previous authority for timing.oldAuthorityRetention; earlier ones are deleted at once.
//  4. The configurations contain the remaining authorities.
//
// Secrets and configurations contain all state of a renewal except for how long step 1 has lasted, so a process may end at any point. Renewals of
// authorities may overlap: the configurations contain all authorities that have a Secret, and no Secret is deleted before the newest authority has
// signed a server certificate. That is why step 2 always signs with the newest authority (UseCurrentCA): until then no new server certificate is
// generated, so replicas present the previous one. UseOldCA would only go one authority back.
//
// If two clusters have configurations, an authority is trusted when every configuration of both has contained it without interruption. While one
// cluster is unreachable, a renewal waits.
//
// Registrations in shoots count like those of a cluster as soon as the seed has them: gardener-resource-manager applies them well within timing.trustDelay. A
// shoot in which it does not, e.g. while it is hibernated, gets all that has changed before its webhooks are of use again.
//
// If there is no valid old certificate, at the very first start, after Secrets were deleted, or after the process was stopped for weeks, waiting is
// of no use, and all steps follow at once. The webhooks are registered first when this process serves: with the failure policy Fail, a registered
// webhook without a server blocks requests.
type certRotator struct {
	client     client.Client
	registrars registrars
	// shoots is nil without webhooks for shoots.
	shoots      ShootRegistrations
	certificate *certificate
	names       secretNames
	// serving returns an error while this process does not serve.
	serving func() error
	timing  timing
	trust   trustedSince
	log     logr.Logger
}

var _ ctrlmanager.LeaderElectionRunnable = (*certRotator)(nil)

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (k *certRotator) NeedLeaderElection() bool { return true }

// Start implements manager.Runnable. It returns no error of the API server.
func (k *certRotator) Start(ctx context.Context) error {
	repeat(ctx, func(reconcileCtx context.Context) time.Duration {
		err := k.reconcile(reconcileCtx)
		switch {
		case err == nil:
			return k.timing.reconcileInterval
		case errors.Is(err, errNotServing):
			k.log.V(1).Info("Waiting", "reason", err.Error())
			return min(k.timing.reconcileInterval, k.timing.startupInterval)
		case ctx.Err() == nil:
			k.log.Error(err, "Updating webhook configurations failed")
		}
		return min(k.timing.reconcileInterval, k.timing.retryInterval)
	})
	return nil
}

func (k *certRotator) reconcile(ctx context.Context) error {
	if k.registrars.isEmpty() && k.shoots == nil {
		return k.cleanUp(ctx)
	}
	secrets, err := k.newSecretsManager(ctx)
	if err != nil {
		return err
	}
	authority, err := k.generateAuthority(ctx, secrets)
	if err != nil {
		return err
	}
	keys, err := readKeyring(ctx, k.client, k.names)
	if err != nil {
		return err
	}
	settled := false
	if k.maySign(authority, keys) {
		server, err := k.generateServer(ctx, secrets)
		if err != nil {
			return err
		}
		settled = time.Since(server.CreationTimestamp.Time) >= k.timing.loadDelay
		if keys, err = readKeyring(ctx, k.client, k.names); err != nil {
			return err
		}
	}
	k.certificate.load(keys.usable(k.registrars.addresses().hosts(), time.Now()))
	if err := k.serving(); err != nil {
		return fmt.Errorf("%w: %w", errNotServing, err)
	}

	trusted, err := k.registerAll(ctx, keys.bundle(time.Now()))
	k.trust.observe(trusted, time.Now())
	if err != nil {
		return err
	}
	if !settled {
		return nil
	}
	if err := secrets.Cleanup(ctx); err != nil {
		return fmt.Errorf("deleting outdated certificates: %w", err)
	}
	return nil
}

// maySign reports whether replicas may present server certificates signed by the newest authority.
func (k *certRotator) maySign(authority *x509.Certificate, keys *keyring) bool {
	now := time.Now()
	return keys.usable(k.registrars.addresses().hosts(), now) == nil || keys.hasSigned(authority) || k.trust.trustedFor(authority, k.timing.trustDelay, now)
}

// cleanUp deletes configurations and Secrets when there are no webhooks to serve.
func (k *certRotator) cleanUp(ctx context.Context) error {
	if err := k.registrars.unregister(ctx); err != nil {
		return err
	}
	if k.names.namespace == "" {
		return nil
	}
	secrets, err := k.newSecretsManager(ctx, secretsmanager.WithoutAutomaticSecretRenewal())
	if err != nil {
		return err
	}
	// No Secret was generated in this run, so all are outdated.
	if err := secrets.Cleanup(ctx); err != nil {
		return fmt.Errorf("deleting certificates: %w", err)
	}
	return nil
}

func (k *certRotator) newSecretsManager(ctx context.Context, options ...secretsmanager.NewOption) (secretsmanager.Interface, error) {
	options = append(options, secretsmanager.WithCASecretAutoRotation(), secretsmanager.WithNamespaces(k.names.namespace))
	secrets, err := secretsmanager.New(ctx, k.log, clock.RealClock{}, k.client, k.names.identity, options...)
	if err != nil {
		return nil, fmt.Errorf("preparing certificates: %w", err)
	}
	return secrets, nil
}

func (k *certRotator) generateAuthority(ctx context.Context, secrets secretsmanager.Interface) (*x509.Certificate, error) {
	secret, err := secrets.Generate(ctx, &secretsutils.CertificateSecretConfig{
		Name:       k.names.authority,
		CommonName: k.names.authority,
		CertType:   secretsutils.CACert,
		Validity:   new(validity),
	}, secretsmanager.Rotate(secretsmanager.KeepOld), secretsmanager.IgnoreOldSecretsAfter(k.timing.oldAuthorityRetention))
	if err != nil {
		return nil, fmt.Errorf("generating certificate authority: %w", err)
	}
	certificates := parseBundle(secret.Data[secretsutils.DataKeyCertificateCA])
	if len(certificates) != 1 {
		return nil, fmt.Errorf("secret %q holds %d certificate authorities instead of one", secret.Name, len(certificates))
	}
	return certificates[0], nil
}

func (k *certRotator) generateServer(ctx context.Context, secrets secretsmanager.Interface) (*corev1.Secret, error) {
	dnsNames, ipAddresses := k.registrars.addresses().names()
	secret, err := secrets.Generate(ctx, &secretsutils.CertificateSecretConfig{
		Name:                        k.names.server,
		CommonName:                  k.registrars[0].name,
		DNSNames:                    dnsNames,
		IPAddresses:                 ipAddresses,
		CertType:                    secretsutils.ServerCert,
		Validity:                    new(validity),
		SkipPublishingCACertificate: true,
	}, secretsmanager.SignedByCA(k.names.authority, secretsmanager.UseCurrentCA))
	if err != nil {
		return nil, fmt.Errorf("generating server certificate: %w", err)
	}
	return secret, nil
}
