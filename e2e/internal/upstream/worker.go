package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openstackmachinev1alpha1 "github.com/trellis-garden/trellis/apis/openstack/machine/v1alpha1"
	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
)

// timeout bounds how long machines may take to run.
const timeout = 4 * time.Minute

// Worker creates machine classes and deployments for all pools, each of which has one zone, and waits until their machines run. The caller has
// deployed machine-controller-manager, and called Infrastructure.
func (s *Shoot) Worker(ctx context.Context) error {
	component, err := s.Gardenlet.Worker(s.Shoot)
	if err != nil {
		return err
	}
	if err := component.Deploy(ctx); err != nil {
		return err
	}
	object, err := s.Gardenlet.GetWorker(ctx, s.Shoot)
	if err != nil {
		return err
	}
	var deployments []extensionsv1alpha1.MachineDeployment
	for _, pool := range object.Spec.Pools {
		name, err := s.MakeMachines(ctx, pool)
		if err != nil {
			return fmt.Errorf("making the machines of pool %s: %w", pool.Name, err)
		}
		deployments = append(deployments, extensionsv1alpha1.MachineDeployment{Name: name, Minimum: pool.Minimum, Maximum: pool.Maximum})
	}
	if err := s.awaitMachines(ctx, object.Spec.Pools); err != nil {
		return err
	}
	return s.markSucceeded(ctx, object, &object.Status.DefaultStatus, "worker", func() {
		object.Status.MachineDeployments = deployments
		object.Status.MachineDeploymentsLastUpdateTime = &metav1.Time{Time: time.Now()}
	})
}

// awaitMachines waits until all machines run.
func (s *Shoot) awaitMachines(ctx context.Context, pools []extensionsv1alpha1.WorkerPool) error {
	var wanted int
	for _, pool := range pools {
		wanted += int(pool.Minimum)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for {
		machines, running := &machinev1alpha1.MachineList{}, 0
		if err := s.Gardenlet.Seed.List(ctx, machines, client.InNamespace(s.Namespace())); err != nil {
			return fmt.Errorf("listing machines: %w", err)
		}
		last := errors.New("there is none")
		for _, machine := range machines.Items {
			if machine.Status.CurrentStatus.Phase == machinev1alpha1.MachineRunning {
				running++
			} else {
				last = fmt.Errorf("%s is %q: %s", machine.Name, machine.Status.CurrentStatus.Phase, machine.Status.LastOperation.Description)
			}
		}
		if running == wanted {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for machines: %w, since %w", ctx.Err(), last)
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// MakeMachines creates the machines of a pool with one zone, and returns the name of their deployment. The pool's volumes are ignored.
func (s *Shoot) MakeMachines(ctx context.Context, pool extensionsv1alpha1.WorkerPool) (string, error) {
	spec, err := s.providerSpec(pool)
	if err != nil {
		return "", err
	}
	names, err := ApplyMachines(ctx, s.Gardenlet, s.Shoot, pool, Machines{
		Provider: openstackmachinev1alpha1.Provider,
		Zones: []MachineZone{{Name: openstack.Zone, Spec: spec, NodeLabels: map[string]string{
			"topology.cinder.csi.openstack.org/zone": openstack.Zone, "topology.manila.csi.openstack.org/zone": openstack.Zone,
		}}},
	})
	if err != nil {
		return "", err
	}
	return names[0], nil
}

func (s *Shoot) providerSpec(pool extensionsv1alpha1.WorkerPool) (map[string]any, error) {
	known, isJSON := s.InfrastructureStatus.(json.RawMessage)
	if !isJSON {
		return nil, errors.New("there is no infrastructure")
	}
	var site openstackv1alpha1.InfrastructureStatus
	if err := json.Unmarshal(known, &site); err != nil {
		return nil, fmt.Errorf("reading what the Infrastructure says: %w", err)
	}
	return map[string]any{
		"apiVersion": "openstack.machine.gardener.cloud/v1alpha1", "kind": "MachineProviderConfig",
		"spec": map[string]any{
			"imageName": openstack.GlanceImage(pool.MachineImage.Version), "region": s.Cloud.Region(), "availabilityZone": openstack.Zone,
			"flavorName": pool.MachineType, "keyName": site.Node.KeyName, "securityGroups": []string{site.SecurityGroups[0].Name},
			"tags": map[string]string{
				openstackmachinev1alpha1.TagClusterPrefix + s.Namespace(): "1", openstackmachinev1alpha1.TagRolePrefix + "node": "1",
			},
			"networkID": site.Networks.ID, "subnetIDs": []string{site.Networks.Subnets[0].ID}, "podNetworkCIDRs": []string{"100.96.0.0/11"},
		},
	}, nil
}
