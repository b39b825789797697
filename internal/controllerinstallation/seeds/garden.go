package seeds

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	authenticationv1alpha1 "github.com/gardener/gardener/pkg/apis/authentication/v1alpha1"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	seedmanagementv1alpha1 "github.com/gardener/gardener/pkg/apis/seedmanagement/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// secretPrefix, followed by the name of a seed, is the name of the Secret with an admin's kubeconfig for it, in the namespace garden of the garden.
	secretPrefix = "installation-access-"
	// keyKubeconfig is the key in that Secret.
	keyKubeconfig = "kubeconfig"
	// fingerprintShoot is the fingerprint of credentials that are not from a Secret.
	fingerprintShoot = "shoot"
)

// FromGarden returns the access of a process that serves seeds from their garden. It uses the first of these that exists:
//
//   - the kubeconfig in the Secret installation-access-<seed>, key kubeconfig, in the garden's namespace garden. It must not contain exec plugins, file
//     paths or insecure-skip-tls-verify;
//   - the admin kubeconfig of the Shoot that a ManagedSeed of the same name makes a seed, renewed before it expires.
//
// garden reads from the API server, never from a cache, and its scheme has Secrets, Gardener's core, seedmanagement/v1alpha1 and
// authentication/v1alpha1. It needs to get Secrets and ManagedSeeds, and to create shoots/adminkubeconfig, all in the namespace garden.
func FromGarden(garden client.Client, options Options) (*Connections, error) {
	for _, object := range []client.Object{
		&corev1.Secret{}, &gardencorev1beta1.Shoot{}, &seedmanagementv1alpha1.ManagedSeed{}, &authenticationv1alpha1.AdminKubeconfigRequest{},
	} {
		if _, _, err := garden.Scheme().ObjectKinds(object); err != nil {
			return nil, fmt.Errorf("checking the scheme of the garden's client: %w", err)
		}
	}
	options = options.withDefaults()
	return newConnections(&fromGarden{garden: garden, options: options}, options)
}

// fromGarden is the source for all seeds of a garden.
type fromGarden struct {
	garden  client.Client
	options Options
}

// credentials implements source.
func (g *fromGarden) credentials(ctx context.Context, seed string, previous *credentials) (*credentials, error) {
	key := client.ObjectKey{Namespace: v1beta1constants.GardenNamespace, Name: secretPrefix + seed}
	secret := &corev1.Secret{}
	err := g.garden.Get(ctx, key, secret)
	switch {
	case err == nil:
		return g.fromSecret(secret, previous)
	case !apierrors.IsNotFound(err):
		return nil, fmt.Errorf("reading Secret %s of the garden: %w", key, err)
	}
	// The Shoot of a ManagedSeed never changes. Its deletion is noticed when credentials are renewed.
	if previous != nil && previous.fingerprint == fingerprintShoot && !previous.due(g.options.Clock.Now()) {
		return previous, nil
	}
	managed := &seedmanagementv1alpha1.ManagedSeed{}
	err = g.garden.Get(ctx, client.ObjectKey{Namespace: v1beta1constants.GardenNamespace, Name: seed}, managed)
	switch {
	case apierrors.IsNotFound(err), meta.IsNoMatchError(err), err == nil && managed.Spec.Shoot == nil:
		return nil, &noAccessError{fmt.Sprintf("nobody has given access to it: create Secret %s in the garden, with a kubeconfig of the seed under the key %s "+
			"(there is no ManagedSeed %[3]s/%[4]s with a Shoot, whose kubeconfig would be used else)",
			key, keyKubeconfig, v1beta1constants.GardenNamespace, seed)}
	case err != nil:
		return nil, fmt.Errorf("reading ManagedSeed %s/%s of the garden: %w", v1beta1constants.GardenNamespace, seed, err)
	}
	return g.fromShoot(ctx, managed.Spec.Shoot.Name)
}

func (g *fromGarden) fromSecret(secret *corev1.Secret, previous *credentials) (*credentials, error) {
	fingerprint := string(secret.UID) + "/" + secret.ResourceVersion
	if previous != nil && previous.fingerprint == fingerprint {
		return previous, nil
	}
	source := fmt.Sprintf("Secret %s of the garden, key %s", client.ObjectKeyFromObject(secret), keyKubeconfig)
	config, err := readKubeconfig(secret.Data[keyKubeconfig])
	if err != nil {
		return nil, &noAccessError{fmt.Sprintf("%s: %v; put a kubeconfig of the seed there", source, err)}
	}
	return &credentials{source: source, remedy: "put a kubeconfig there that is good", fingerprint: fingerprint, config: config}, nil
}

// fromShoot requests an admin kubeconfig. It is renewed after 70 to 80 % of the validity that the garden grants.
func (g *fromGarden) fromShoot(ctx context.Context, name string) (*credentials, error) {
	shoot := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: v1beta1constants.GardenNamespace, Name: name}}
	source := fmt.Sprintf("the admin kubeconfig of Shoot %s", client.ObjectKeyFromObject(shoot))
	request := &authenticationv1alpha1.AdminKubeconfigRequest{Spec: authenticationv1alpha1.AdminKubeconfigRequestSpec{
		ExpirationSeconds: new(int64(g.options.CredentialsLife / time.Second)),
	}}
	before := g.options.Clock.Now()
	if err := g.garden.SubResource("adminkubeconfig").Create(ctx, shoot, request); err != nil {
		return nil, fmt.Errorf("asking the garden for %s: %w", source, err)
	}
	config, err := readKubeconfig(request.Status.Kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", source, err)
	}
	given := &credentials{source: source, fingerprint: fingerprintShoot, config: config, expireAt: request.Status.ExpirationTimestamp.Time}
	if given.expireAt.IsZero() {
		given.expireAt = before.Add(g.options.CredentialsLife)
	}
	life := given.expireAt.Sub(before)
	if life <= 0 {
		return nil, fmt.Errorf("reading %s: it expired at %s, and here it is later: check the clocks", source, given.expireAt.UTC().Format(time.RFC3339))
	}
	given.renewAt = before.Add(life*4/5 - rand.N(life/10)) //nolint:gosec // jitter is not security relevant
	return given, nil
}
