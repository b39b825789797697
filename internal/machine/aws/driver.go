package aws

import (
	"context"
	"fmt"
	"strings"
	"time"

	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/driver"
	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"
	corev1 "k8s.io/api/core/v1"

	cloudaws "github.com/trellis-garden/trellis/internal/cloud/aws"
	"github.com/trellis-garden/trellis/internal/cloud/aws/auth"
	machineprocess "github.com/trellis-garden/trellis/internal/machine"
)

// SessionBurst is the burst of the rate limiter of the driver's sessions. MCM creates and deletes 50 machines at a time, with two calls for each, and the lists
// that all of them share.
const SessionBurst = 2 * 50 * 2

// The limits of EC2 for requests of new instances, by account and region, see
// https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-throttling.html. Faster requests would only be refused.
const (
	launchesPerSecond = 2
	launchBurst       = 5
)

// Options configure the driver. Zero values are defaults, except for Sessions.
type Options struct {
	// Sessions are the sessions of the process.
	Sessions *cloudaws.Sessions
	// Registerer receives the metrics; nil means none.
	Registerer prometheus.Registerer
	// Log logs changes of machines.
	Log logr.Logger
	// PollInterval is the longest interval of polls of changing instances; default 3 s. The first poll may follow after a tenth of it.
	PollInterval time.Duration
	// CreateTimeout bounds the creation of a machine; default 10 minutes.
	CreateTimeout time.Duration
	// DeleteTimeout bounds the deletion of a machine; default 10 minutes. An instance on bare metal takes some.
	DeleteTimeout time.Duration
	// QueryTimeout bounds all other operations; default 2 minutes.
	QueryTimeout time.Duration

	// newClient replaces Sessions, launches the limit of requests of new instances, and launchTimeout the default of 20 s, in tests. A Node needs longer.
	newClient     func(context.Context, auth.Credentials, string) (client, error)
	launches      rate.Limit
	launchTimeout time.Duration
}

func (o Options) withDefaults() Options {
	if o.newClient == nil {
		o.newClient = func(ctx context.Context, credentials auth.Credentials, region string) (client, error) {
			return o.Sessions.Get(ctx, credentials, region)
		}
	}
	if o.launches == 0 {
		o.launches = launchesPerSecond
	}
	for timeout, fallback := range map[*time.Duration]time.Duration{
		&o.PollInterval: 3 * time.Second, &o.CreateTimeout: 10 * time.Minute,
		&o.DeleteTimeout: 10 * time.Minute, &o.QueryTimeout: machineprocess.LookUpTimeout, &o.launchTimeout: 20 * time.Second,
	} {
		if *timeout == 0 {
			*timeout = fallback
		}
	}
	return o
}

