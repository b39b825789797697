package example

import (
	"fmt"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/apis/example/v1alpha1"
	"github.com/trellis-garden/trellis/internal/worker"
)

// plan has all inputs of the machines of a pool.
type plan struct {
	shoot          *worker.Shoot
	pool           *extensionsv1alpha1.WorkerPool
	network, group string // IDs
	feature        bool
}

// Machines implements worker.Driver. In a deletion missing and invalid inputs are accepted: only the owner in a class matters then.
func (d *Driver) Machines(shoot *worker.Shoot, status runtime.Object, pool *extensionsv1alpha1.WorkerPool) (*worker.Machines, error) {
	p, err := newPlan(shoot, status, pool)
	if err != nil && !shoot.Deleting {
		return nil, err
	}
	machines := p.machines()
	if p.feature {
		upstream := *p
		upstream.feature = false
		machines.UpstreamMachines = &worker.UpstreamMachines{
			Machines: *upstream.machines(), Message: fmt.Sprintf("the machines of pool %s get the feature when they are replaced", pool.Name),
		}
	}
	return machines, nil
}

// newPlan returns the plan of a pool. If it returns an error, the plan is incomplete.
func newPlan(shoot *worker.Shoot, status runtime.Object, pool *extensionsv1alpha1.WorkerPool) (*plan, error) {
	p := &plan{shoot: shoot, pool: pool}
	config, err := v1alpha1.DecodeWorkerConfig(pool.ProviderConfig)
	if err != nil {
		return p, fmt.Errorf("reading the providerConfig of pool %q: %w", pool.Name, err)
	}
	p.feature = config.Feature
	infrastructure, err := decodeInfrastructure(shoot)
	if err != nil {
		return p, err
	}
	p.network = infrastructure.Network
	if !config.Group {
		return p, nil
	}
	recorded, err := decodeStatus(status)
	if err != nil {
		return p, err
	}
	if p.group = recorded.Groups[pool.Name]; p.group == "" {
		return p, fmt.Errorf("no group is recorded for pool %q", pool.Name)
	}
	return p, nil
}

func (p *plan) machines() *worker.Machines {
	data, names := p.hashData()
	machines := &worker.Machines{HashData: data, HashDataNames: names}
	for _, zone := range p.pool.Zones {
		spec := v1alpha1.NewMachineProviderSpec()
		spec.Owner, spec.Zone, spec.Network, spec.Group = p.shoot.UID, zone, p.network, p.group
		spec.MachineType, spec.Image, spec.Feature = p.pool.MachineType, p.pool.MachineImage.Name+"-"+p.pool.MachineImage.Version, p.feature
		machines.Classes = append(machines.Classes, worker.Class{Provider: v1alpha1.Provider, ProviderSpec: spec})
	}
	return machines
}

// hashData are the inputs to the hash of a pool besides those of Gardener, such as machine type and image. They must never change: another value,
// another order, or another input replaces all nodes of the affected pools.
func (p *plan) hashData() (data, names []string) {
	if p.group != "" {
		data, names = append(data, "group="+p.group), append(names, "the group")
	}
	if p.feature {
		data, names = append(data, "feature"), append(names, "the feature")
	}
	return data, names
}
