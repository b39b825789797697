package openstack

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/driver"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/codes"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/status"
	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/trellis-garden/trellis/apis/openstack/machine/v1alpha1"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/auth"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/transport"
)

const (
	technicalID = "shoot--dev--one"
	clusterTag  = v1alpha1.TagClusterPrefix + technicalID
	roleTag     = v1alpha1.TagRolePrefix + "node"
	machineName = technicalID + "-cpu-z1-5d9f8-x7k2p"
	publicKey   = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILpjb/ba8Lb65RZDF36cTpHKdmz+YnnMDq4cxCQjiaoU shoot"
)

// testCloud is a cloud with the resources of an Infrastructure, and MCM's inputs of a driver.
type testCloud struct {
	cloud                              *fake.Cloud
	network, subnet, storage, security string
}

func newTestCloud(options ...fake.Option) (*testCloud, error) {
	s := &testCloud{cloud: fake.New(options...)}
	if err := s.cloud.Start("127.0.0.1:0"); err != nil {
		return nil, err
	}
	for _, resource := range []struct {
		id         *string
		collection string
		attrs      func() fake.Attrs
	}{
		{&s.network, "networks", func() fake.Attrs { return fake.Attrs{"name": technicalID} }},
		{&s.subnet, "subnets", func() fake.Attrs {
			return fake.Attrs{"network_id": s.network, "ip_version": 4, "cidr": "10.250.0.0/16"}
		}},
		{&s.storage, "networks", func() fake.Attrs { return fake.Attrs{"name": "storage"} }},
		{new(string), "subnets", func() fake.Attrs {
			return fake.Attrs{"network_id": s.storage, "ip_version": 4, "cidr": "10.90.0.0/16"}
		}},
		{&s.security, "security-groups", func() fake.Attrs { return fake.Attrs{"name": technicalID} }},
		{new(string), "os-keypairs", func() fake.Attrs { return fake.Attrs{"name": technicalID, "public_key": publicKey} }},
	} {
		id, err := s.cloud.CreateResource(fake.DefaultProject, resource.collection, resource.attrs())
		if err != nil {
			return nil, fmt.Errorf("planting %s: %w", resource.collection, err)
		}
		*resource.id = id
	}
	for _, kind := range []string{fake.ServerBuild, fake.ServerDelete} {
		s.cloud.SetTransition(kind, fake.Transition{Polls: 1})
	}
	s.cloud.ResetLog()
	return s, nil
}

func startCloud(t *testing.T, options ...fake.Option) *testCloud {
	t.Helper()
	s, err := newTestCloud(options...)
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
	sessions := cloudopenstack.NewSessions(cloudopenstack.Options{
		QPS:   -1,
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
	options := Options{Sessions: sessions, Log: logr.Discard(), PollInterval: 3 * time.Millisecond, CreateTimeout: 20 * time.Second, DeleteTimeout: 20 * time.Second}
	if len(wrap) > 0 {
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

func (s *testCloud) spec() v1alpha1.MachineProviderConfigSpec {
	return v1alpha1.MachineProviderConfigSpec{
		ImageName: "gardenlinux", Region: fake.DefaultRegion, AvailabilityZone: "zone-a", FlavorName: "m1.large", KeyName: technicalID,
		SecurityGroups: []string{technicalID}, Tags: map[string]string{clusterTag: "1", roleTag: "1", "team": "blue"},
		NetworkID: s.network, SubnetIDs: []string{s.subnet}, PodNetworkCIDRs: []string{"100.64.0.0/13", "100.80.0.0/13"},
	}
}

// withAllFeatures sets all fields of a class.
func (s *testCloud) withAllFeatures(spec *v1alpha1.MachineProviderConfigSpec) {
	spec.NetworkID = ""
	spec.Networks = []v1alpha1.Network{{ID: s.network, PodNetwork: true}, {Name: "storage"}}
	spec.RootDiskSize, spec.RootDiskType = 50, new("__DEFAULT__")
	spec.DataVolumes = []v1alpha1.DataVolume{{Name: "a", Size: 10}, {Name: "b", Size: 20}}
	spec.UseConfigDrive = new(true)
}

// testMachine is one Machine with its class and secret.
type testMachine struct {
	machine *machinev1alpha1.Machine
	class   *machinev1alpha1.MachineClass
	secret  *corev1.Secret
}

func (s *testCloud) newMachine(name string, edits ...func(*v1alpha1.MachineProviderConfigSpec)) *testMachine {
	spec := s.spec()
	for _, edit := range edits {
		edit(&spec)
	}
	return newTestMachine(name, spec, map[string]string{
		"authURL": s.cloud.AuthURL(), "domainName": fake.DefaultDomain, "tenantName": fake.DefaultProject,
		"username": fake.DefaultUser, "password": fake.DefaultPassword,
	})
}

// newTestMachine returns a machine of an account.
func newTestMachine(name string, spec v1alpha1.MachineProviderConfigSpec, account map[string]string) *testMachine {
	config := v1alpha1.NewMachineProviderConfig()
	config.Spec = spec
	raw, err := v1alpha1.Encode(config)
	if err != nil {
		raw = nil // and the driver reports it
	}
	secret := &corev1.Secret{Data: map[string][]byte{"userData": []byte("#!/bin/true")}}
	for key, value := range account {
		secret.Data[key] = []byte(value)
	}
	return &testMachine{
		machine: &machinev1alpha1.Machine{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name)}},
		class: &machinev1alpha1.MachineClass{
			ObjectMeta: metav1.ObjectMeta{Name: technicalID + "-cpu-z1-5d9f8"}, Provider: v1alpha1.Provider, ProviderSpec: *raw,
		},
		secret: secret,
	}
}

// create creates a machine as MCM does: it requests the status, and the creation if that is not found.
func (o *testMachine) create(ctx context.Context, d driver.Driver) error {
	found, err := d.GetMachineStatus(ctx, &driver.GetMachineStatusRequest{Machine: o.machine, MachineClass: o.class, Secret: o.secret})
	if err == nil {
		o.machine.Spec.ProviderID = found.ProviderID
		return nil
	}
	if code(err) != codes.NotFound || o.machine.Spec.ProviderID != "" {
		return err
	}
	created, err := d.CreateMachine(ctx, &driver.CreateMachineRequest{Machine: o.machine, MachineClass: o.class, Secret: o.secret})
	if err == nil {
		o.machine.Spec.ProviderID = created.ProviderID
	}
	return err
}

func (o *testMachine) delete(ctx context.Context, d driver.Driver) error {
	_, err := d.DeleteMachine(ctx, &driver.DeleteMachineRequest{Machine: o.machine, MachineClass: o.class, Secret: o.secret})
	return err
}

// deleteOrphans deletes servers without a Machine as MCM does.
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
