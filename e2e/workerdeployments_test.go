package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"testing"

	extensionscontroller "github.com/gardener/gardener/extensions/pkg/controller"
	"github.com/gardener/gardener/extensions/pkg/controller/worker"
	"github.com/gardener/gardener/extensions/pkg/controller/worker/genericactuator"
	"github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	extensionsv1alpha1helper "github.com/gardener/gardener/pkg/api/extensions/v1alpha1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/gardener/gardener/pkg/client/kubernetes"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// deploymentsCase is a row of the controller's golden file of MachineDeployments.
type deploymentsCase struct {
	Sentence                  string
	Worker                    extensionsv1alpha1.Worker
	TechnicalID               string
	Hibernated                bool
	HashData, HashDataInPlace []string
	ZoneLabel                 string
	Existing, Want            []machinev1alpha1.MachineDeployment
	Status                    []extensionsv1alpha1.MachineDeployment
}

// errBeforeWait ends the library's reconcile where it would begin to wait for machines.
var errBeforeWait = errors.New("far enough")

// Gardener's library, given the same Worker and the same MachineDeployments in the seed, writes the same MachineDeployments and says
// the same of them in the Worker's status.
func TestMachineDeployments_SameAsLibrary(t *testing.T) {
	var rows []deploymentsCase
	workerGolden(t, "reconciled.json", &rows)
	require.Greater(t, len(rows), 12)
	for _, row := range rows {
		t.Run(row.Sentence, func(t *testing.T) {
			var status []extensionsv1alpha1.MachineDeployment
			w := row.Worker.DeepCopy()
			builder := fake.NewClientBuilder().WithScheme(kubernetes.SeedScheme).WithObjects(w).WithStatusSubresource(w)
			for _, existing := range row.Existing {
				builder.WithObjects(existing.DeepCopy())
			}
			builder.WithInterceptorFuncs(interceptor.Funcs{SubResourcePatch: func(
				_ context.Context, _ client.Client, _ string, object client.Object, _ client.Patch, _ ...client.SubResourcePatchOption,
			) error {
				if patched, ok := object.(*extensionsv1alpha1.Worker); ok {
					status = patched.Status.MachineDeployments
				}
				return errBeforeWait
			}})
			seed := builder.Build()
			cluster := &extensionscontroller.Cluster{Shoot: &gardencorev1beta1.Shoot{}}
			cluster.Shoot.Spec.Hibernation = &gardencorev1beta1.Hibernation{Enabled: &row.Hibernated}
			actuator := genericactuator.NewActuator(seedManager{seed: seed}, nil, upstream{row}, nil)
			require.ErrorIs(t, actuator.Reconcile(t.Context(), logr.Discard(), w, cluster), errBeforeWait)

			assert.Equal(t, status, row.Status)
			written := &machinev1alpha1.MachineDeploymentList{}
			require.NoError(t, seed.List(t.Context(), written))
			require.Len(t, written.Items, len(row.Want))
			for i, d := range written.Items {
				d.ResourceVersion = ""
				assert.Equal(t, d, row.Want[i])
			}
		})
	}
}

// seedManager is as much of a manager as the library asks for.
type seedManager struct {
	manager.Manager
	seed client.Client
}

func (m seedManager) GetClient() client.Client    { return m.seed }
func (m seedManager) GetAPIReader() client.Reader { return m.seed }
func (m seedManager) GetScheme() *runtime.Scheme  { return m.seed.Scheme() }

// upstream is an extension as the library wants one: it uses the library's functions for whatever they offer.
type upstream struct{ row deploymentsCase }

func (u upstream) WorkerDelegate(
	context.Context, *extensionsv1alpha1.Worker, *extensionscontroller.Cluster,
) (genericactuator.WorkerDelegate, error) {
	return u, nil
}

