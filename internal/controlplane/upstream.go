package controlplane

import (
	"context"
	"fmt"
	"time"

	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/gardener/gardener/pkg/utils/kubernetes/health"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/contract/managedresource"
)

// rolloutTimeout is how long a reconciliation of an adopted shoot waits for pods without upstream's configuration. If that takes longer, the configuration
// stays until the next one.
const rolloutTimeout = time.Minute

// deployShoot first applies retired objects that still exist in their harmless form, and then leaves them out: gardener-resource-manager only deletes
// removed objects without an annotation to keep them.
func (d *deployment) deployShoot(ctx context.Context) error {
	objects, err := d.renderer.shootObjects()
	if err != nil {
		return err
	}
	retired, err := d.retiredObjects(ctx)
	if err != nil {
		return fmt.Errorf("looking for objects of upstream's extension: %w", err)
	}
	wanted := managedresource.Resource{Name: resourceShoot, Objects: objects}
	if len(retired) > 0 {
		wanted.Objects = append(append([]client.Object{}, objects...), retired...)
		if applied, err := d.applyInShoot(ctx, wanted); !applied || err != nil || d.hibernation != awake {
			return err
		}
		wanted.Objects = objects
	}
	_, err = d.applyInShoot(ctx, wanted)
	return err
}

// retiredObjects returns the retired objects that may be in the shoot. After a migration it is unknown what was created from the other seed, until all has
// been applied for the first time; a new shoot has none.
func (d *deployment) retiredObjects(ctx context.Context) ([]client.Object, error) {
	if len(d.plan.Retired) == 0 {
		return nil, nil
	}
	resource, err := d.resources.Get(ctx, resourceShoot)
	if err != nil {
		return nil, err
	}
	if resource == nil || resource.Status.ObservedGeneration == 0 {
		if d.rec.FirstAttempt {
			return nil, nil
		}
		return d.plan.Retired, nil
	}
	var found []client.Object
	for _, object := range d.plan.Retired {
		kind, err := apiutil.GVKForObject(object, d.rec.Client.Scheme())
		if err != nil {
			return nil, err
		}
		if managedresource.ListsObject(resource, kind.GroupKind(), object) {
			found = append(found, object)
		}
	}
	return found, nil
}

// removeUpstreamResources deletes the ManagedResources that only upstream's extension has, once their objects are unused.
func (d *deployment) removeUpstreamResources(ctx context.Context) error {
	if err := d.removeWebhooks(ctx); err != nil {
		return err
	}
	configuration, err := d.resources.Get(ctx, resourceUpstreamConfiguration)
	if err != nil || configuration == nil {
		return err
	}
	rolledOut, err := d.waitRolledOut(ctx)
	if err != nil {
		return err
	}
	if !rolledOut {
		d.addMessage("pods may still use the configuration of the extension before, which stays for now")
		return nil
	}
	return d.resources.Remove(ctx, resourceUpstreamConfiguration)
}

// removeWebhooks removes webhooks that the plan does not contain any more, or that upstream has left. In a hibernated shoot nothing could remove
// them, and they do no harm.
func (d *deployment) removeWebhooks(ctx context.Context) error {
	if d.hibernation != awake || len(d.plan.ShootWebhooks) > 0 {
		return nil
	}
	return d.resources.Remove(ctx, resourceShootWebhooks)
}

// waitRolledOut reports whether all components in the seed are rolled out. The wait is bounded.
func (d *deployment) waitRolledOut(ctx context.Context) (bool, error) {
	waitCtx, cancel := context.WithTimeout(ctx, d.rolloutTimeout)
	defer cancel()
	err := contract.WaitUntil(waitCtx, func(ctx context.Context) (string, error) {
		resource, err := d.resources.Get(ctx, resourceSeed)
		if err != nil {
			return "", err
		}
		return rolloutPendingReason(resource), nil
	})
	if err != nil && waitCtx.Err() != nil && ctx.Err() == nil {
		return false, nil
	}
	return err == nil, err
}

// rolloutPendingReason says why they are not.
func rolloutPendingReason(resource *resourcesv1alpha1.ManagedResource) string {
	if resource == nil {
		return "the components in the seed have been deleted by somebody"
	}
	if err := health.CheckManagedResource(resource); err != nil {
		return err.Error()
	}
	if err := health.CheckManagedResourceProgressing(resource); err != nil {
		return err.Error()
	}
	return ""
}
