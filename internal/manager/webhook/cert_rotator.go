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

// errNotServing is no failure: a server needs a moment to listen.
var errNotServing = errors.New("this process does not serve webhooks yet")

// certRotator keeps certificates and registrations in shape. It runs on the leader.
//
// A request fails when a replica shows a certificate that its API server does not trust yet, or not any more. Nobody knows
// what exactly an API server trusts: it watches configurations, and there may be several, each behind by as much as a broken
// watch takes to mend. Neither does anybody know what a replica shows: it looks for Secrets every now and then. So a renewal
// goes in steps, with more than enough time between two of them, while all that replicas may show remains trusted:
//
//  1. There is a new authority. The configurations name it beside the old one; replicas show what they had.
//  2. After timing.trust, in which nobody has taken it out of any configuration, all API servers know it. Only now there is a
//     server certificate signed by it. It is the newest, so replicas load it.
//  3. After timing.settle, all replicas have. Only now the secrets manager may delete what it holds for outdated. It keeps the
//     last authority but one for timing.oldAuthorityRetention, those before go at once.
//  4. The configurations name the authorities that are left.
//
// What has to be known for that can be seen in Secrets and configurations, except for how long step 1 has lasted, so a process
// may end at any point. It also holds when an authority is renewed again during the renewal of another: the configurations name
// all authorities that have a Secret, and nothing is deleted before the last one has a server certificate. That is why step 2
// always signs with the newest authority (UseCurrentCA): which certificate is shown meanwhile is decided by not asking for
// another one, and UseOldCA would only go one authority back.
//
// Where two clusters have configurations, all of both count: an authority is known when every one of them has named it without a break. While
// one cluster is away, nothing is known of it, and a renewal waits.
//
// When there is nothing that replicas could show instead, at the very first start, or because Secrets were deleted or the
// process was away for weeks, waiting would not help anybody, and all is done at once. The very first registration follows
// when this process serves: with the failure policy Fail, a webhook that nobody serves is worse than none.
type certRotator struct {
	client      client.Client
	registrars  registrars
	certificate *certificate
	names       secretNames
	// serving returns an error as long as this process does not serve.
	serving func() error
	timing  timing
	trust   trustedSince
	log     logr.Logger
}

var _ ctrlmanager.LeaderElectionRunnable = (*certRotator)(nil)

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (k *certRotator) NeedLeaderElection() bool { return true }

// Start implements manager.Runnable. It outlives every error of the API server.
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
	if k.registrars.isEmpty() {
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

	trusted, err := k.registrars.register(ctx, keys.bundle(time.Now()))
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

// maySign reports whether server certificates signed by the newest authority may be shown now.
func (k *certRotator) maySign(authority *x509.Certificate, keys *keyring) bool {
	now := time.Now()
	return keys.usable(k.registrars.addresses().hosts(), now) == nil || keys.hasSigned(authority) || k.trust.trustedFor(authority, k.timing.trustDelay, now)
}

// cleanUp takes back everything when there are no webhooks to serve.
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
	// Nothing was asked for, so everything is outdated.
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
		CommonName:                  configurationName(k.registrars[0].binary),
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
