package gardenlet

import (
	"context"
	"fmt"

	"github.com/Masterminds/semver/v3"
	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/gardener/gardener/pkg/component/extensions/operatingsystemconfig"
	"github.com/gardener/gardener/pkg/component/extensions/worker"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// Worker returns gardenlet's component for the shoot's Worker; see Infrastructure. PrepareWorker must be called before each flow.
func (g *Gardenlet) Worker(shoot *Shoot) (worker.Interface, error) {
	version, err := semver.NewVersion(shoot.KubernetesVersion)
	if err != nil {
		return nil, fmt.Errorf("reading the version of shoot %s: %w", shoot.Name, err)
	}
	configs := map[string]*operatingsystemconfig.OperatingSystemConfigs{}
	for _, pool := range shoot.workers() {
		configs[pool.Name] = operatingSystemConfigs(shoot, version, pool)
	}
	return worker.New(logr.Discard(), g.Seed, &worker.Values{
		Namespace: shoot.Namespace(), Name: shoot.Name, Type: shoot.ProviderType, Region: shoot.Region,
		Workers: shoot.workers(), KubernetesVersion: version, MachineTypes: shoot.MachineTypes,
		SSHPublicKey: shoot.SSHPublicKey, InfrastructureProviderStatus: raw(shoot.InfrastructureStatus),
		WorkerPoolNameToOperatingSystemConfigsMap: configs,
	}, g.Interval, g.SevereThreshold, g.Timeout), nil
}

// GetWorker reads the shoot's Worker.
func (g *Gardenlet) GetWorker(ctx context.Context, shoot *Shoot) (*extensionsv1alpha1.Worker, error) {
	object := &extensionsv1alpha1.Worker{}
	err := g.Seed.Get(ctx, client.ObjectKey{Namespace: shoot.Namespace(), Name: shoot.Name}, object)
	return object, err
}

// PrepareWorker creates or updates, after Prepare, the Secret with each pool's user data, which would result from an OperatingSystemConfig. Its
// content is invented, its name and its key are Gardener's.
func (g *Gardenlet) PrepareWorker(ctx context.Context, shoot *Shoot) error {
	version, err := semver.NewVersion(shoot.KubernetesVersion)
	if err != nil {
		return fmt.Errorf("reading the version of shoot %s: %w", shoot.Name, err)
	}
	for _, pool := range shoot.workers() {
		configs := operatingSystemConfigs(shoot, version, pool)
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: *configs.Init.SecretName, Namespace: shoot.Namespace()}}
		if _, err := controllerutil.CreateOrPatch(ctx, g.Seed, secret, func() error {
			secret.Labels = userDataLabels()
			secret.Data = map[string][]byte{
				extensionsv1alpha1.OperatingSystemConfigSecretDataKey: []byte("#!/bin/bash\n# gardener-node-init of pool " + pool.Name + "\n"),
			}
			return nil
		}); err != nil {
			return fmt.Errorf("preparing the user data of pool %s of shoot %s: %w", pool.Name, shoot.Name, err)
		}
	}
	return nil
}

// RemoveUserData removes what PrepareWorker has created, for all former pools, too, as gardenlet does after a Worker's deletion.
func (g *Gardenlet) RemoveUserData(ctx context.Context, shoot *Shoot) error {
	err := g.Seed.DeleteAllOf(ctx, &corev1.Secret{}, client.InNamespace(shoot.Namespace()), client.MatchingLabels(userDataLabels()))
	if err != nil {
		return fmt.Errorf("removing the user data of shoot %s: %w", shoot.Name, err)
	}
	return nil
}

// userDataLabels are the labels by which these Secrets are found again.
func userDataLabels() map[string]string {
	return map[string]string{"e2e.trellis.garden/purpose": "user-data"}
}

// operatingSystemConfigs returns the names of the results of a pool's OperatingSystemConfigs. The key is Gardener's: another one replaces the nodes.
func operatingSystemConfigs(shoot *Shoot, version *semver.Version, pool gardencorev1beta1.Worker) *operatingsystemconfig.OperatingSystemConfigs {
	key := "gardener-node-agent-" + pool.Name // of nodes that are never replaced
	if !v1beta1helper.IsUpdateStrategyInPlace(pool.UpdateStrategy) {
		object := shoot.shoot()
		key = operatingsystemconfig.Key(version, object.Status.Credentials.Rotation, &pool, false, nil, object.Spec.Kubernetes.KubeProxy)
	}
	return &operatingsystemconfig.OperatingSystemConfigs{
		Init: operatingsystemconfig.Data{GardenerNodeAgentSecretName: key, SecretName: new("osc-result-" + key + "-init")},
	}
}
