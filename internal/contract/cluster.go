package contract

import (
	"context"
	"errors"
	"fmt"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Cluster is the decoded Cluster resource of a shoot's namespace. A part that the resource leaves out is nil.
type Cluster struct {
	metav1.ObjectMeta
	Shoot        *gardencorev1beta1.Shoot
	CloudProfile *gardencorev1beta1.CloudProfile
	// Seed is nil for self-hosted shoots.
	Seed *gardencorev1beta1.Seed
}

// errInvalidCluster is the error for a Cluster that does not decode, as opposed to one that could not be read.
var errInvalidCluster = errors.New("the Cluster resource is invalid")

// ReadCluster reads and decodes the Cluster resource of a namespace. A Cluster is large (it holds a whole CloudProfile):
// reader should not cache.
func ReadCluster(ctx context.Context, reader client.Reader, namespace string) (*Cluster, error) {
	cluster, raw, err := readShootPart(ctx, reader, namespace)
	if err != nil {
		return nil, err
	}
	if cluster.CloudProfile, err = decodePart[gardencorev1beta1.CloudProfile](raw.Spec.CloudProfile, "CloudProfile"); err != nil {
		return nil, fmt.Errorf("%w: decoding spec.cloudProfile of %q: %w", errInvalidCluster, namespace, err)
	}
	if raw.Spec.Seed != nil {
		if cluster.Seed, err = decodePart[gardencorev1beta1.Seed](*raw.Spec.Seed, "Seed"); err != nil {
			return nil, fmt.Errorf("%w: decoding spec.seed of %q: %w", errInvalidCluster, namespace, err)
		}
	}
	return cluster, nil
}

// ReadClusterShoot is ReadCluster for callers that need the shoot alone: the other parts are nil, and may be invalid.
func ReadClusterShoot(ctx context.Context, reader client.Reader, namespace string) (*Cluster, error) {
	cluster, _, err := readShootPart(ctx, reader, namespace)
	return cluster, err
}

func readShootPart(ctx context.Context, reader client.Reader, namespace string) (*Cluster, *extensionsv1alpha1.Cluster, error) {
	raw := &extensionsv1alpha1.Cluster{}
	if err := reader.Get(ctx, client.ObjectKey{Name: namespace}, raw); err != nil {
		return nil, nil, fmt.Errorf("reading Cluster %q: %w", namespace, err)
	}
	cluster := &Cluster{ObjectMeta: raw.ObjectMeta}
	var err error
	if cluster.Shoot, err = decodePart[gardencorev1beta1.Shoot](raw.Spec.Shoot, "Shoot"); err != nil {
		return nil, nil, fmt.Errorf("%w: decoding spec.shoot of %q: %w", errInvalidCluster, namespace, err)
	}
	return cluster, raw, nil
}

func decodePart[T any](part runtime.RawExtension, kind string) (*T, error) {
	if part.Raw == nil {
		return nil, nil
	}
	var meta metav1.TypeMeta
	if err := json.Unmarshal(part.Raw, &meta); err != nil {
		return nil, err
	}
	want := gardencorev1beta1.SchemeGroupVersion.WithKind(kind)
	if meta.GroupVersionKind() != want {
		return nil, fmt.Errorf("expected %s, got %s", want, meta.GroupVersionKind())
	}
	decoded := new(T)
	if err := json.Unmarshal(part.Raw, decoded); err != nil {
		return nil, err
	}
	return decoded, nil
}
