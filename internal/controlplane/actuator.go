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
	"github.com/trellis-garden/trellis/internal/contract/images"
	"github.com/trellis-garden/trellis/internal/controlplane/csi"
	"github.com/trellis-garden/trellis/internal/fielderrors"
)

type reconciliation = contract.Reconciliation[*extensionsv1alpha1.ControlPlane]

// actuator deploys what the driver of the object's type plans.
type actuator struct {
	drivers map[string]Driver
	images  images.Vector
	// definitions are the CRDs of storage drivers in a shoot. They are read-only.
	definitions []client.Object
	// rolloutTimeout is rolloutTimeout.
	rolloutTimeout time.Duration
}

func newActuator(drivers map[string]Driver, images images.Vector, rolloutWait time.Duration) (*actuator, error) {
	definitions, err := csi.CRDs()
	if err != nil {
		return nil, fmt.Errorf("reading the definitions of kinds: %w", err)
	}
	return &actuator{drivers: drivers, images: images, definitions: definitions, rolloutTimeout: rolloutWait}, nil
}

var _ contract.Actuator[*extensionsv1alpha1.ControlPlane] = (*actuator)(nil)

// plan calls the driver of the object's type.
func (a *actuator) plan(ctx context.Context, rec *reconciliation) (*Shoot, *Plan, error) {
	driver, ok := a.drivers[rec.Object.Spec.Type]
	if !ok {
		return nil, nil, fmt.Errorf("no driver for type %q", rec.Object.Spec.Type)
	}
	shoot, err := readShoot(ctx, rec)
	if err != nil {
		return nil, nil, err
	}
	if err := readReferenced(ctx, rec, shoot, driver.References(shoot)); err != nil {
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

// readShoot reads a driver's inputs.
func readShoot(ctx context.Context, rec *reconciliation) (*Shoot, error) {
	if rec.Cluster.Shoot == nil || rec.Cluster.CloudProfile == nil {
		return nil, fmt.Errorf("the Cluster resource %q lacks its shoot or its cloud profile", rec.Cluster.Name)
	}
	credentials, err := contract.ReadCredentials(ctx, rec.Client, rec.Object, rec.Object.Spec.SecretRef)
	if err != nil {
		return nil, err
	}
	if credentials == nil {
		return nil, contract.NoCredentials(rec.Object.Spec.SecretRef, "the control plane cannot reach the cloud without")
	}
	pods, services := effectiveRanges(rec.Cluster)
	return &Shoot{
		ControlPlane:  rec.Object.DeepCopy(),
		Cluster:       rec.Cluster,
		Credentials:   credentials.Data,
		New:           isBeingCreated(rec),
		TechnicalID:   rec.TechnicalID(),
		PodRanges:     pods,
		ServiceRanges: services,
		Decoded:       &contract.Decoded{},
	}, nil
}

// readReferenced reads the user's referenced Secrets, which gardenlet has copied, and writes the references to the status, so that they are migrated with the
// shoot. A missing one would prevent the migration.
func readReferenced(ctx context.Context, rec *reconciliation, shoot *Shoot, names []string) error {
	shoot.Referenced = map[string]map[string][]byte{}
	var statusResources []gardencorev1beta1.NamedResourceReference
	for _, resource := range rec.Cluster.Shoot.Spec.Resources {
		if resource.ResourceRef.Kind != "Secret" || !slices.Contains(names, resource.Name) {
			continue
		}
		secret := &corev1.Secret{}
		key := client.ObjectKey{Namespace: rec.Object.Namespace, Name: v1beta1constants.ReferencedResourcesPrefix + resource.ResourceRef.Name}
		err := rec.Client.Get(ctx, key, secret)
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("reading Secret %s, which the shoot's resource %q refers to: %w", key.Name, resource.Name, err)
		}
		if err != nil {
			continue
		}
		shoot.Referenced[resource.Name] = secret.Data
		statusResources = append(statusResources, gardencorev1beta1.NamedResourceReference{
			Name:        resource.Name,
			ResourceRef: autoscalingv1.CrossVersionObjectReference{APIVersion: "v1", Kind: "Secret", Name: key.Name},
		})
	}
	rec.Object.Status.Resources = statusResources
	return nil
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
