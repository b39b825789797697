package infrastructure

import (
	"context"
	"fmt"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/contract"
)

type pass = contract.Pass[*extensionsv1alpha1.Infrastructure]

// actuator lets the driver of the object's type do the work.
type actuator struct {
	drivers map[string]Driver
}

var _ contract.Actuator[*extensionsv1alpha1.Infrastructure] = (*actuator)(nil)

// begin returns the driver of the object's type, and its inputs.
func (a *actuator) begin(ctx context.Context, p *pass) (Driver, *Shoot, error) {
	driver, ok := a.drivers[p.Object.Spec.Type]
	if !ok {
		return nil, nil, fmt.Errorf("no driver for type %q", p.Object.Spec.Type)
	}
	shoot, err := readShoot(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	return driver, shoot, nil
}

// ForceDelete has nothing to let go of: an Infrastructure owns nothing in the seed.
func (a *actuator) ForceDelete(context.Context, *pass) error { return nil }

// Migrate has nothing to do: the state that the other seed needs was saved by every pass before.
func (a *actuator) Migrate(context.Context, *pass) error { return nil }

// readShoot gathers a driver's inputs.
func readShoot(ctx context.Context, p *pass) (*Shoot, error) {
	if p.Cluster.Shoot == nil || p.Cluster.CloudProfile == nil {
		return nil, fmt.Errorf("the Cluster resource %q lacks its shoot or its cloud profile", p.Cluster.Name)
	}
	credentials, err := readCredentials(ctx, p)
	if err != nil {
		return nil, err
	}
	technicalID := p.Cluster.Shoot.Status.TechnicalID
	if technicalID == "" {
		technicalID = p.Object.Namespace
	}
	uid := p.Cluster.Shoot.Status.UID
	if uid == "" {
		uid = p.Cluster.Shoot.UID
	}
	if uid == "" {
		return nil, fmt.Errorf("the shoot in the Cluster resource %q has no UID, the mark by which its resources are told from others", p.Cluster.Name)
	}
	return &Shoot{
		Infrastructure: p.Object.DeepCopy(),
		Cluster:        p.Cluster,
		Credentials:    credentials,
		TechnicalID:    technicalID,
		UID:            string(uid),
		FirstAttempt:   p.FirstAttempt,
		Log:            p.Log,
	}, nil
}

// readCredentials reads the Secret, uncached. That it is missing is a matter for whoever manages the shoot.
func readCredentials(ctx context.Context, p *pass) (map[string][]byte, error) {
	ref := p.Object.Spec.SecretRef
	secret := &corev1.Secret{}
	err := p.Client.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, secret)
	if apierrors.IsNotFound(err) {
		return nil, cloud.Errorf(cloud.Configuration,
			"spec.secretRef: the Secret %s/%s with the cloud credentials does not exist; restore it, the cloud cannot be reached without",
			ref.Namespace, ref.Name)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the credentials Secret %s/%s: %w", ref.Namespace, ref.Name, err)
	}
	return secret.Data, nil
}
