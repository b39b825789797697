package contract

import (
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

// RequireDrivers returns an error that lists the drivers there are, when there is none for one of the types. kind is the contract's
// name in words, e.g. "control plane".
func RequireDrivers[Driver any](kind string, drivers map[string]Driver, types []string) error {
	for _, name := range types {
		if any(drivers[name]) == nil {
			return fmt.Errorf("no %s driver for type %q; there are: %s", kind, name, strings.Join(slices.Sorted(maps.Keys(drivers)), ", "))
		}
	}
	return nil
}

// TechnicalID returns the name of the pass's shoot in its cloud. A shoot that does not say it goes by its namespace.
func (rec *Reconciliation[O]) TechnicalID() string {
	if name := rec.Cluster.Shoot.Status.TechnicalID; name != "" {
		return name
	}
	return rec.Object.GetNamespace()
}

// ShootUID returns the UID by which a shoot's resources are told from others: the one that stays when the shoot is moved, if there is one.
func (c *Cluster) ShootUID() (string, error) {
	uid := c.Shoot.Status.UID
	if uid == "" {
		uid = c.Shoot.UID
	}
	if uid == "" {
		return "", fmt.Errorf("the shoot in the Cluster resource %q has no UID, the mark by which its resources are told from others", c.Name)
	}
	return string(uid), nil
}

// ReadCredentials reads the Secret with the cloud credentials that an object refers to. It returns nil when there is none. The Secret must be in the
// object's own namespace, where Gardener puts both, also of self-hosted shoots: who may write the one shall not use the credentials of others.
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

// NoCredentials is the error for credentials that are missing: a matter for whoever manages the shoot. consequence completes "restore it, ...".
func NoCredentials(ref corev1.SecretReference, consequence string) error {
	return cloud.Errorf(cloud.Configuration, "spec.secretRef: the Secret %s/%s with the cloud credentials does not exist; restore it, %s",
		ref.Namespace, ref.Name, consequence)
}
