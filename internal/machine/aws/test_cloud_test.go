package aws

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/driver"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/codes"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/status"
	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/trellis-garden/trellis/apis/aws/machine/v1alpha1"
	cloudaws "github.com/trellis-garden/trellis/internal/cloud/aws"
	"github.com/trellis-garden/trellis/internal/cloud/aws/auth"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/model"
	"github.com/trellis-garden/trellis/internal/cloud/transport"
)

const (
	technicalID = "shoot--dev--one"
	clusterTag  = v1alpha1.TagClusterPrefix + technicalID
	roleTag     = v1alpha1.TagRolePrefix + "node"
	machineName = technicalID + "-cpu-z1-5d9f8-x7k2p"
	rootDevice  = "/dev/xvda"
)

// testCloud is an account with the resources of an Infrastructure, and MCM's inputs of a driver.
type testCloud struct {
	cloud                     *fake.Cloud
	vpc, subnet, group, image string
}

// clouds makes clouds that share models.
type clouds struct{ models map[string]*model.Service }

func newClouds() (*clouds, error) {
	models, err := model.Load()
	return &clouds{models}, err
}

func (c *clouds) new(options ...fake.Option) (*testCloud, error) {
	cloud, err := fake.New(append([]fake.Option{fake.WithModels(c.models)}, options...)...)
	if err != nil {
		return nil, err
	}
	s := &testCloud{cloud: cloud}
	if err := cloud.Start("127.0.0.1:0"); err != nil {
		return nil, err
	}
	s.image = cloud.AddImage("linux", rootDevice)
	create := func(action string, member, id string, parameters ...string) string {
		form := url.Values{}
		for i := 0; i < len(parameters); i += 2 {
			form.Set(parameters[i], parameters[i+1])
		}
		service := fake.EC2
		if action == "CreateInstanceProfile" {
			service = fake.IAM
		}
		out, failure := cloud.Do(service, action, form)
		if failure != nil && err == nil {
			err = fmt.Errorf("%s: %w", action, failure)
		}
		if member != "" {
			out = out.Struct(member)
		}
		return out.String(id)
	}
	s.vpc = create("CreateVpc", "Vpc", "VpcId", "CidrBlock", "10.250.0.0/16", "AmazonProvidedIpv6CidrBlock", "true")
	s.subnet = create("CreateSubnet", "Subnet", "SubnetId", "VpcId", s.vpc, "CidrBlock", "10.250.0.0/22", "Ipv6CidrBlock", "2a05:d018:0:100::/64")
	s.group = create("CreateSecurityGroup", "", "GroupId", "VpcId", s.vpc, "GroupName", "nodes", "GroupDescription", "nodes")
	create("CreateInstanceProfile", "", "", "InstanceProfileName", "nodes")
	for _, kind := range []string{fake.InstanceStart, fake.InstanceTerminate} {
		cloud.SetTransition(kind, fake.Transition{Reads: 1})
	}
	cloud.ResetLog()
	return s, err
}

func startCloud(t *testing.T, options ...fake.Option) *testCloud {
	t.Helper()
	all, err := newClouds()
	require.NoError(t, err)
	s, err := all.new(options...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.cloud.Close() })
	return s
}

// process is a driver that can be killed: afterwards its requests do not reach the cloud.
type process struct {
	*Driver
	killed atomic.Bool
}

