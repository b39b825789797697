package gardenlet

import (
	"context"
	"fmt"

	gardenerimages "github.com/gardener/gardener/imagevector"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/gardener/gardener/pkg/component/nodemanagement/machinecontrollermanager"
	"github.com/gardener/gardener/pkg/controllerutils"
	"github.com/gardener/gardener/pkg/utils/gardener/tokenrequest"
	kubernetesutils "github.com/gardener/gardener/pkg/utils/kubernetes"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// machineFinalizers are the finalizers of machine-controller-manager's two containers.
func machineFinalizers() []string {
	return []string{"machine.sapcloud.io/machine-controller-manager", "machine.sapcloud.io/machine-controller"}
}

// DeployMachineControllerManager deploys machine-controller-manager by Gardener's component, with gardenlet's number of replicas. gardenlet does
// so before each flow of the Worker, including its deletion.
func (g *Gardenlet) DeployMachineControllerManager(ctx context.Context, shoot *Shoot, apiServer APIServer) error {
	manager, err := g.secretsManager(ctx, shoot, apiServer)
	if err != nil {
		return err
	}
	if _, err := tokenrequest.GenerateGenericTokenKubeconfig(ctx, manager, shoot.Namespace(), apiServer.URL); err != nil {
		return fmt.Errorf("preparing the generic kubeconfig of shoot %s: %w", shoot.Name, err)
	}
	image, err := gardenerimages.Containers().FindImage(gardenerimages.ContainerImageNameMachineControllerManager)
	if err != nil {
		return fmt.Errorf("finding the image of machine-controller-manager: %w", err)
	}
	replicas, err := g.machineControllerManagerReplicas(ctx, shoot)
	if err != nil {
		return err
	}
	component := machinecontrollermanager.New(g.Seed, shoot.Namespace(), manager, machinecontrollermanager.Values{
		Image: image.String(), Replicas: replicas,
	})
	if err := component.Deploy(ctx); err != nil {
		return fmt.Errorf("deploying machine-controller-manager of shoot %s: %w", shoot.Name, err)
	}
	return nil
}

// machineControllerManagerReplicas implements gardenlet's rules (pkg/gardenlet/operation/botanist, DeployMachineControllerManager), without
// dependency-watchdog, which does not run here.
func (g *Gardenlet) machineControllerManagerReplicas(ctx context.Context, shoot *Shoot) (int32, error) {
	deployments := &machinev1alpha1.MachineDeploymentList{}
	if err := g.Seed.List(ctx, deployments, client.InNamespace(shoot.Namespace())); err != nil {
		return 0, fmt.Errorf("listing the machine deployments of shoot %s: %w", shoot.Name, err)
	}
	isCreated := shoot.LastOperationType == gardencorev1beta1.LastOperationTypeCreate
	isRestored := shoot.LastOperationType == gardencorev1beta1.LastOperationTypeRestore
	for _, deployment := range deployments.Items {
		if deployment.Status.Replicas > 0 {
			if shoot.Hibernated && (isCreated || isRestored || shoot.IsHibernated) {
				return g.machineControllerManagerScale(ctx, shoot)
			}
			return 1, nil
		}
	}
	switch {
	case shoot.LastOperationType == gardencorev1beta1.LastOperationTypeDelete:
		return 1, nil
	case shoot.Hibernated && (shoot.IsHibernated || isCreated):
		return 0, nil
	case shoot.Hibernated != shoot.IsHibernated:
		return 1, nil
	case isRestored:
		return 0, nil // the controller of Workers starts it when it has brought the machines back
	}
	return 1, nil
}

func (g *Gardenlet) machineControllerManagerScale(ctx context.Context, shoot *Shoot) (int32, error) {
	scale, err := kubernetesutils.CurrentReplicaCountForDeployment(ctx, g.Seed, shoot.Namespace(), v1beta1constants.DeploymentNameMachineControllerManager)
	if err != nil {
		return 0, fmt.Errorf("reading the scale of machine-controller-manager of shoot %s: %w", shoot.Name, err)
	}
	return scale, nil
}

// ScaleMachineControllerManager scales to 0, as gardenlet does at the end of a hibernation, or to 2, as for a highly available control plane.
func (g *Gardenlet) ScaleMachineControllerManager(ctx context.Context, shoot *Shoot, replicas int32) error {
	key := client.ObjectKey{Namespace: shoot.Namespace(), Name: v1beta1constants.DeploymentNameMachineControllerManager}
	if err := kubernetesutils.ScaleDeployment(ctx, g.Seed, key, replicas); err != nil {
		return fmt.Errorf("scaling machine-controller-manager of shoot %s: %w", shoot.Name, err)
	}
	return nil
}

// RemoveMachineControllerManager is what gardenlet does before a migration and after a deletion. It waits until all its objects are gone.
func (g *Gardenlet) RemoveMachineControllerManager(ctx context.Context, shoot *Shoot) error {
	component := machinecontrollermanager.New(g.Seed, shoot.Namespace(), nil, machinecontrollermanager.Values{})
	if err := component.Destroy(ctx); err != nil {
		return fmt.Errorf("removing machine-controller-manager of shoot %s: %w", shoot.Name, err)
	}
	name := v1beta1constants.DeploymentNameMachineControllerManager
	for _, object := range []client.Object{
		&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: shoot.Namespace()}},
		&resourcesv1alpha1.ManagedResource{ObjectMeta: metav1.ObjectMeta{Name: "shoot-core-" + name, Namespace: shoot.Namespace()}},
	} {
		err := g.waitUntil(ctx, object, func() (bool, error) { return false, nil })
		if !apierrors.IsNotFound(err) {
			return fmt.Errorf("waiting until machine-controller-manager of shoot %s is gone: %w", shoot.Name, err)
		}
	}
	return nil
}

