package aws

import (
	"context"
	"testing"
	"time"

	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/codes"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/apis/aws/machine/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	cloudaws "github.com/trellis-garden/trellis/internal/cloud/aws"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

func TestIsBadRequest(t *testing.T) {
	for status, want := range map[int]bool{400: true, 418: false, 500: false} {
		require.Equal(t, want, isBadRequest(cloud.Errorf(cloud.Unknown, "x: %w", &cloudaws.ResponseError{Status: status})), status)
	}
	require.False(t, isBadRequest(context.Canceled))
}

// TestCreateMachine_Refused lets the cloud refuse creations, and checks that no resource is left.
func TestCreateMachine_Refused(t *testing.T) {
	refused := func(status int, code string) func(*testCloud) {
		return func(s *testCloud) {
			s.cloud.Inject(wire.Fault{Match: wire.Match{Path: "RunInstances"}, Times: -1, Status: status, Type: code, Message: "It is so"})
		}
	}
	quota := func(name string) func(*testCloud) { return func(s *testCloud) { s.cloud.SetQuota(name, 0) } }
	for sentence, test := range map[string]struct {
		given    func(*testCloud)
		edit     func(*v1alpha1.ProviderSpec)
		want     codes.Code
		wantText string
	}{
		"the quota of instances is used up": {given: quota(fake.QuotaInstances), want: codes.ResourceExhausted, wantText: "raise the quota"},
		"the quota of vCPUs is used up":     {given: quota(fake.QuotaVCPUs), want: codes.ResourceExhausted, wantText: "vCPU"},
		"the zone has no hardware":          {given: quota(fake.QuotaCapacity("eu-west-1a")), want: codes.ResourceExhausted, wantText: "another machine type or zone"},
		"the zone does not have the type":   {given: refused(400, "Unsupported"), want: codes.ResourceExhausted, wantText: "It is so"},
		"a reservation is used up":          {given: refused(400, "ReservationCapacityExceeded"), want: codes.ResourceExhausted, wantText: "It is so"},
		"the price is too low":              {given: refused(400, "SpotMaxPriceTooLow"), want: codes.ResourceExhausted, wantText: "It is so"},
		"there are too many requests":       {given: refused(503, "RequestLimitExceeded"), want: codes.Unavailable, wantText: "RequestLimitExceeded"},
		"the cloud is down":                 {given: refused(503, "Unavailable"), want: codes.Unavailable, wantText: "Unavailable"},
		"a permission is missing":           {given: refused(403, "UnauthorizedOperation"), want: codes.PermissionDenied, wantText: "policies"},
		"the key is revoked":                {given: refused(401, "AuthFailure"), want: codes.Unauthenticated, wantText: "AuthFailure"},
		"the type does not exist":           {given: refused(400, "InvalidInstanceType"), want: codes.InvalidArgument, wantText: "change the pool"},
		"the image does not exist": {
			edit: func(s *v1alpha1.ProviderSpec) { s.AMI = "ami-1" }, want: codes.InvalidArgument, wantText: "looking up image ami-1",
		},
		"the subnet does not exist": {
			edit: func(s *v1alpha1.ProviderSpec) { s.NetworkInterfaces[0].SubnetID = "subnet-1" }, want: codes.InvalidArgument, wantText: "subnet-1",
		},
		"the key pair does not exist": {
			edit: func(s *v1alpha1.ProviderSpec) { s.KeyName = new("lost") }, want: codes.InvalidArgument, wantText: "lost",
		},
		"the instance profile does not exist": {
			edit: func(s *v1alpha1.ProviderSpec) { s.IAM.Name = "lost" }, want: codes.InvalidArgument, wantText: "lost",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := startCloud(t)
			before := s.cloud.Resources()
			if test.edit == nil {
				test.edit = func(*v1alpha1.ProviderSpec) {}
			}
			if test.given != nil {
				test.given(s)
			}
			err := s.newMachine(machineName, test.edit).create(t.Context(), s.process())
			require.Equal(t, test.want, code(err), "%v", err)
			require.ErrorContains(t, err, test.wantText)
			require.ErrorContains(t, err, machineName)
			require.Equal(t, before, s.cloud.Resources())
		})
	}
}

// TestCreateMachine_SlowStart returns an instance that does not start, but has a name: MCM must know it before its Node registers.
func TestCreateMachine_SlowStart(t *testing.T) {
	s := startCloud(t)
	s.cloud.SetTransition(fake.InstanceStart, fake.Transition{After: time.Hour})
	o, p := s.newMachine(machineName), s.process()
	p.options.launchTimeout = 50 * time.Millisecond
	require.NoError(t, o.create(t.Context(), p))
	require.NoError(t, o.create(t.Context(), p), "it is known, although it has not started")
	require.NoError(t, o.delete(t.Context(), p))
}

func TestDriver_Close(t *testing.T) {
	s := startCloud(t)
	reached, release := make(chan struct{}), make(chan struct{})
	s.cloud.SetHook(func(event wire.Event) wire.HookResult {
		if event.Phase == wire.Before && event.Call.Path == "RunInstances" {
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
	count := func() int {
		return len(s.cloud.Log().Where(func(c wire.Call) bool { return c.Path == "RunInstances" }))
	}
	require.Equal(t, 1, count())
	o := s.newMachine(machineName + "-later")
	go func() { _ = o.create(context.Background(), p) }()
	require.Never(t, func() bool { return count() > 1 }, 100*time.Millisecond, 10*time.Millisecond)
}
