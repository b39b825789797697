package webhook

import (
	"context"
	"fmt"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// registrar writes or deletes the webhook configurations of one cluster.
type registrar struct {
	// cluster is its name in errors and logs. It is empty if there is only one cluster.
	cluster string
	client  client.Client
	// name is the name of the configurations.
	name     string
	binary   string
	webhooks []Webhook
	address  address
	// ownerNamespace is the namespace that owns the configurations.
	ownerNamespace string
	log            logr.Logger
}

// register writes both configurations. It returns the CA bundles that they had before.
func (r *registrar) register(ctx context.Context, caBundle []byte) ([][]byte, error) {
	if len(r.webhooks) == 0 {
		return nil, r.unregister(ctx) // in a cluster without webhooks, nobody knows of an owner
	}
	owner, err := r.owner(ctx)
	if err != nil {
		return nil, err
	}
	var bundles [][]byte
	for _, c := range configurations(r.name, r.binary, r.webhooks, r.address) {
		if !c.wanted() {
			if err := r.remove(ctx, c); err != nil {
				return nil, err
			}
			continue
		}
		found, err := r.ensure(ctx, c, owner, caBundle)
		if err != nil {
			return nil, err
		}
		bundles = append(bundles, found...)
	}
	return bundles, nil
}

// unregister deletes both configurations.
func (r *registrar) unregister(ctx context.Context) error {
	for _, c := range configurations(r.name, r.binary, nil, r.address) {
		if err := r.remove(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

func (r *registrar) owner(ctx context.Context) (metav1.OwnerReference, error) {
	namespace := &corev1.Namespace{}
	if err := r.client.Get(ctx, client.ObjectKey{Name: r.ownerNamespace}, namespace); err != nil {
		return metav1.OwnerReference{}, fmt.Errorf("reading namespace %q that owns the webhooks: %w", r.ownerNamespace, err)
	}
	owner := metav1.NewControllerRef(namespace, corev1.SchemeGroupVersion.WithKind("Namespace"))
	owner.BlockOwnerDeletion = new(false)
	return *owner, nil
}

// ensure writes one configuration and returns the CA bundles that it had before; without a configuration, a single empty bundle.
func (r *registrar) ensure(ctx context.Context, c configuration, owner metav1.OwnerReference, caBundle []byte) ([][]byte, error) {
	object := c.object()
	err := r.client.Get(ctx, client.ObjectKeyFromObject(object), object)
	if client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("reading %T: %w", object, err)
	}
	before := object.DeepCopyObject()
	found := c.bundles()
	if len(found) == 0 {
		found = [][]byte{nil}
	}

	setDesired(c, owner, caBundle)
	switch {
	case apierrors.IsNotFound(err):
		if err := r.client.Create(ctx, object); err != nil {
			return nil, fmt.Errorf("creating %T: %w", object, err)
		}
		r.log.Info("Registered webhooks", "configuration", object.GetName(), "webhooks", len(c.bundles()))
	case !equality.Semantic.DeepEqual(before, object):
		if err := r.client.Update(ctx, object); err != nil {
			return nil, fmt.Errorf("updating %T: %w", object, err)
		}
		r.log.Info("Updated registration of webhooks", "configuration", object.GetName(), "webhooks", len(c.bundles()))
	}
	return found, nil
}

func (r *registrar) remove(ctx context.Context, c configuration) error {
	object := c.object()
	err := r.client.Get(ctx, client.ObjectKeyFromObject(object), object)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err == nil {
		err = r.client.Delete(ctx, object)
	}
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("removing %T: %w", object, err)
	}
	r.log.Info("Deleted registration of webhooks", "configuration", object.GetName())
	return nil
}
