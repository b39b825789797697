package worker

import (
	"context"
	"fmt"
	"net/netip"
	"slices"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/contract"
)

// readShoot reads a driver's inputs. Missing credentials are permitted in a deletion, which may not need any.
func readShoot(ctx context.Context, rec *reconciliation) (*Shoot, error) {
	read, err := newShoot(rec.Object, rec.Cluster, rec.Log)
	if err != nil {
		return nil, err
	}
	read.Deleting = rec.Object.DeletionTimestamp != nil
	credentials, err := contract.ReadCredentials(ctx, rec.Client, rec.Object, rec.Object.Spec.SecretRef)
	if err != nil {
		return nil, err
	}
	if credentials == nil && !read.Deleting {
		return nil, errNoCredentials(rec.Object)
	}
	if credentials != nil {
		read.Credentials = credentials.Data
	}
	return read, nil
}

// newShoot returns a driver's inputs without credentials.
func newShoot(object *extensionsv1alpha1.Worker, cluster *contract.Cluster, log logr.Logger) (*Shoot, error) {
	if cluster.Shoot == nil || cluster.CloudProfile == nil {
		return nil, fmt.Errorf("the Cluster resource %q lacks its shoot or its cloud profile", cluster.Name)
	}
	uid, err := cluster.ShootUID()
	if err != nil {
		return nil, err
	}
	return &Shoot{
		Worker:      object.DeepCopy(),
		Cluster:     cluster,
		TechnicalID: cluster.TechnicalID(object.Namespace),
		UID:         uid,
		PodRanges:   podRangesOf(cluster.Shoot),
		Log:         log,
		Decoded:     &contract.Decoded{},
	}, nil
}

func errNoCredentials(w *extensionsv1alpha1.Worker) error {
	return contract.NoCredentials(w.Spec.SecretRef, "the cloud cannot be reached without")
}

// podRangesOf prefers the ranges in the shoot's status, which a cloud may have chosen, to those of its spec.
func podRangesOf(shoot *gardencorev1beta1.Shoot) []string {
	var ranges []string
	if spec := shoot.Spec.Networking; spec != nil && spec.Pods != nil {
		ranges = []string{*spec.Pods}
	}
	if status := shoot.Status.Networking; status != nil && len(status.Pods) > 0 {
		ranges = slices.Clone(status.Pods)
	}
	slices.SortStableFunc(ranges, func(a, b string) int { return familyOf(a) - familyOf(b) })
	return ranges
}

// familyOf is 4 or 6. The order of invalid ranges is not changed.
func familyOf(cidr string) int {
	prefix, err := netip.ParsePrefix(cidr)
	if err != nil || prefix.Addr().Is4() {
		return 4
	}
	return 6
}

// readUserData reads the user data of the pool's machines.
func readUserData(ctx context.Context, c client.Reader, namespace string, p *extensionsv1alpha1.WorkerPool) ([]byte, error) {
	ref := p.UserDataSecretRef
	secret := &corev1.Secret{}
	if err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: ref.Name}, secret); err != nil {
		return nil, fmt.Errorf("reading the user data of pool %q from the Secret %s/%s: %w", p.Name, namespace, ref.Name, err)
	}
	userData := secret.Data[ref.Key]
	if len(userData) == 0 {
		return nil, fmt.Errorf("the Secret %s/%s has no user data for pool %q under the key %q", namespace, ref.Name, p.Name, ref.Key)
	}
	return userData, nil
}

// recordedStatus is the recorded provider status, nil if there is none.
func recordedStatus(w *extensionsv1alpha1.Worker) runtime.Object {
	if w.Status.ProviderStatus == nil || len(w.Status.ProviderStatus.Raw) == 0 {
		return nil
	}
	return &runtime.Unknown{Raw: w.Status.ProviderStatus.Raw, ContentType: runtime.ContentTypeJSON}
}
