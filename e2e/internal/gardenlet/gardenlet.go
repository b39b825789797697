// Package gardenlet simulates gardenlet for an extension controller, with gardenlet's own code: it fills a shoot's namespace, deploys
// Infrastructure, ControlPlane, Network and Worker and waits for them by Gardener's component library, and copies their state between seeds in
// a ShootState that Gardener's code computes. It must not depend on a controller.
package gardenlet

import (
	"context"
	"fmt"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/gardener/gardener/pkg/client/kubernetes"
	"github.com/gardener/gardener/pkg/component/extensions/infrastructure"
	"github.com/gardener/gardener/pkg/controllerutils"
	"github.com/gardener/gardener/pkg/extensions"
	"github.com/gardener/gardener/pkg/utils/gardener/shootstate"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// Gardenlet is responsible for one seed.
type Gardenlet struct {
	// Seed is a client for the seed.
	Seed client.Client
	// Interval is how often an object is checked; gardenlet's own is 10 s for Infrastructures.
	Interval time.Duration
	// SevereThreshold is how long an error may last before a wait ends; gardenlet's own is 3 minutes.
	SevereThreshold time.Duration
	// Timeout bounds a wait; gardenlet's own is 10 minutes.
	Timeout time.Duration
	// APIServer changes the pods of a shoot's API server in a seed with real pods, where they would need an etcd. It may be nil.
	APIServer func(*Shoot, *corev1.PodTemplateSpec)
}

// New returns a gardenlet with shorter intervals and timeouts than a real one.
func New(seed client.Client) *Gardenlet {
	return &Gardenlet{Seed: seed, Interval: 100 * time.Millisecond, SevereThreshold: time.Minute, Timeout: 5 * time.Minute}
}

// Prepare creates or updates what gardenlet deploys before a shoot's extension objects: its namespace, the Cluster, and the Secret with the
// credentials.
func (g *Gardenlet) Prepare(ctx context.Context, shoot *Shoot) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: shoot.Namespace()}}
	if _, err := controllerutil.CreateOrPatch(ctx, g.Seed, namespace, func() error {
		namespace.Labels = map[string]string{
			v1beta1constants.GardenRole:         v1beta1constants.GardenRoleShoot,
			v1beta1constants.LabelShootProvider: shoot.ProviderType,
			v1beta1constants.LabelSeedProvider:  shoot.seedType(),
		}
		return nil
	}); err != nil {
		return fmt.Errorf("preparing the namespace of shoot %s: %w", shoot.Name, err)
	}
	if err := extensions.SyncClusterResourceToSeed(
		ctx, g.Seed, shoot.Namespace(), shoot.shoot(), shoot.cloudProfile(), shoot.seed(),
	); err != nil {
		return fmt.Errorf("preparing the Cluster of shoot %s: %w", shoot.Name, err)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Name: v1beta1constants.SecretNameCloudProvider, Namespace: shoot.Namespace(),
	}}
	// It also patches without a change, by which webhooks that have come since see the Secret.
	if _, err := controllerutils.GetAndCreateOrMergePatch(ctx, g.Seed, secret, func() error {
		secret.Labels = map[string]string{v1beta1constants.GardenerPurpose: v1beta1constants.SecretNameCloudProvider}
		secret.Data = shoot.Credentials
		return nil
	}); err != nil {
		return fmt.Errorf("preparing the credentials of shoot %s: %w", shoot.Name, err)
	}
	return nil
}

// Cleanup deletes what Prepare has created, as gardenlet does at the end of a shoot. It does not wait for the namespace's content.
func (g *Gardenlet) Cleanup(ctx context.Context, shoot *Shoot) error {
	for _, object := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: shoot.Namespace()}},
		&extensionsv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: shoot.Namespace()}},
	} {
		if err := g.Seed.Delete(ctx, object); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("forgetting shoot %s: %w", shoot.Name, err)
		}
	}
	return nil
}

// Infrastructure returns gardenlet's component for the shoot's Infrastructure. Each flow needs a new one: a component remembers the object that
// it read last.
func (g *Gardenlet) Infrastructure(shoot *Shoot) infrastructure.Interface {
	return g.component(shoot, true)
}

// InfrastructureWithoutOperation returns a component whose Deploy changes the spec without requesting a reconciliation, as gardenlet does outside
// of a shoot's maintenance window.
func (g *Gardenlet) InfrastructureWithoutOperation(shoot *Shoot) infrastructure.Interface {
	return g.component(shoot, false)
}

func (g *Gardenlet) component(shoot *Shoot, withOperation bool) infrastructure.Interface {
	return infrastructure.New(logr.Discard(), g.Seed, &infrastructure.Values{
		Namespace: shoot.Namespace(), Name: shoot.Name, Type: shoot.ProviderType, Region: shoot.Region,
		ProviderConfig: raw(shoot.InfrastructureConfig), SSHPublicKey: shoot.SSHPublicKey, AnnotateOperation: withOperation,
	}, g.Interval, g.SevereThreshold, g.Timeout)
}

// Object returns the shoot's Infrastructure as the component would create it, without an operation annotation.
func (g *Gardenlet) Object(shoot *Shoot) *extensionsv1alpha1.Infrastructure {
	return &extensionsv1alpha1.Infrastructure{
		ObjectMeta: metav1.ObjectMeta{Name: shoot.Name, Namespace: shoot.Namespace()},
		Spec: extensionsv1alpha1.InfrastructureSpec{
			DefaultSpec:  extensionsv1alpha1.DefaultSpec{Type: shoot.ProviderType, ProviderConfig: raw(shoot.InfrastructureConfig)},
			Region:       shoot.Region,
			SSHPublicKey: shoot.SSHPublicKey,
			SecretRef:    corev1.SecretReference{Name: v1beta1constants.SecretNameCloudProvider, Namespace: shoot.Namespace()},
		},
	}
}

// Get reads the shoot's Infrastructure.
func (g *Gardenlet) Get(ctx context.Context, shoot *Shoot) (*extensionsv1alpha1.Infrastructure, error) {
	object := &extensionsv1alpha1.Infrastructure{}
	err := g.Seed.Get(ctx, client.ObjectKey{Namespace: shoot.Namespace(), Name: shoot.Name}, object)
	return object, err
}

// ShootState returns the state that is transferred to another seed, computed by Gardener's code from this seed, with a garden that exists for
// this purpose only.
func (g *Gardenlet) ShootState(ctx context.Context, shoot *Shoot) (*gardencorev1beta1.ShootState, error) {
	garden := fake.NewClientBuilder().WithScheme(kubernetes.GardenScheme).Build()
	object := shoot.shoot()
	if err := shootstate.Deploy(ctx, clock.RealClock{}, garden, g.Seed, object, shoot.Namespace(), true); err != nil {
		return nil, fmt.Errorf("persisting the state of shoot %s: %w", shoot.Name, err)
	}
	state := &gardencorev1beta1.ShootState{}
	if err := garden.Get(ctx, client.ObjectKeyFromObject(object), state); err != nil {
		return nil, fmt.Errorf("reading the persisted state of shoot %s: %w", shoot.Name, err)
	}
	return state, nil
}
