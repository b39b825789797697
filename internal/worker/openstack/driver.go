package openstack

import (
	"context"
	"encoding/json"
	"fmt"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/worker"
)

// Type is the type of Workers that the driver reconciles.
const Type = "openstack"

// Driver reconciles Workers of type openstack.
type Driver struct {
	sessions *cloudopenstack.Sessions
}

var _ worker.Driver = (*Driver)(nil)

// New returns a driver that calls the cloud through the sessions.
func New(sessions *cloudopenstack.Sessions) *Driver {
	return &Driver{sessions: sessions}
}

// Prepare implements worker.Driver. It creates missing server groups of pools, and records the images in use.
func (d *Driver) Prepare(ctx context.Context, shoot *worker.Shoot) (runtime.Object, error) {
	in, status, err := begin(shoot)
	if err != nil {
		return nil, err
	}
	wants := in.wantedGroups()
	if len(wants) == 0 {
		return status, nil
	}
	groups, err := d.allGroups(ctx, shoot, in)
	if err != nil {
		return nil, err
	}
	status.ServerGroupDependencies, err = groups.ensure(ctx, wants, status.ServerGroupDependencies)
	if err != nil {
		return nil, err
	}
	return status, nil
}

// begin returns the inputs of a valid Worker, and the status that follows from them alone: the images in use, and the server groups that are recorded.
func begin(shoot *worker.Shoot) (*inputs, *openstackv1alpha1.WorkerStatus, error) {
	in, errs := inputsOf(shoot)
	if err := configurationProblems(errs); err != nil {
		return nil, nil, err
	}
	if err := in.checkInfrastructure(); err != nil {
		return nil, nil, err
	}
	recorded, err := openstackv1alpha1.DecodeWorkerStatus(shoot.Worker.Status.ProviderStatus)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the recorded providerStatus: %w", err)
	}
	status := openstackv1alpha1.NewWorkerStatus()
	if status.MachineImages, err = in.imagesInUse(recorded); err != nil {
		return nil, nil, err
	}
	status.ServerGroupDependencies = recorded.ServerGroupDependencies
	return in, status, nil
}

// Machines implements worker.Driver. In a deletion, invalid inputs are accepted: only the tags of the class matter
// then.
func (d *Driver) Machines(shoot *worker.Shoot, status runtime.Object, pool *extensionsv1alpha1.WorkerPool) (*worker.Machines, error) {
	return machinesOf(shoot, status, pool)
}

// machinesOf describes the machines of a pool. It is pure.
func machinesOf(shoot *worker.Shoot, status runtime.Object, pool *extensionsv1alpha1.WorkerPool) (*worker.Machines, error) {
	in, errs := inputsOf(shoot)
	if err := configurationProblems(errs); err != nil && !shoot.Deleting {
		return nil, err
	}
	recorded, err := decodeStatus(status)
	if err != nil {
		return nil, err
	}
	plan, err := in.planOf(pool, recorded)
	if err != nil {
		return nil, err
	}
	machines := plan.machines()
	if len(plan.dataVolumes) > 0 {
		machines.UpstreamMachines = &worker.UpstreamMachines{
			Machines: *plan.withoutDataVolumes().machines(),
			Message:  fmt.Sprintf("the data volumes of pool %s are created when its nodes are replaced", pool.Name),
		}
	}
	return machines, nil
}

// session logs in.
func (d *Driver) session(ctx context.Context, shoot *worker.Shoot, in *inputs) (*cloudopenstack.Session, error) {
	credentials, err := in.credentials()
	if err != nil {
		return nil, fmt.Errorf("preparing the login to OpenStack: %w", err)
	}
	session, err := d.sessions.Get(ctx, credentials, shoot.Worker.Spec.Region)
	if err != nil {
		return nil, fmt.Errorf("logging in to OpenStack: %w", err)
	}
	return session, nil
}

// decodeStatus decodes a status that is our own, or a recorded one. There may be none.
func decodeStatus(status runtime.Object) (*openstackv1alpha1.WorkerStatus, error) {
	if typed, ok := status.(*openstackv1alpha1.WorkerStatus); ok && typed != nil {
		return typed, nil
	}
	var raw *runtime.RawExtension
	if status != nil {
		data, err := json.Marshal(status)
		if err != nil {
			return nil, fmt.Errorf("reading the providerStatus: %w", err)
		}
		raw = &runtime.RawExtension{Raw: data}
	}
	decoded, err := openstackv1alpha1.DecodeWorkerStatus(raw)
	if err != nil {
		return nil, fmt.Errorf("reading the recorded providerStatus: %w", err)
	}
	return decoded, nil
}
