package openstack

import (
	"context"
	"fmt"
	"time"

	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/driver"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/codes"
	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"

	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/auth"
	machineprocess "github.com/trellis-garden/trellis/internal/machine"
)

// SessionBurst is the burst of the rate limiter of the driver's sessions. MCM creates and deletes 50 machines at a time, with two calls for each: two such
// waves pass without a pause, and further ones at the rate of the sessions.
const SessionBurst = 2 * 50 * 2

// Options configure the driver. Zero values are defaults, except for Sessions.
type Options struct {
	// Sessions are the sessions of the process.
	Sessions *cloudopenstack.Sessions
	// Registerer receives the metrics; nil means none.
	Registerer prometheus.Registerer
	// Log logs changes of machines.
	Log logr.Logger
	// PollInterval is the longest interval of polls of changing servers; default 3 s. The first poll may follow after a tenth of it.
	PollInterval time.Duration
	// CreateTimeout bounds the creation of a machine, and is how long a server may take to be built; default 10 minutes.
	CreateTimeout time.Duration
	// DeleteTimeout bounds the deletion of a machine; default 5 minutes.
	DeleteTimeout time.Duration
	// QueryTimeout bounds operations that change nothing; default 2 minutes.
	QueryTimeout time.Duration

	// newClient replaces Sessions in tests.
	newClient func(context.Context, auth.Credentials, string) (client, error)
}

func (o Options) withDefaults() Options {
	if o.newClient == nil {
		o.newClient = func(ctx context.Context, credentials auth.Credentials, region string) (client, error) {
			return o.Sessions.Get(ctx, credentials, region)
		}
	}
	for timeout, fallback := range map[*time.Duration]time.Duration{
		&o.PollInterval: 3 * time.Second, &o.CreateTimeout: 10 * time.Minute,
		&o.DeleteTimeout: 5 * time.Minute, &o.QueryTimeout: machineprocess.LookUpTimeout,
	} {
		if *timeout == 0 {
			*timeout = fallback
		}
	}
	return o
}

// Driver creates and deletes machines for MCM. It is safe for concurrent use.
type Driver struct {
	options Options
	metrics *machineprocess.Metrics
	gate    machineprocess.Gate

	accounts machineprocess.Accounts[client, *account]
}

var _ driver.Driver = &Driver{}

// New returns a driver. It fails if the registerer has other metrics with the same names.
func New(options Options) (*Driver, error) {
	m, err := machineprocess.NewMetrics(options.Registerer)
	if err != nil {
		return nil, err
	}
	return &Driver{options: options.withDefaults(), metrics: m}, nil
}

// Close waits for running changes and prevents further ones: their callers block until the end of the process. The next process finds
// incomplete changes.
func (d *Driver) Close(ctx context.Context) error { return d.gate.Close(ctx) }

// CreateMachine implements driver.Driver: it returns when the server is active, and takes over what there is of it already.
func (d *Driver) CreateMachine(ctx context.Context, request *driver.CreateMachineRequest) (*driver.CreateMachineResponse, error) {
	var response *driver.CreateMachineResponse
	err := d.run(ctx, operation{"create", "creating"}, d.options.CreateTimeout, request.Machine, request.MachineClass, request.Secret, func(ctx context.Context, m *machine) error {
		server, err := m.create(ctx)
		if err == nil {
			response = &driver.CreateMachineResponse{
				ProviderID: m.class.providerID(server.ID), NodeName: m.name, Addresses: addressesOf(server),
			}
		}
		return err
	})
	return response, err
}

// InitializeMachine implements driver.Driver: servers are complete when they are created.
func (d *Driver) InitializeMachine(context.Context, *driver.InitializeMachineRequest) (*driver.InitializeMachineResponse, error) {
	return nil, translate().MCM("initializing a machine", machineprocess.Failuref(codes.Unimplemented, "there is nothing to initialize"))
}

// DeleteMachine implements driver.Driver: it returns when nothing is left, and succeeds when there was nothing.
func (d *Driver) DeleteMachine(ctx context.Context, request *driver.DeleteMachineRequest) (*driver.DeleteMachineResponse, error) {
	err := d.run(ctx, operation{"delete", "deleting"}, d.options.DeleteTimeout, request.Machine, request.MachineClass, request.Secret, func(ctx context.Context, m *machine) error {
		return m.delete(ctx)
	})
	if err != nil {
		return nil, err
	}
	return &driver.DeleteMachineResponse{}, nil
}

