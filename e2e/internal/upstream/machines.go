package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	extensionscontroller "github.com/gardener/gardener/extensions/pkg/controller"
	extensionsworker "github.com/gardener/gardener/extensions/pkg/controller/worker"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
)

// Machines are what the machines of a pool have of their provider.
type Machines struct {
	// Provider is the name of the machine driver.
	Provider string
	// HashData are the inputs of the pool's hash besides Gardener's.
	HashData []string
	// Zones are those of the pool, in its order.
	Zones []MachineZone
}

// MachineZone is what the machines in a zone have of their provider.
type MachineZone struct {
	Name string
	// Spec is the driver's configuration, encoded as JSON.
	Spec any
	// ClassLabels are labels of the machine class, NodeLabels those of Nodes.
	ClassLabels, NodeLabels map[string]string
}

// ApplyMachines creates or updates the machine classes and deployments of a pool, with the names of Gardener's library, and returns the names of the deployments.
func ApplyMachines(
	ctx context.Context, g *gardenlet.Gardenlet, shoot *gardenlet.Shoot, pool extensionsv1alpha1.WorkerPool, machines Machines,
) (names []string, err error) {
	hash, err := extensionsworker.WorkerPoolHash(pool, &extensionscontroller.Cluster{Shoot: &gardencorev1beta1.Shoot{}}, machines.HashData, nil)
	if err != nil {
		return nil, err
	}
	for i, zone := range machines.Zones {
		name := fmt.Sprintf("%s-%s-z%d", shoot.Namespace(), pool.Name, i+1)
		if err := applyClass(ctx, g, shoot, name+"-"+hash, pool, machines.Provider, zone); err != nil {
			return nil, fmt.Errorf("applying machine class %s-%s: %w", name, hash, err)
		}
		deployment := &machinev1alpha1.MachineDeployment{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: shoot.Namespace()}}
		if _, err := controllerutil.CreateOrUpdate(ctx, g.Seed, deployment, func() error {
			deployment.Labels = map[string]string{v1beta1constants.LabelWorkerPool: pool.Name}
			deployment.Spec = deploymentSpec(name, name+"-"+hash, pool, machines, i)
			return nil
		}); err != nil {
			return nil, fmt.Errorf("applying machine deployment %s: %w", name, err)
		}
		names = append(names, name)
	}
	return names, nil
}

func deploymentSpec(name, class string, pool extensionsv1alpha1.WorkerPool, machines Machines, zone int) machinev1alpha1.MachineDeploymentSpec {
	i, zones := int32(zone), int32(len(machines.Zones))
	surge := extensionsworker.DistributePositiveIntOrPercent(i, pool.MaxSurge, zones, pool.Maximum)
	unavailable := extensionsworker.DistributePositiveIntOrPercent(i, pool.MaxUnavailable, zones, pool.Minimum)
	labels := map[string]string{"name": name}
	nodeLabels := maps.Clone(machines.Zones[zone].NodeLabels)
	maps.Copy(nodeLabels, pool.Labels)
	return machinev1alpha1.MachineDeploymentSpec{
		Replicas:        extensionsworker.DistributeOverZones(i, pool.Minimum, zones),
		MinReadySeconds: 500, RevisionHistoryLimit: new(int32(0)), Selector: &metav1.LabelSelector{MatchLabels: labels},
		Strategy: machinev1alpha1.MachineDeploymentStrategy{
			Type: machinev1alpha1.RollingUpdateMachineDeploymentStrategyType,
			RollingUpdate: &machinev1alpha1.RollingUpdateMachineDeployment{
				UpdateConfiguration: machinev1alpha1.UpdateConfiguration{MaxSurge: &surge, MaxUnavailable: &unavailable},
			},
		},
		Template: machinev1alpha1.MachineTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec: machinev1alpha1.MachineSpec{
				Class:                machinev1alpha1.ClassSpec{Kind: "MachineClass", Name: class},
				NodeTemplateSpec:     machinev1alpha1.NodeTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: nodeLabels}},
				MachineConfiguration: &machinev1alpha1.MachineConfiguration{},
			},
		},
	}
}

func applyClass(
	ctx context.Context, g *gardenlet.Gardenlet, shoot *gardenlet.Shoot, name string, pool extensionsv1alpha1.WorkerPool, provider string, zone MachineZone,
) error {
	encoded, err := json.Marshal(zone.Spec)
	if err != nil {
		return err
	}
	userData := &corev1.Secret{}
	if err := g.Seed.Get(ctx, client.ObjectKey{Namespace: shoot.Namespace(), Name: pool.UserDataSecretRef.Name}, userData); err != nil {
		return fmt.Errorf("reading user data: %w", err)
	}
	meta := metav1.ObjectMeta{Name: name, Namespace: shoot.Namespace()}
	purpose := map[string]string{v1beta1constants.GardenerPurpose: v1beta1constants.GardenPurposeMachineClass}
	secret := &corev1.Secret{ObjectMeta: meta}
	if _, err := controllerutil.CreateOrUpdate(ctx, g.Seed, secret, func() error {
		secret.Labels, secret.Data = purpose, map[string][]byte{"userData": userData.Data[pool.UserDataSecretRef.Key]}
		return nil
	}); err != nil {
		return err
	}
	class := &machinev1alpha1.MachineClass{ObjectMeta: meta}
	_, err = controllerutil.CreateOrUpdate(ctx, g.Seed, class, func() error {
		class.Labels = maps.Clone(purpose)
		maps.Copy(class.Labels, zone.ClassLabels)
		class.Provider, class.ProviderSpec = provider, runtime.RawExtension{Raw: encoded}
		class.SecretRef = &corev1.SecretReference{Name: name, Namespace: meta.Namespace}
		class.CredentialsSecretRef = &corev1.SecretReference{Name: v1beta1constants.SecretNameCloudProvider, Namespace: meta.Namespace}
		class.NodeTemplate = &machinev1alpha1.NodeTemplate{
			InstanceType: pool.MachineType, Region: shoot.Region, Zone: zone.Name, Capacity: pool.NodeTemplate.Capacity, Architecture: pool.Architecture,
		}
		return nil
	})
	return err
}
