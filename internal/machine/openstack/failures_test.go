package openstack

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gardener/machine-controller-manager/pkg/util/provider/driver"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/codes"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/trellis-garden/trellis/apis/openstack/machine/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
	machineprocess "github.com/trellis-garden/trellis/internal/machine"
)

func TestIsBadRequest(t *testing.T) {
	for status, want := range map[int]bool{400: true, 422: true, 418: false, 500: false} {
		refused := cloud.Errorf(cloud.Unknown, "x: %w", &cloudopenstack.ResponseError{Status: status})
		require.Equal(t, want, isBadRequest(refused), status)
	}
	require.False(t, isBadRequest(errors.New("x")))
}

// TestCreateMachine_Refused lets the cloud refuse creations, and checks that no resource is left.
func TestCreateMachine_Refused(t *testing.T) {
	quota := func(resource string) func(*testing.T, *testCloud) {
		return func(t *testing.T, s *testCloud) {
			t.Helper()
			require.NoError(t, s.cloud.SetQuota(fake.DefaultProject, resource, 0))
		}
	}
	nothing := func(*testing.T, *testCloud) {}
	for sentence, test := range map[string]struct {
		given    func(*testing.T, *testCloud)
		edit     func(*v1alpha1.MachineProviderConfigSpec)
		want     codes.Code
		wantText string
	}{
		"the quota of cores is used up":     {given: quota("cores"), want: codes.ResourceExhausted, wantText: "cores"},
		"the quota of instances is used up": {given: quota("instances"), want: codes.ResourceExhausted, wantText: "raise the project's quota"},
		"the quota of ports is used up":     {given: quota("port"), want: codes.ResourceExhausted, wantText: "port"},
		"no address is free": {given: func(t *testing.T, s *testCloud) {
			t.Helper()
			require.NoError(t, s.cloud.ExhaustSubnet(s.subnet, true))
		}, want: codes.ResourceExhausted, wantText: machineName},
		"no host has capacity": {given: func(_ *testing.T, s *testCloud) {
			s.cloud.SetTransition(fake.ServerBuild, fake.Transition{Polls: 1, Fail: true})
		}, want: codes.ResourceExhausted, wantText: "No valid host"},
		"the permission is missing": {given: func(_ *testing.T, s *testCloud) {
			s.cloud.Inject(wire.Fault{Match: wire.Match{Service: services.Nova, Method: "POST"}, Times: -1, Status: 403})
		}, want: codes.PermissionDenied, wantText: "role"},
		"the cloud is down": {given: func(_ *testing.T, s *testCloud) {
			s.cloud.Inject(wire.Fault{Match: wire.Match{Service: services.Nova}, Times: -1, Status: 503})
		}, want: codes.Unavailable, wantText: "503"},
		"the flavor does not exist": {
			given: nothing, want: codes.ResourceExhausted, wantText: `no flavor "huge" in this region`,
			edit: func(spec *v1alpha1.MachineProviderConfigSpec) { spec.FlavorName = "huge" },
		},
		"the image does not exist": {
			given: nothing, want: codes.InvalidArgument, wantText: `no image "windows"`,
			edit: func(spec *v1alpha1.MachineProviderConfigSpec) { spec.ImageName = "windows" },
		},
		"the image ID does not exist": {
			given: nothing, want: codes.InvalidArgument, wantText: "image",
			edit: func(spec *v1alpha1.MachineProviderConfigSpec) {
				spec.ImageID = "8f0a5b5e-0000-4000-8000-000000000000"
			},
		},
		"the security group does not exist": {
			given: nothing, want: codes.InvalidArgument, wantText: `no security group "open"`,
			edit: func(spec *v1alpha1.MachineProviderConfigSpec) { spec.SecurityGroups = []string{"open"} },
		},
		"the network does not exist": {
			given: nothing, want: codes.InvalidArgument, wantText: "network",
			edit: func(spec *v1alpha1.MachineProviderConfigSpec) {
				spec.NetworkID, spec.SubnetIDs = "8f0a5b5e-0000-4000-8000-000000000000", nil
			},
		},
		"the zone does not exist": {
			given: nothing, want: codes.InvalidArgument, wantText: "availability zone",
			edit: func(spec *v1alpha1.MachineProviderConfigSpec) { spec.AvailabilityZone = "zone-z" },
		},
		"the server group does not exist": {
			given: nothing, want: codes.InvalidArgument, wantText: "group",
			edit: func(spec *v1alpha1.MachineProviderConfigSpec) {
				spec.ServerGroupID = new("8f0a5b5e-0000-4000-8000-000000000000")
			},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := startCloud(t)
			before := s.cloud.State(fake.DefaultProject)
			if test.edit == nil {
				test.edit = func(*v1alpha1.MachineProviderConfigSpec) {}
			}
			test.given(t, s)
			p, o := s.process(), s.newMachine(machineName, test.edit)
			err := o.create(t.Context(), p)
			t.Log(err)
			require.Equal(t, test.want, code(err))
			require.ErrorContains(t, err, test.wantText)
			require.ErrorContains(t, err, machineName)
			created, _ := fake.Diff(before, s.cloud.State(fake.DefaultProject))
			require.Empty(t, created)
		})
	}
}

