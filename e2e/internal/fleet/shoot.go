package fleet

import (
	"context"
	"fmt"
	"os"
	"time"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/gardener/gardener/pkg/component"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/trellis-garden/trellis/e2e/internal/clusters"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
)

// pollInterval is how often objects in memory are looked at, and how long after an error a request is repeated.
const pollInterval = 250 * time.Millisecond

// Shoot is one shoot in the seed. Its methods repeat requests that the API server does not answer, or refuses, until their context ends.
type Shoot struct {
	*gardenlet.Shoot

	gardenlet *gardenlet.Gardenlet
	// client asks the API server, objects is the memory of the simulation.
	client  client.Client
	objects client.Reader
	// kubeconfig is the path of an administrator's kubeconfig.
	kubeconfig string
	// prepared are the Secrets of the namespace before the extension objects.
	prepared map[string]bool
}

func newShoot(described *gardenlet.Shoot, s *clusters.Seed, objects client.Reader) *Shoot {
	return &Shoot{Shoot: described, gardenlet: s.Gardenlet, client: s.Client, objects: objects, kubeconfig: s.Kubeconfig, prepared: map[string]bool{}}
}

func (s *Shoot) key() client.ObjectKey {
	return client.ObjectKey{Namespace: s.Namespace(), Name: s.Name}
}

func (s *Shoot) prepare(ctx context.Context) error {
	return s.repeat(ctx, "preparing", func(ctx context.Context) error {
		if err := s.gardenlet.Prepare(ctx, s.Shoot); err != nil {
			return err
		}
		if err := s.gardenlet.PrepareWorker(ctx, s.Shoot); err != nil {
			return err
		}
		if err := s.prepareAccess(ctx); err != nil {
			return err
		}
		names, err := s.secrets(ctx)
		for _, name := range names {
			s.prepared[name] = true
		}
		return err
	})
}

// prepareAccess writes the kubeconfig by which controllers reach the shoot.
func (s *Shoot) prepareAccess(ctx context.Context) error {
	kubeconfig, err := os.ReadFile(s.kubeconfig)
	if err != nil {
		return err
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace(), Name: v1beta1constants.SecretNameGardenerInternal}}
	_, err = controllerutil.CreateOrPatch(ctx, s.client, secret, func() error {
		secret.Data = map[string][]byte{"kubeconfig": kubeconfig}
		return nil
	})
	return err
}

// Create creates the extension objects as gardenlet does, the Infrastructure before all others, and waits until they are healthy.
func (s *Shoot) Create(ctx context.Context) error {
	for _, k := range kinds() {
		since := time.Now()
		if err := s.repeat(ctx, "deploying "+k.name, func(ctx context.Context) error { return s.deploy(ctx, k) }); err != nil {
			return err
		}
		if k.name != infrastructure().name {
			continue
		}
		if err := s.await(ctx, func(ctx context.Context) error { return s.readInfrastructure(ctx, since) }); err != nil {
			return err
		}
	}
	return s.await(ctx, s.check)
}

// readInfrastructure takes the provider status for the objects that follow.
func (s *Shoot) readInfrastructure(ctx context.Context, since time.Time) error {
	object, err := infrastructure().read(ctx, s.objects, s.key())
	if err != nil {
		return err
	}
	if err := infrastructure().ready(object, since); err != nil {
		return err
	}
	s.InfrastructureStatus = object.GetExtensionStatus().GetProviderStatus()
	return nil
}

func (s *Shoot) deploy(ctx context.Context, k kind) error {
	deployed, err := s.component(k)
	if err != nil {
		return err
	}
	return deployed.Deploy(ctx)
}

// component returns gardenlet's component for the shoot's object of a kind.
func (s *Shoot) component(k kind) (component.DeployWaiter, error) {
	switch k.new().(type) {
	case *extensionsv1alpha1.Infrastructure:
		return s.gardenlet.Infrastructure(s.Shoot), nil
	case *extensionsv1alpha1.ControlPlane:
		return s.gardenlet.ControlPlane(s.Shoot), nil
	case *extensionsv1alpha1.Network:
		return s.gardenlet.Network(s.Shoot)
	default:
		return s.gardenlet.Worker(s.Shoot)
	}
}

