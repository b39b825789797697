package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/openstack"
)

// rotationLimit bounds each half of a rotation of credentials. The first replaces all machines and API servers.
const rotationLimit = 30 * time.Minute

func stepsOfOperation() []Step {
	return []Step{
		{
			Name: "rotate-start", Sentence: "all credentials get successors beside them; machines are replaced", limit: rotationLimit,
			do: func(ctx context.Context, r *run) error {
				return r.rotate(ctx, v1beta1constants.OperationRotateCredentialsStart, gardencorev1beta1.RotationPrepared)
			},
			calls: map[string]int{openstack.InfrastructureController: 2}, // the key pair is deleted, and created with the new SSH key
		},
		{
			Name: "rotate-complete", Sentence: "the former credentials are removed", limit: rotationLimit,
			do: func(ctx context.Context, r *run) error {
				return r.rotate(ctx, v1beta1constants.OperationRotateCredentialsComplete, gardencorev1beta1.RotationCompleted)
			},
		},
		{
			Name: UpgradeStep, Sentence: "Kubernetes is upgraded to the next minor version", limit: rotationLimit,
			skip: func(r *run) string {
				if len(r.Versions) < 2 {
					return "this landscape has programs of one version of Kubernetes only"
				}
				return ""
			},
			do: func(ctx context.Context, r *run) error {
				return r.changeAndAwait(ctx, 1, func(shoot *gardencorev1beta1.Shoot) { shoot.Spec.Kubernetes.Version = r.Versions[1] })
			},
		},
		{
			Name: "hibernate", Sentence: "the Shoot is hibernated: no machine and no API server is left", limit: changeLimit, do: hibernate,
		},
		{
			Name: "wake", Sentence: "the Shoot is woken up", limit: createLimit,
			do: func(ctx context.Context, r *run) error {
				return r.changeAndAwait(ctx, 1, func(shoot *gardencorev1beta1.Shoot) {
					shoot.Spec.Hibernation = &gardencorev1beta1.Hibernation{Enabled: new(false)}
				})
			},
		},
	}
}

// rotate requests half of a rotation of all credentials, and waits until the CAs are in a phase.
func (r *run) rotate(ctx context.Context, operation string, phase gardencorev1beta1.CredentialsRotationPhase) error {
	if err := r.request(ctx, r.main, operation); err != nil {
		return err
	}
	if err := r.awaitSettled(ctx, r.main); err != nil {
		return err
	}
	found, err := r.get(ctx, r.main)
	if err != nil {
		return err
	}
	if found.Status.Credentials == nil || found.Status.Credentials.Rotation == nil || found.Status.Credentials.Rotation.CertificateAuthorities == nil {
		return errors.New("the Shoot's status knows of no rotation of CAs")
	}
	if got := found.Status.Credentials.Rotation.CertificateAuthorities.Phase; got != phase {
		return fmt.Errorf("the rotation of CAs is %s instead of %s", got, phase)
	}
	return r.awaitNodes(ctx, 1)
}

// hibernate hibernates the main Shoot. Its account keeps no server.
func hibernate(ctx context.Context, r *run) error {
	if err := r.change(ctx, r.main, func(shoot *gardencorev1beta1.Shoot) {
		shoot.Spec.Hibernation = &gardencorev1beta1.Hibernation{Enabled: new(true)}
	}); err != nil {
		return err
	}
	if err := r.awaitSettled(ctx, r.main); err != nil {
		return err
	}
	kinds, err := r.main.account.CountByKind(ctx)
	if err != nil {
		return err
	}
	if kinds["server"] != 0 {
		return fmt.Errorf("the hibernated Shoot has %d servers", kinds["server"])
	}
	for _, s := range r.seeds {
		list := &appsv1.DeploymentList{}
		if err := s.client.List(ctx, list, client.InNamespace(r.main.technicalID())); err != nil {
			return err
		}
		for _, deployment := range list.Items {
			if deployment.Name == v1beta1constants.DeploymentNameKubeAPIServer && deployment.Status.Replicas > 0 {
				return fmt.Errorf("the hibernated Shoot has %d API servers", deployment.Status.Replicas)
			}
		}
	}
	return nil
}
