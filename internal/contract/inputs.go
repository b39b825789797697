package contract

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/cloud"
)

// RequireDrivers returns an error that lists the existing drivers if one of the types has none. kind is the contract's
// name in words, e.g. "control plane".
func RequireDrivers[Driver any](kind string, drivers map[string]Driver, types []string) error {
	for _, name := range types {
		if any(drivers[name]) == nil {
			return fmt.Errorf("no %s driver for type %q; there are: %s", kind, name, strings.Join(slices.Sorted(maps.Keys(drivers)), ", "))
		}
	}
	return nil
}

// TechnicalID returns the shoot's name in its cloud: its technical ID, or its namespace without one.
func (rec *Reconciliation[O]) TechnicalID() string {
	return rec.Cluster.TechnicalID(rec.Object.GetNamespace())
}

// TechnicalID returns the shoot's name in its cloud: its technical ID, or without one the namespace of its objects.
func (c *Cluster) TechnicalID(namespace string) string {
	return cmp.Or(c.Shoot.Status.TechnicalID, namespace)
}

// ShootUID returns the UID that marks a shoot's resources as its own: the one that stays when the shoot is migrated, if there is one.
func (c *Cluster) ShootUID() (string, error) {
	uid := c.Shoot.Status.UID
	if uid == "" {
		uid = c.Shoot.UID
	}
	if uid == "" {
		return "", fmt.Errorf("the shoot in the Cluster resource %q has no UID, which marks its resources as its own", c.Name)
	}
	return string(uid), nil
}

// ReadCredentials reads the Secret with the cloud credentials that an object refers to. It returns nil when there is none. The Secret must be in the
// object's own namespace, where Gardener puts both, also of self-hosted shoots: whoever may write the object must not use credentials of others.
func ReadCredentials(ctx context.Context, reader client.Reader, object client.Object, ref corev1.SecretReference) (*corev1.Secret, error) {
	if ref.Namespace != object.GetNamespace() {
		return nil, cloud.Errorf(cloud.Configuration, "spec.secretRef.namespace: is %q, but credentials are read in the object's own namespace %q alone: "+
			"refer to a Secret there", ref.Namespace, object.GetNamespace())
	}
	secret := &corev1.Secret{}
	err := reader.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, secret)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the credentials Secret %s/%s: %w", ref.Namespace, ref.Name, err)
	}
	return secret, nil
}

// NoCredentials returns the error for missing credentials, which the owner of the shoot must resolve. consequence completes "restore it, ...".
func NoCredentials(ref corev1.SecretReference, consequence string) error {
	return cloud.Errorf(cloud.Configuration, "spec.secretRef: the Secret %s/%s with the cloud credentials does not exist; restore it, %s",
		ref.Namespace, ref.Name, consequence)
}