// GetMachineStatus implements driver.Driver. A machine that is not known to MCM yet counts as not found until its server is complete, since
// CreateMachine then adopts the server, or deletes one that failed.
func (d *Driver) GetMachineStatus(ctx context.Context, request *driver.GetMachineStatusRequest) (*driver.GetMachineStatusResponse, error) {
	var response *driver.GetMachineStatusResponse
	err := d.run(ctx, operation{"status", "looking for"}, d.options.QueryTimeout, request.Machine, request.MachineClass, request.Secret, func(ctx context.Context, m *machine) error {
		server, err := m.status(ctx)
		if err == nil {
			response = &driver.GetMachineStatusResponse{
				ProviderID: m.class.providerID(server.ID), NodeName: m.name, Addresses: addressesOf(server),
			}
		}
		return err
	})
	return response, err
}

// ListMachines implements driver.Driver: all servers of the shoot, so that none is overlooked whose class is gone.
func (d *Driver) ListMachines(ctx context.Context, request *driver.ListMachinesRequest) (*driver.ListMachinesResponse, error) {
	response := &driver.ListMachinesResponse{MachineList: map[string]string{}}
	object := &machinev1alpha1.Machine{}
	err := d.run(ctx, operation{"list", "listing"}, d.options.QueryTimeout, object, request.MachineClass, request.Secret, func(ctx context.Context, m *machine) error {
		servers, err := m.list(ctx, request.MachineClass.Name)
		for _, server := range servers {
			response.MachineList[m.class.providerID(server.ID)] = server.Name
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return response, nil
}

const cinderCSI = "cinder.csi.openstack.org"

// GetVolumeIDs implements driver.Driver: the Cinder volumes among persistent volumes. Others are not attached to servers.
func (d *Driver) GetVolumeIDs(_ context.Context, request *driver.GetVolumeIDsRequest) (*driver.GetVolumeIDsResponse, error) {
	response := &driver.GetVolumeIDsResponse{}
	for _, volume := range request.PVSpecs {
		switch {
		case volume.CSI != nil && volume.CSI.Driver == cinderCSI && volume.CSI.VolumeHandle != "":
			response.VolumeIDs = append(response.VolumeIDs, volume.CSI.VolumeHandle)
		case volume.Cinder != nil && volume.Cinder.VolumeID != "":
			response.VolumeIDs = append(response.VolumeIDs, volume.Cinder.VolumeID)
		}
	}
	return response, nil
}

// operation is a request of MCM, by its name in metrics and in errors.
type operation struct{ name, action string }

// run runs one operation with its timeout, and counts it.
func (d *Driver) run(
	ctx context.Context, o operation, timeout time.Duration,
	object *machinev1alpha1.Machine, machineClass *machinev1alpha1.MachineClass, secret *corev1.Secret, do func(context.Context, *machine) error,
) error {
	started := time.Now()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	m, err := d.machine(ctx, object, machineClass, secret)
	if err == nil {
		err = do(ctx, m)
	}
	about := o.action + " machines"
	if object.Name != "" {
		about = fmt.Sprintf("%s machine %q", o.action, object.Name)
	}
	err = translate().MCM(about, err)
	d.metrics.Observe(o.name, started, err)
	return err
}

func (d *Driver) machine(ctx context.Context, object *machinev1alpha1.Machine, machineClass *machinev1alpha1.MachineClass, secret *corev1.Secret) (*machine, error) {
	class, err := readClass(machineClass, secret)
	if err != nil {
		return nil, err
	}
	session, err := d.options.newClient(ctx, class.credentials, class.Region)
	if err != nil {
		return nil, err
	}
	account := d.accounts.Get(session, func() *account { return newAccount(gatedClient{client: session, gate: &d.gate}) })
	return &machine{
		class: class, account: account, ids: account.ids.newIDLookup(), log: d.options.Log.WithValues("machine", object.Name), poll: d.options.PollInterval,
		name: object.Name, serverID: serverIDOf(object.Spec.ProviderID), known: object.Spec.ProviderID != "" || object.DeletionTimestamp != nil,
		orphan: object.UID == "" && object.Spec.ProviderID != "",
	}, nil
}