// Reconcile requests a reconciliation of all extension objects, and waits until they are healthy.
func (s *Shoot) Reconcile(ctx context.Context) error { return s.ReconcileAt(ctx, 0) }

// ReconcileAt is Reconcile by a gardenlet whose clock differs from that of this machine. By gardenlet's own rules, no operation is done that is older
// than the request.
func (s *Shoot) ReconcileAt(ctx context.Context, offset time.Duration) error {
	at := time.Now().Add(offset)
	for _, k := range kinds() {
		if err := s.repeat(ctx, "requesting a reconciliation of "+k.name, func(ctx context.Context) error { return s.request(ctx, k, at) }); err != nil {
			return err
		}
	}
	return s.await(ctx, func(ctx context.Context) error { return s.checkSince(ctx, at) })
}

func (s *Shoot) request(ctx context.Context, k kind, at time.Time) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]string{
		v1beta1constants.GardenerOperation: v1beta1constants.GardenerOperationReconcile,
		v1beta1constants.GardenerTimestamp: at.UTC().Format(time.RFC3339Nano),
	}}})
	if err != nil {
		return err
	}
	object := k.new()
	object.SetNamespace(s.Namespace())
	object.SetName(s.Name)
	return s.client.Patch(ctx, object, client.RawPatch("application/merge-patch+json", patch))
}

// check returns an error if an object is not ready or not healthy.
func (s *Shoot) check(ctx context.Context) error { return s.checkSince(ctx, time.Time{}) }

func (s *Shoot) checkSince(ctx context.Context, since time.Time) error {
	for _, k := range kinds() {
		object, err := k.read(ctx, s.objects, s.key())
		if err != nil {
			return err
		}
		if err := k.ready(object, since); err != nil {
			return err
		}
		if err := k.healthy(object); err != nil {
			return err
		}
	}
	return nil
}

// Delete deletes the extension objects as gardenlet does, the Infrastructure last, and waits until they are gone. What the controllers have left in the
// namespace is an error.
func (s *Shoot) Delete(ctx context.Context) error {
	all := kinds()
	for _, group := range [][]kind{all[3:], all[1:3], all[:1]} {
		for _, k := range group {
			if err := s.repeat(ctx, "deleting "+k.name, func(ctx context.Context) error { return s.destroy(ctx, k) }); err != nil {
				return err
			}
		}
		for _, k := range group {
			if err := s.await(ctx, func(ctx context.Context) error { return s.gone(ctx, k) }); err != nil {
				return err
			}
		}
	}
	return s.repeat(ctx, "looking what is left", s.checkEmpty)
}

func (s *Shoot) destroy(ctx context.Context, k kind) error {
	deployed, err := s.component(k)
	if err != nil {
		return err
	}
	return deployed.Destroy(ctx)
}

func (s *Shoot) gone(ctx context.Context, k kind) error {
	object, err := k.read(ctx, s.objects, s.key())
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	reason := ""
	if last := object.GetExtensionStatus().GetLastOperation(); last != nil {
		reason = last.Description
	}
	return fmt.Errorf("%s of %s still exists: %s", k.name, s.Name, reason)
}

// await waits for what is in memory.
func (s *Shoot) await(ctx context.Context, check func(context.Context) error) error {
	return repeat(ctx, check)
}

// repeat repeats a request until it succeeds.
func (s *Shoot) repeat(ctx context.Context, what string, do func(context.Context) error) error {
	if err := repeat(ctx, do); err != nil {
		return fmt.Errorf("%s of shoot %s: %w", what, s.Name, err)
	}
	return nil
}

func repeat(ctx context.Context, do func(context.Context) error) error {
	for {
		err := do(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w; at last: %w", context.Cause(ctx), err)
		case <-time.After(pollInterval):
		}
	}
}