// ForgetMachines deletes the shoot's machines from the seed without deleting servers, as gardenlet does after a migration when it has persisted
// them (pkg/gardenlet/operation/botanist, ShallowDeleteMachineResources).
func (g *Gardenlet) ForgetMachines(ctx context.Context, shoot *Shoot) error {
	ofPurpose := func(purpose string) client.ListOption {
		return client.MatchingLabels{v1beta1constants.GardenerPurpose: purpose}
	}
	for _, kind := range []struct {
		list client.ObjectList
		keep bool
		of   []client.ListOption
	}{
		{list: &machinev1alpha1.MachineList{}},
		{list: &machinev1alpha1.MachineSetList{}},
		{list: &machinev1alpha1.MachineDeploymentList{}},
		{list: &machinev1alpha1.MachineClassList{}},
		{list: &corev1.SecretList{}, of: []client.ListOption{ofPurpose(v1beta1constants.GardenPurposeMachineClass)}},
		{list: &corev1.SecretList{}, of: []client.ListOption{ofPurpose(v1beta1constants.SecretNameCloudProvider)}, keep: true},
	} {
		if err := g.Seed.List(ctx, kind.list, append(kind.of, client.InNamespace(shoot.Namespace()))...); err != nil {
			return fmt.Errorf("listing the machines of shoot %s: %w", shoot.Name, err)
		}
		if err := meta.EachListItem(kind.list, func(item runtime.Object) error {
			object, ok := item.(client.Object)
			if !ok {
				return fmt.Errorf("%T is no object", item)
			}
			if err := controllerutils.RemoveFinalizers(ctx, g.Seed, object, machineFinalizers()...); err != nil || kind.keep {
				return err
			}
			return client.IgnoreNotFound(g.Seed.Delete(ctx, object))
		}); err != nil {
			return fmt.Errorf("forgetting the machines of shoot %s: %w", shoot.Name, err)
		}
	}
	return nil
}
