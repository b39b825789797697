package components

import (
	"context"
	"fmt"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/gardener/gardener/pkg/component/etcd/etcd"
	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// DeployEtcds deploys the etcds of a shoot with a version of Kubernetes into its namespace; see Deploy.
func DeployEtcds(ctx context.Context, seed client.Client, namespace, version string) error {
	d, err := newDeployer(seed, namespace, version)
	if err != nil {
		return err
	}
	for role, class := range map[string]etcd.Class{
		v1beta1constants.ETCDRoleMain: etcd.ClassImportant, v1beta1constants.ETCDRoleEvents: etcd.ClassNormal,
	} {
		component := etcd.New(logr.Discard(), seed, namespace, secrets{namespace}, etcd.Values{
			Role: role, Class: class, Replicas: new(int32(1)), StorageCapacity: "10Gi", DefragmentationSchedule: new("0 4 */3 * *"),
			RuntimeKubernetesVersion: d.runtime(),
			MaintenanceTimeWindow:    gardencorev1beta1.MaintenanceTimeWindow{Begin: "220000+0000", End: "230000+0000"},
			PriorityClassName:        v1beta1constants.PriorityClassNameShootControlPlane500,
		})
		if err := component.Deploy(ctx); err != nil {
			return fmt.Errorf("deploying etcd-%s: %w", role, err)
		}
	}
	return nil
}
