package aws

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

const (
	callList  = "ec2 POST DescribeInstances"
	callRun   = "ec2 POST RunInstances"
	callCheck = "ec2 POST ModifyNetworkInterfaceAttribute"
	callImage = "ec2 POST DescribeImages"
	callEnd   = "ec2 POST TerminateInstances"
)

func (s *testCloud) calls() []string {
	var names []string
	for _, call := range s.cloud.Log() {
		names = append(names, call.Name())
	}
	return names
}

func TestDriver_CallsForOneMachine(t *testing.T) {
	s := startCloud(t)
	for _, kind := range []string{fake.InstanceStart, fake.InstanceTerminate} {
		s.cloud.SetTransition(kind, fake.Transition{After: time.Nanosecond}) // before the next call
	}
	p := s.process()
	require.NoError(t, s.newMachine(machineName).create(t.Context(), p))
	require.Equal(t, []string{callList, callImage, callRun, callList, callCheck}, s.calls())

	s.cloud.ResetLog()
	o := s.newMachine(machineName + "-next")
	require.NoError(t, o.create(t.Context(), p))
	require.Equal(t, []string{callList, callRun, callList, callCheck}, s.calls(), "status look-up, instance, one poll, source/destination check")

	s.cloud.ResetLog()
	require.NoError(t, o.create(t.Context(), p))
	require.Equal(t, []string{callList}, s.calls(), "nothing is to do")

	s.cloud.ResetLog()
	require.NoError(t, o.delete(t.Context(), p))
	require.Equal(t, []string{callList, callEnd, callList}, s.calls())
}

// TestDriver_CallsFor100Machines checks the driver's budget: no login, a few look-ups and polls for all machines, and for each machine its instance and the
// source/destination check of its interface.
func TestDriver_CallsFor100Machines(t *testing.T) {
	const machines = 100
	s := startCloud(t, fake.WithLatency(5*time.Millisecond))
	s.cloud.SetTransition(fake.InstanceStart, fake.Transition{After: 200 * time.Millisecond})
	s.cloud.SetTransition(fake.InstanceTerminate, fake.Transition{After: 100 * time.Millisecond})
	p := s.process()
	p.options.PollInterval = 100 * time.Millisecond
	testMachines := make([]*testMachine, machines)
	for i := range testMachines {
		testMachines[i] = s.newMachine(fmt.Sprintf("%s-cpu-z1-5d9f8-%05d", technicalID, i))
	}
	all := func(do func(*testMachine) error) wire.Calls {
		s.cloud.ResetLog()
		var group sync.WaitGroup
		for _, o := range testMachines {
			group.Go(func() {
				if err := do(o); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		return s.cloud.Log()
	}

	started := time.Now()
	calls := all(func(o *testMachine) error { return o.create(t.Context(), p) })
	t.Logf("creating %d machines: %d calls, %.2f per machine\n%s", machines, len(calls), float64(len(calls))/machines, calls.Summary())
	instances, err := s.instances(t.Context())
	require.NoError(t, err)
	require.Len(t, instances, machines)
	require.Zero(t, calls.Logins())
	count := calls.Count()
	require.Equal(t, machines, count[callRun])
	require.Equal(t, machines, count[callCheck])
	require.Equal(t, 1, count[callImage])
	require.LessOrEqual(t, 2*machines, SessionBurst, "two waves of 50 machines pass the rate limiter at once")
	// Two look-ups, the first polls, and one poll in half of an interval. On a busy machine that takes longer.
	require.LessOrEqual(t, count[callList], 12+int(time.Since(started)/(p.options.PollInterval/2)))
	require.ElementsMatch(t, []string{callList, callRun, callCheck, callImage}, slices.Collect(maps.Keys(count)), "nothing else is called")

	calls = all(func(o *testMachine) error { return o.create(t.Context(), p) })
	t.Logf("looking at them: %d calls\n%s", len(calls), calls.Summary())
	require.LessOrEqual(t, len(calls), 10)

	started = time.Now()
	calls = all(func(o *testMachine) error { return o.delete(t.Context(), p) })
	t.Logf("deleting them: %d calls, %.2f per machine\n%s", len(calls), float64(len(calls))/machines, calls.Summary())
	require.LessOrEqual(t, len(calls), machines+20+int(time.Since(started)/(p.options.PollInterval/2)), "a machine costs the end of its instance")
	require.NotContains(t, strings.Join(s.cloud.Resources(), " "), " i-")
}

// TestDriver_LaunchRate checks that instances are requested as EC2 accepts it.
func TestDriver_LaunchRate(t *testing.T) {
	s := startCloud(t)
	p := s.process()
	p.options.launches = 50
	started := time.Now()
	const more = 10
	var group sync.WaitGroup
	for i := range launchBurst + more {
		group.Go(func() {
			if err := s.newMachine(fmt.Sprint(machineName, i)).create(t.Context(), p); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	require.GreaterOrEqual(t, time.Since(started), more*time.Second/50)
}
