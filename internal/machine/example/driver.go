package example

import (
	"context"

	"github.com/gardener/machine-controller-manager/pkg/util/provider/driver"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/codes"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/status"

	cloudexample "github.com/trellis-garden/trellis/internal/cloud/example"
	"github.com/trellis-garden/trellis/internal/machine"
)

// Driver creates and deletes machines for MCM. It is safe for concurrent use.
type Driver struct {
	sessions *cloudexample.Sessions
	gate     machine.Gate
}

var _ machine.Driver = (*Driver)(nil)

// New returns a driver that uses the sessions.
func New(sessions *cloudexample.Sessions) *Driver {
	return &Driver{sessions: sessions}
}

// Close waits for running changes and prevents further ones: their callers block until the end of the process. The next process finds what
// incomplete changes have created.
func (d *Driver) Close(ctx context.Context) error { return d.gate.Close(ctx) }

// CreateMachine implements driver.Driver. It adopts the server of an earlier attempt.
func (d *Driver) CreateMachine(ctx context.Context, request *driver.CreateMachineRequest) (*driver.CreateMachineResponse, error) {
	var server cloudexample.Server
	err := d.gate.Run(ctx, func() error {
		class, err := d.readClass(request.MachineClass, request.Secret)
		if err != nil {
			return err
		}
		server, err = class.ensureServer(ctx, request.Machine.Name)
		return err
	})
	if err != nil {
		return nil, translate().MCM("creating machine "+request.Machine.Name, err)
	}
	return &driver.CreateMachineResponse{ProviderID: providerID(server), NodeName: server.Name}, nil
}

// InitializeMachine implements driver.Driver: servers are complete when they are created.
func (d *Driver) InitializeMachine(context.Context, *driver.InitializeMachineRequest) (*driver.InitializeMachineResponse, error) {
	return nil, status.Error(codes.Unimplemented, "there is nothing to initialize")
}

// DeleteMachine implements driver.Driver. It succeeds if there is nothing to delete.
func (d *Driver) DeleteMachine(ctx context.Context, request *driver.DeleteMachineRequest) (*driver.DeleteMachineResponse, error) {
	err := d.gate.Run(ctx, func() error {
		class, err := d.readClass(request.MachineClass, request.Secret)
		if err != nil {
			return err
		}
		return class.removeServers(ctx, request.Machine)
	})
	if err != nil {
		return nil, translate().MCM("deleting machine "+request.Machine.Name, err)
	}
	return &driver.DeleteMachineResponse{}, nil
}

// GetMachineStatus implements driver.Driver.
func (d *Driver) GetMachineStatus(ctx context.Context, request *driver.GetMachineStatusRequest) (*driver.GetMachineStatusResponse, error) {
	class, err := d.readClass(request.MachineClass, request.Secret)
	var servers []cloudexample.Server
	if err == nil {
		servers, err = class.serversNamed(ctx, request.Machine.Name)
	}
	switch {
	case err != nil:
		return nil, translate().MCM("looking for machine "+request.Machine.Name, err)
	case len(servers) == 0:
		return nil, status.Error(codes.NotFound, "there is no server for machine "+request.Machine.Name)
	default:
		return &driver.GetMachineStatusResponse{ProviderID: providerID(servers[0]), NodeName: servers[0].Name}, nil
	}
}

// ListMachines implements driver.Driver: all servers of the shoot, so that none is overlooked whose class is gone.
func (d *Driver) ListMachines(ctx context.Context, request *driver.ListMachinesRequest) (*driver.ListMachinesResponse, error) {
	class, err := d.readClass(request.MachineClass, request.Secret)
	var servers []cloudexample.Server
	if err == nil {
		servers, err = class.allServers(ctx)
	}
	if err != nil {
		return nil, translate().MCM("listing machines", err)
	}
	response := &driver.ListMachinesResponse{MachineList: map[string]string{}}
	for _, server := range servers {
		response.MachineList[providerID(server)] = server.Name
	}
	return response, nil
}

// GetVolumeIDs implements driver.Driver: the cloud has no volumes.
func (d *Driver) GetVolumeIDs(context.Context, *driver.GetVolumeIDsRequest) (*driver.GetVolumeIDsResponse, error) {
	return &driver.GetVolumeIDsResponse{}, nil
}