// Driver creates and deletes machines for MCM. It is safe for concurrent use.
type Driver struct {
	options  Options
	metrics  *machineprocess.Metrics
	gate     machineprocess.Gate
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

// CreateMachine implements driver.Driver: it returns when the instance has started, and takes over one that exists already.
func (d *Driver) CreateMachine(ctx context.Context, request *driver.CreateMachineRequest) (*driver.CreateMachineResponse, error) {
	var response *driver.CreateMachineResponse
	err := d.run(ctx, operation{"create", "creating"}, d.options.CreateTimeout, request.Machine, request.MachineClass, request.Secret, func(ctx context.Context, m *machine) error {
		instance, err := m.create(ctx)
		if err == nil {
			response = &driver.CreateMachineResponse{
				ProviderID: m.class.providerID(instance.ID), NodeName: instance.PrivateDNSName, Addresses: addressesOf(instance),
			}
		}
		return err
	})
	return response, err
}

// InitializeMachine implements driver.Driver: it sets what cannot be set in the request of an instance.
func (d *Driver) InitializeMachine(ctx context.Context, request *driver.InitializeMachineRequest) (*driver.InitializeMachineResponse, error) {
	var response *driver.InitializeMachineResponse
	err := d.run(ctx, operation{"initialize", "initializing"}, d.options.QueryTimeout, request.Machine, request.MachineClass, request.Secret, func(ctx context.Context, m *machine) error {
		instance, err := m.initialize(ctx)
		if err == nil {
			response = &driver.InitializeMachineResponse{
				ProviderID: m.class.providerID(instance.ID), NodeName: instance.PrivateDNSName, Addresses: addressesOf(instance),
			}
		}
		return err
	})
	return response, err
}

// DeleteMachine implements driver.Driver: it returns when the instance is terminated, and succeeds when there was none.
func (d *Driver) DeleteMachine(ctx context.Context, request *driver.DeleteMachineRequest) (*driver.DeleteMachineResponse, error) {
	err := d.run(ctx, operation{"delete", "deleting"}, d.options.DeleteTimeout, request.Machine, request.MachineClass, request.Secret, func(ctx context.Context, m *machine) error {
		return m.delete(ctx)
	})
	if err != nil {
		return nil, err
	}
	return &driver.DeleteMachineResponse{}, nil
}

// GetMachineStatus implements driver.Driver. It returns an instance that is not initialized together with an error, as MCM expects it.
func (d *Driver) GetMachineStatus(ctx context.Context, request *driver.GetMachineStatusRequest) (*driver.GetMachineStatusResponse, error) {
	var response *driver.GetMachineStatusResponse
	err := d.run(ctx, operation{"status", "looking for"}, d.options.QueryTimeout, request.Machine, request.MachineClass, request.Secret, func(ctx context.Context, m *machine) error {
		instance, err := m.status(ctx)
		if instance.ID != "" {
			response = &driver.GetMachineStatusResponse{
				ProviderID: m.class.providerID(instance.ID), NodeName: instance.PrivateDNSName, Addresses: addressesOf(instance),
			}
		}
		return err
	})
	return response, err
}

// ListMachines implements driver.Driver: all instances of the shoot, so that none is overlooked whose class is gone.
func (d *Driver) ListMachines(ctx context.Context, request *driver.ListMachinesRequest) (*driver.ListMachinesResponse, error) {
	response := &driver.ListMachinesResponse{MachineList: map[string]string{}}
	object := &machinev1alpha1.Machine{}
	err := d.run(ctx, operation{"list", "listing"}, d.options.QueryTimeout, object, request.MachineClass, request.Secret, func(ctx context.Context, m *machine) error {
		instances, err := m.list(ctx)
		for _, instance := range instances {
			response.MachineList[m.class.providerID(instance.ID)] = nameOf(instance)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return response, nil
}

const (
	ebsCSI         = "ebs.csi.aws.com"
	volumeIDPrefix = "vol-"
)

// GetVolumeIDs implements driver.Driver: the EBS volumes among persistent volumes. Others are not attached to instances.
func (d *Driver) GetVolumeIDs(_ context.Context, request *driver.GetVolumeIDsRequest) (*driver.GetVolumeIDsResponse, error) {
	response := &driver.GetVolumeIDsResponse{}
	for _, volume := range request.PVSpecs {
		switch {
		case volume.CSI != nil && volume.CSI.Driver == ebsCSI && volume.CSI.VolumeHandle != "":
			response.VolumeIDs = append(response.VolumeIDs, volume.CSI.VolumeHandle)
		case volume.AWSElasticBlockStore != nil:
			// e.g. "aws://eu-west-1a/vol-1", or the ID alone
			id := instanceIDOf(volume.AWSElasticBlockStore.VolumeID)
			if strings.HasPrefix(id, volumeIDPrefix) {
				response.VolumeIDs = append(response.VolumeIDs, id)
			}
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
	account := d.accounts.Get(session, func() *account {
		return newAccount(gatedClient{client: session, gate: &d.gate, launches: rate.NewLimiter(d.options.launches, launchBurst)})
	})
	return &machine{
		class: class, account: account, log: d.options.Log.WithValues("machine", object.Name), poll: d.options.PollInterval, launchTimeout: d.options.launchTimeout,
		name: object.Name, uid: string(object.UID), placement: object.Spec.NodeTemplateSpec.Annotations[placementAnnotation],
		instanceID: instanceIDOf(object.Spec.ProviderID), deleting: object.DeletionTimestamp != nil, orphan: object.UID == "" && object.Spec.ProviderID != "",
	}, nil
}