func (u upstream) GenerateMachineDeployments(context.Context) (worker.MachineDeployments, error) {
	var all worker.MachineDeployments
	for _, pool := range u.row.Worker.Spec.Pools {
		hash, err := worker.WorkerPoolHash(
			pool, &extensionscontroller.Cluster{Shoot: &gardencorev1beta1.Shoot{}}, u.row.HashData, u.row.HashDataInPlace)
		if err != nil {
			return nil, err
		}
		for i := range pool.Zones {
			all = append(all, u.machineDeployment(pool, int32(i), hash))
		}
	}
	return all, nil
}

func (u upstream) machineDeployment(pool extensionsv1alpha1.WorkerPool, zone int32, hash string) worker.MachineDeployment {
	zones := int32(len(pool.Zones))
	name := fmt.Sprintf("%s-%s-z%d", u.row.TechnicalID, pool.Name, zone+1)
	labels := map[string]string{u.row.ZoneLabel: pool.Zones[zone]}
	maps.Copy(labels, pool.Labels)
	var preserved int32
	if settings := pool.MachineControllerManagerSettings; settings != nil && settings.AutoPreserveFailedMachineMax != nil {
		preserved = worker.DistributeOverZones(zone, *settings.AutoPreserveFailedMachineMax, zones)
	}
	return worker.MachineDeployment{
		Name: name, PoolName: pool.Name, ClassName: name + "-" + hash, SecretName: name + "-" + hash,
		Minimum: worker.DistributeOverZones(zone, pool.Minimum, zones), Maximum: worker.DistributeOverZones(zone, pool.Maximum, zones),
		Priority: pool.Priority, Strategy: strategyOf(pool, zone), Labels: labels, Annotations: pool.Annotations, Taints: pool.Taints,
		MachineConfiguration:         genericactuator.ReadMachineConfiguration(pool),
		ClusterAutoscalerAnnotations: extensionsv1alpha1helper.GetMachineDeploymentClusterAutoscalerAnnotations(pool.ClusterAutoscaler),
		AutoPreserveFailedMachineMax: preserved,
	}
}

func strategyOf(pool extensionsv1alpha1.WorkerPool, zone int32) machinev1alpha1.MachineDeploymentStrategy {
	surge := worker.DistributePositiveIntOrPercent(zone, pool.MaxSurge, int32(len(pool.Zones)), pool.Maximum)
	unavailable := worker.DistributePositiveIntOrPercent(zone, pool.MaxUnavailable, int32(len(pool.Zones)), pool.Minimum)
	update := machinev1alpha1.UpdateConfiguration{MaxSurge: &surge, MaxUnavailable: &unavailable}
	if !helper.IsUpdateStrategyInPlace(pool.UpdateStrategy) {
		return machinev1alpha1.MachineDeploymentStrategy{
			Type:          machinev1alpha1.RollingUpdateMachineDeploymentStrategyType,
			RollingUpdate: &machinev1alpha1.RollingUpdateMachineDeployment{UpdateConfiguration: update},
		}
	}
	byHand := map[bool]machinev1alpha1.OrchestrationType{true: machinev1alpha1.OrchestrationTypeManual, false: machinev1alpha1.OrchestrationTypeAuto}
	return machinev1alpha1.MachineDeploymentStrategy{
		Type: machinev1alpha1.InPlaceUpdateMachineDeploymentStrategyType,
		InPlaceUpdate: &machinev1alpha1.InPlaceUpdateMachineDeployment{
			UpdateConfiguration: update, OrchestrationType: byHand[helper.IsUpdateStrategyManualInPlace(pool.UpdateStrategy)],
		},
	}
}

func (upstream) DeployMachineClasses(context.Context) error      { return nil }
func (upstream) UpdateMachineImagesStatus(context.Context) error { return nil }
func (upstream) PreReconcileHook(context.Context) error          { return nil }
func (upstream) PostReconcileHook(context.Context) error         { return nil }
func (upstream) PreDeleteHook(context.Context) error             { return nil }
func (upstream) PostDeleteHook(context.Context) error            { return nil }