func (s *testCloud) process(wrap ...func(client) client) *process {
	p := &process{}
	sessions := cloudaws.NewSessions(cloudaws.Options{
		Endpoint: s.cloud.URL(), QPS: -1,
		Retry: transport.RetryPolicy{Attempts: 2, FirstPause: time.Millisecond, LongestPause: 10 * time.Millisecond},
		Transport: func(next http.RoundTripper) http.RoundTripper {
			return roundTripper(func(request *http.Request) (*http.Response, error) {
				if p.killed.Load() {
					return nil, context.Canceled
				}
				return next.RoundTrip(request)
			})
		},
	})
	options := Options{
		Sessions: sessions, Log: logr.Discard(), PollInterval: 3 * time.Millisecond, CreateTimeout: 20 * time.Second, DeleteTimeout: 20 * time.Second, launches: rate.Inf,
	}
	if len(wrap) > 0 {
		options.DeleteTimeout, options.launchTimeout = 200*time.Millisecond, 200*time.Millisecond
		wrapped := map[client]client{}
		options.newClient = func(ctx context.Context, credentials auth.Credentials, region string) (client, error) {
			session, err := sessions.Get(ctx, credentials, region)
			if err == nil && wrapped[session] == nil {
				wrapped[session] = wrap[0](session)
			}
			return wrapped[session], err
		}
	}
	p.Driver, _ = New(options) // it cannot fail without a registerer
	return p
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

func (s *testCloud) spec() *v1alpha1.ProviderSpec {
	return &v1alpha1.ProviderSpec{
		AMI: s.image, Region: fake.DefaultRegion, MachineType: "m5.large", IAM: v1alpha1.InstanceProfile{Name: "nodes"}, SrcAndDstChecksEnabled: new(false),
		NetworkInterfaces: []v1alpha1.NetworkInterface{{SubnetID: s.subnet, SecurityGroupIDs: []string{s.group}}},
		BlockDevices:      []v1alpha1.BlockDevice{{EBS: v1alpha1.EBS{VolumeSize: 50, VolumeType: "gp3", Encrypted: true}}},
		Tags:              map[string]string{clusterTag: "1", roleTag: "1", "team": "blue"},
	}
}

// withAllFeatures gives machines data volumes, an interface for EFA and IPv6.
func (s *testCloud) withAllFeatures(spec *v1alpha1.ProviderSpec) {
	spec.BlockDevices[0].DeviceName = v1alpha1.RootDevice
	spec.BlockDevices = append(spec.BlockDevices, v1alpha1.BlockDevice{DeviceName: "/dev/sdf", EBS: v1alpha1.EBS{VolumeSize: 10, VolumeType: "io2", Iops: 100}})
	spec.NetworkInterfaces[0].IPv6AddressCount, spec.NetworkInterfaces[0].IPv6PrefixCount = new(int32(1)), new(int32(1))
	spec.NetworkInterfaces = append(spec.NetworkInterfaces, v1alpha1.NetworkInterface{
		SubnetID: s.subnet, SecurityGroupIDs: []string{s.group}, NetworkCardIndex: new(int32(1)), DeviceIndex: new(int32(1)), InterfaceType: new("efa"),
	})
}

// testMachine is one Machine with its class and secret.
type testMachine struct {
	machine *machinev1alpha1.Machine
	class   *machinev1alpha1.MachineClass
	secret  *corev1.Secret
}

func (s *testCloud) newMachine(name string, edits ...func(*v1alpha1.ProviderSpec)) *testMachine {
	spec := s.spec()
	for _, edit := range edits {
		edit(spec)
	}
	raw, err := v1alpha1.EncodeProviderSpec(spec)
	if err != nil {
		raw = nil // and the driver reports it
	}
	key := fake.DefaultKey()
	return &testMachine{
		machine: &machinev1alpha1.Machine{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-of-" + name)}},
		class: &machinev1alpha1.MachineClass{
			ObjectMeta: metav1.ObjectMeta{Name: technicalID + "-cpu-z1-5d9f8"}, Provider: v1alpha1.Provider, ProviderSpec: *raw,
		},
		secret: &corev1.Secret{Data: map[string][]byte{
			"userData": []byte("#!/bin/true"), auth.KeyAccessKeyID: []byte(key.KeyID), auth.KeySecretAccessKey: []byte(key.Secret),
		}},
	}
}

// status requests the status. An instance that is not initialized is returned with an error.
func (o *testMachine) status(ctx context.Context, d driver.Driver) (*driver.GetMachineStatusResponse, error) {
	return d.GetMachineStatus(ctx, &driver.GetMachineStatusRequest{Machine: o.machine, MachineClass: o.class, Secret: o.secret})
}

// create creates a machine as MCM does: it requests the status, the creation if that is not found, and the initialization after the creation or if the status asks
// for it.
func (o *testMachine) create(ctx context.Context, d driver.Driver) error {
	found, err := o.status(ctx, d)
	switch {
	case err == nil:
		o.machine.Spec.ProviderID = found.ProviderID
		return nil
	case code(err) == codes.Uninitialized:
		o.machine.Spec.ProviderID = found.ProviderID
	case code(err) == codes.NotFound && o.machine.Spec.ProviderID == "":
		created, err := d.CreateMachine(ctx, &driver.CreateMachineRequest{Machine: o.machine, MachineClass: o.class, Secret: o.secret})
		if err != nil {
			return err
		}
		o.machine.Spec.ProviderID = created.ProviderID
	default:
		return err
	}
	_, err = d.InitializeMachine(ctx, &driver.InitializeMachineRequest{Machine: o.machine, MachineClass: o.class, Secret: o.secret})
	return err
}

func (o *testMachine) delete(ctx context.Context, d driver.Driver) error {
	_, err := d.DeleteMachine(ctx, &driver.DeleteMachineRequest{Machine: o.machine, MachineClass: o.class, Secret: o.secret})
	return err
}

// deleteOrphans deletes instances without a Machine as MCM does.
func (o *testMachine) deleteOrphans(ctx context.Context, d driver.Driver) (found int, err error) {
	list, err := d.ListMachines(ctx, &driver.ListMachinesRequest{MachineClass: o.class, Secret: o.secret})
	if err != nil {
		return 1, err
	}
	for id, name := range list.MachineList {
		if name == o.machine.Name && id == o.machine.Spec.ProviderID {
			continue
		}
		orphan := &machinev1alpha1.Machine{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: machinev1alpha1.MachineSpec{ProviderID: id}}
		found++
		if _, err := d.DeleteMachine(ctx, &driver.DeleteMachineRequest{Machine: orphan, MachineClass: o.class, Secret: o.secret}); err != nil {
			return found, err
		}
	}
	return found, nil
}

// code is the code that MCM parses from the text of an error.
func code(err error) codes.Code {
	decoded, _ := status.FromError(err)
	return decoded.Code()
}

// instances lists instances in these states, or of those that have not ended, with everything that AWS shows of them.
func (s *testCloud) instances(ctx context.Context, states ...string) ([]cloudaws.Instance, error) {
	key := fake.DefaultKey()
	session, err := cloudaws.NewSessions(cloudaws.Options{Endpoint: s.cloud.URL(), QPS: -1}).Get(ctx, auth.Credentials{
		AccessKeyID: key.KeyID, SecretAccessKey: key.Secret,
	}, fake.DefaultRegion)
	if err != nil {
		return nil, err
	}
	if len(states) == 0 {
		states = []string{cloudaws.InstancePending, cloudaws.InstanceRunning}
	}
	return session.ListInstances(ctx, cloudaws.InstanceFilter{States: states})
}
