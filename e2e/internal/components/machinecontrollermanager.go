package components

import (
	"context"
	"fmt"

	gardenerimages "github.com/gardener/gardener/imagevector"
	"github.com/gardener/gardener/pkg/component/nodemanagement/machinecontrollermanager"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// DeployMachineControllerManager deploys machine-controller-manager into the namespace of a shoot, as gardenlet does in each reconciliation of
// the shoot, or as gardenadm does for a self-hosted shoot.
func DeployMachineControllerManager(ctx context.Context, seed client.Client, namespace string, selfHosted bool) error {
	image, err := gardenerimages.Containers().FindImage(gardenerimages.ContainerImageNameMachineControllerManager)
	if err != nil {
		return fmt.Errorf("finding the image of machine-controller-manager: %w", err)
	}
	values := machinecontrollermanager.Values{Image: image.String(), Replicas: 1, SelfHostedShoot: selfHosted}
	if err := machinecontrollermanager.New(seed, namespace, secrets{namespace}, values).Deploy(ctx); err != nil {
		return fmt.Errorf("deploying machine-controller-manager: %w", err)
	}
	return nil
}
