package controlplane

import (
	"context"
	"fmt"
	"slices"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/controlplane/csi"
	"github.com/trellis-garden/trellis/internal/definitions"
	"github.com/trellis-garden/trellis/internal/fielderrors"
)

type reconciliation = contract.Reconciliation[*extensionsv1alpha1.ControlPlane]

// actuator deploys what the driver of the object's type plans.
type actuator struct {
	drivers map[string]Driver
	images  Images
	// ownServer is nil if the process serves no webhooks of shoots.
	ownServer *WebhookServer
	// definitions are the CRDs of storage drivers in a shoot, encoded. They are read-only.
	definitions []client.Object
	// rolloutTimeout is rolloutTimeout.
	rolloutTimeout time.Duration
}

func newActuator(drivers map[string]Driver, images Images, rolloutWait time.Duration) (*actuator, error) {
	crds, err := csi.CRDs()
	if err != nil {
		return nil, fmt.Errorf("reading the definitions of kinds: %w", err)
	}
	storage, err := definitions.Encode(crds)
	if err != nil {
		return nil, err
	}
	return &actuator{drivers: drivers, images: images, definitions: storage, rolloutTimeout: rolloutWait}, nil
}

var _ contract.Actuator[*extensionsv1alpha1.ControlPlane] = (*actuator)(nil)

// plan calls the driver of the object's type.
func (a *actuator) plan(ctx context.Context, rec *reconciliation) (*Shoot, *Plan, error) {
	driver, ok := a.drivers[rec.Object.Spec.Type]
	if !ok {
		return nil, nil, fmt.Errorf("no driver for type %q", rec.Object.Spec.Type)
	}
	shoot, err := newShoot(ctx, rec.Client, rec.Object, rec.Cluster)
	if err != nil {
		return nil, nil, err
	}
	shoot.New = isBeingCreated(rec)
	// The references in the status are migrated with the shoot.
	if rec.Object.Status.Resources, err = readReferenced(ctx, rec.Client, shoot, driver.References(shoot)); err != nil {
		return nil, nil, err
	}
	if problems := driver.Validate(shoot); len(problems) > 0 && !isBeingDeleted(rec) {
		return nil, nil, cloud.Errorf(cloud.Configuration, "the configuration cannot be fulfilled: %w", fielderrors.Error(problems))
	}
	plan, err := driver.Plan(shoot)
	if err != nil {
		return nil, nil, fmt.Errorf("planning the control plane: %w", err)
	}
	return shoot, plan, nil
}

// isBeingCreated is true in all attempts of a creation, each of which must refuse the same.
func isBeingCreated(rec *reconciliation) bool {
	lastOperation := rec.Cluster.Shoot.Status.LastOperation
	return rec.Operation == gardencorev1beta1.LastOperationTypeCreate &&
		lastOperation != nil && lastOperation.Type == gardencorev1beta1.LastOperationTypeCreate
}

// isBeingDeleted reports whether the shoot is being deleted. gardenlet deploys its control plane once more before that, and the configuration cannot be
// corrected any more.
func isBeingDeleted(rec *reconciliation) bool {
	return rec.Cluster.Shoot != nil && rec.Cluster.Shoot.DeletionTimestamp != nil
}

// newShoot reads a driver's inputs, except for the Secrets that readReferenced reads.
func newShoot(ctx context.Context, reader client.Reader, object *extensionsv1alpha1.ControlPlane, cluster *contract.Cluster) (*Shoot, error) {
	if cluster.Shoot == nil || cluster.CloudProfile == nil {
		return nil, fmt.Errorf("the Cluster resource %q lacks its shoot or its cloud profile", cluster.Name)
	}
	credentials, err := contract.ReadCredentials(ctx, reader, object, object.Spec.SecretRef)
	if err != nil {
		return nil, err
	}
	if credentials == nil {
		return nil, contract.NoCredentials(object.Spec.SecretRef, "the control plane cannot reach the cloud without")
	}
	pods, services := effectiveRanges(cluster)
	return &Shoot{
		ControlPlane:  object.DeepCopy(),
		Cluster:       cluster,
		Credentials:   credentials.Data,
		TechnicalID:   cluster.TechnicalID(object.Namespace),
		PodRanges:     pods,
		ServiceRanges: services,
		Decoded:       &contract.Decoded{},
	}, nil
}

// readReferenced reads the user's referenced Secrets, which gardenlet has copied, and returns references to those that exist: a missing one would prevent a
// migration.
func readReferenced(ctx context.Context, reader client.Reader, shoot *Shoot, names []string) ([]gardencorev1beta1.NamedResourceReference, error) {
	shoot.Referenced = map[string]map[string][]byte{}
	var references []gardencorev1beta1.NamedResourceReference
	for _, resource := range shoot.Cluster.Shoot.Spec.Resources {
		if resource.ResourceRef.Kind != "Secret" || !slices.Contains(names, resource.Name) {
			continue
		}
		secret := &corev1.Secret{}
		key := client.ObjectKey{Namespace: shoot.ControlPlane.Namespace, Name: v1beta1constants.ReferencedResourcesPrefix + resource.ResourceRef.Name}
		err := reader.Get(ctx, key, secret)
		if client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("reading Secret %s, which the shoot's resource %q refers to: %w", key.Name, resource.Name, err)
		}
		if err != nil {
			continue
		}
		shoot.Referenced[resource.Name] = secret.Data
		references = append(references, gardencorev1beta1.NamedResourceReference{
			Name:        resource.Name,
			ResourceRef: autoscalingv1.CrossVersionObjectReference{APIVersion: "v1", Kind: "Secret", Name: key.Name},
		})
	}
	return references, nil
}

// effectiveRanges prefers the ranges in the shoot's status, which a cloud may have chosen, to those in its spec.
func effectiveRanges(cluster *contract.Cluster) (pods, services []string) {
	if spec := cluster.Shoot.Spec.Networking; spec != nil {
		pods, services = nonEmpty(spec.Pods), nonEmpty(spec.Services)
	}
	if status := cluster.Shoot.Status.Networking; status != nil {
		if len(status.Pods) > 0 {
			pods = status.Pods
		}
		if len(status.Services) > 0 {
			services = status.Services
		}
	}
	return pods, services
}

func nonEmpty(value *string) []string {
	if value == nil || *value == "" {
		return nil
	}
	return []string{*value}
}