func TestFailureReason(t *testing.T) {
	for sentence, test := range map[string]struct {
		server cloudopenstack.Server
		want   codes.Code
	}{
		"no host":                            {cloudopenstack.Server{Fault: &cloudopenstack.ServerFault{Code: 500, Message: "No valid host"}}, codes.ResourceExhausted},
		"no fault":                           {cloudopenstack.Server{}, codes.ResourceExhausted},
		"a quota":                            {cloudopenstack.Server{HostID: "h", Fault: &cloudopenstack.ServerFault{Code: 403}}, codes.ResourceExhausted},
		"a quota with the older status code": {cloudopenstack.Server{HostID: "h", Fault: &cloudopenstack.ServerFault{Code: 413}}, codes.ResourceExhausted},
		"the host":                           {cloudopenstack.Server{HostID: "h", Fault: &cloudopenstack.ServerFault{Code: 500}}, codes.Internal},
	} {
		require.Equal(t, test.want, translate().Code(failureReason(test.server)), sentence)
	}
}

func TestCreateMachine_BuildTimeout(t *testing.T) {
	s := startCloud(t)
	s.cloud.SetTransition(fake.ServerBuild, fake.Transition{After: time.Hour})
	p, o := s.process(), s.newMachine(machineName)
	p.options.CreateTimeout = 3 * time.Second // long enough for the request of the server, also on a busy machine
	err := o.create(t.Context(), p)
	require.Equal(t, codes.DeadlineExceeded, code(err))
	require.ErrorContains(t, err, "still being built")
	require.Len(t, s.cloud.State(fake.DefaultProject).Servers, 1)
	require.NoError(t, o.delete(t.Context(), p))
	require.Empty(t, s.cloud.State(fake.DefaultProject).Ports)
}

func TestDeleteMachine_Failed(t *testing.T) {
	s := startCloud(t)
	p, o := s.process(), s.newMachine(machineName)
	require.NoError(t, o.create(t.Context(), p))
	s.cloud.SetTransition(fake.ServerDelete, fake.Transition{Polls: 1, Fail: true})
	err := o.delete(t.Context(), p)
	require.Equal(t, codes.Aborted, code(err))
	require.ErrorContains(t, err, "could not be destroyed")
	s.cloud.SetTransition(fake.ServerDelete, fake.Transition{Polls: 1})
	require.NoError(t, o.delete(t.Context(), p))
	require.Empty(t, s.cloud.State(fake.DefaultProject).Ports)
}

func TestWaitForServer_FailedPolls(t *testing.T) {
	for failures, want := range map[int]codes.Code{2 * machineprocess.MaxFailedPolls: codes.OK, 2*machineprocess.MaxFailedPolls + 2: codes.Unavailable} {
		s := startCloud(t)
		polls := wire.Match{Service: services.Nova, Method: "GET", Path: "/v2.1/servers/detail"}
		s.cloud.Inject(wire.Fault{Match: polls, Skip: 1, Times: failures, Status: 503}) // the session repeats the request
		require.Equal(t, want, code(s.newMachine(machineName).create(t.Context(), s.process())), failures)
		require.Len(t, s.cloud.State(fake.DefaultProject).Servers, 1)
	}
}

func TestCreateMachine_SecurityGroupReplaced(t *testing.T) {
	s := startCloud(t)
	p := s.process()
	require.NoError(t, s.newMachine(machineName).create(t.Context(), p))
	_, err := s.cloud.DoAsOperator(fake.DefaultProject, "PUT", "neutron", "/v2.0/security-groups/"+s.security, fake.Attrs{"security_group": fake.Attrs{"name": "old"}})
	require.NoError(t, err)
	_, err = s.cloud.CreateResource(fake.DefaultProject, "security-groups", fake.Attrs{"name": technicalID})
	require.NoError(t, err)
	require.NoError(t, s.newMachine(machineName).delete(t.Context(), p))
	_, err = s.cloud.DoAsOperator(fake.DefaultProject, "DELETE", "neutron", "/v2.0/security-groups/"+s.security, nil)
	require.NoError(t, err)
	require.NoError(t, s.newMachine(machineName).create(t.Context(), p), "no user can mend that an ID is minutes old")
}

func TestDriver_Close(t *testing.T) {
	s := startCloud(t)
	reached, release := make(chan struct{}), make(chan struct{})
	s.cloud.SetHook(func(event wire.Event) wire.HookResult {
		if event.Phase == wire.Before && event.Call.Name() == "nova POST /v2.1/servers" {
			close(reached)
			<-release
		}
		return wire.Proceed
	})
	p := s.process()
	go func() { _ = s.newMachine(machineName).create(context.Background(), p) }()
	<-reached
	shortCtx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, p.Close(shortCtx), context.DeadlineExceeded)
	close(release)
	require.NoError(t, p.Close(t.Context()))
	require.Len(t, s.cloud.State(fake.DefaultProject).Servers, 1, "what was under way has come to its end")
	o := s.newMachine(machineName + "-later")
	go func() { _ = o.create(context.Background(), p) }()
	require.Never(t, func() bool { return len(s.cloud.State(fake.DefaultProject).Ports) > 1 }, 100*time.Millisecond, 10*time.Millisecond)
}

func TestGetVolumeIDs(t *testing.T) {
	response, err := startCloud(t).process().GetVolumeIDs(t.Context(), &driver.GetVolumeIDsRequest{PVSpecs: []*corev1.PersistentVolumeSpec{
		{PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: cinderCSI, VolumeHandle: "a"}}},
		{PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "nfs", VolumeHandle: "b"}}},
		{PersistentVolumeSource: corev1.PersistentVolumeSource{Cinder: &corev1.CinderPersistentVolumeSource{VolumeID: "c"}}},
		{},
	}})
	require.NoError(t, err)
	require.Equal(t, []string{"a", "c"}, response.VolumeIDs)
}
