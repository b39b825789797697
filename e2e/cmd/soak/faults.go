package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/fleet"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// fault is a kind of fault. When cause returns, it is over, or lasts without harm.
type fault struct {
	name string
	// kills is true if processes of ours are killed.
	kills bool
	// cause returns what was done.
	cause func(context.Context, *soak) (detail string, err error)
}

func faults() []fault {
	return []fault{
		{name: "API server", cause: restartAPIServer},
		{name: "429", cause: overloadCloud},
		{name: "5xx", cause: failCloud},
		{name: "lost answers", cause: loseAnswers},
		{name: "tokens", cause: expireTokens},
		{name: "leader", kills: true, cause: killLeader},
		{name: "cloud's clock", cause: setCloudClock},
		{name: "our clocks", cause: setGardenletClock},
		{name: "Lease clock", cause: setLeaseClock},
	}
}

func withoutKills(all []fault) []fault {
	var some []fault
	for _, f := range all {
		if !f.kills {
			some = append(some, f)
		}
	}
	return some
}

// between returns a random duration.
func (s *soak) between(least, most time.Duration) time.Duration {
	return least + time.Duration(s.random.Int64N(int64(most-least)))
}

// restartAPIServer kills the seed's API server, and starts it again after a while.
func restartAPIServer(ctx context.Context, s *soak) (string, error) {
	down := s.between(0, 5*time.Second)
	if err := s.Seed.KillAPIServer(); err != nil {
		return "", err
	}
	if err := fleet.Sleep(ctx, down); err != nil {
		return "", err
	}
	return fmt.Sprintf("killed, started again %.1f s later", down.Seconds()), s.Seed.StartAPIServer()
}

const (
	// stormTimeout bounds how long a storm waits for the first call.
	stormTimeout = 20 * time.Second
	// stormInterval is how often it looks.
	stormInterval = 100 * time.Millisecond
)

// storm makes calls of the cloud fail for a while.
func storm(ctx context.Context, s *soak, all ...wire.Fault) (calls int, took time.Duration, err error) {
	took = s.between(2*time.Second, 10*time.Second)
	var applied []func() int
	for _, f := range all {
		f.Times = -1
		applied = append(applied, s.cloud.Inject(f))
	}
	defer s.cloud.ClearFaults()
	start := time.Now()
	count := func() (sum int) {
		for _, n := range applied {
			sum += n()
		}
		return sum
	}
	// A storm that nothing meets is none. If all flows wait for something else, there may be no call for long.
	for err == nil && (time.Since(start) < took || count() == 0 && time.Since(start) < stormTimeout) {
		err = fleet.Sleep(ctx, stormInterval)
	}
	return count(), time.Since(start), err
}

// overloadCloud makes all calls fail with 429, as at the rate limit of a cloud.
func overloadCloud(ctx context.Context, s *soak) (string, error) {
	calls, took, err := storm(ctx, s, wire.Fault{Status: http.StatusTooManyRequests, RetryAfter: time.Second})
	return fmt.Sprintf("%d calls in %.1f s", calls, took.Seconds()), err
}

// failCloud makes reads fail with 503, and writes with 504 although they took effect, as by a load balancer in front of a slow service.
func failCloud(ctx context.Context, s *soak) (string, error) {
	calls, took, err := storm(ctx, s,
		wire.Fault{Match: wire.Match{WritesOnly: true}, Status: http.StatusGatewayTimeout, AfterEffect: true},
		wire.Fault{Match: wire.Match{Method: http.MethodGet}, Status: http.StatusServiceUnavailable})
	return fmt.Sprintf("%d calls in %.1f s", calls, took.Seconds()), err
}

// loseAnswers drops connections after the effect of calls.
func loseAnswers(ctx context.Context, s *soak) (string, error) {
	calls, took, err := storm(ctx, s, wire.Fault{Drop: wire.DropAfter})
	return fmt.Sprintf("%d calls in %.1f s", calls, took.Seconds()), err
}

// expireTokens makes all tokens of the cloud invalid before the time that their logins have named.
func expireTokens(ctx context.Context, s *soak) (string, error) {
	s.cloud.Fake.RevokeTokens()
	return "all are invalid", fleet.Sleep(ctx, s.between(time.Second, 3*time.Second))
}

// killLeader kills the leading replica of a controller, and starts a new one once another one leads.
func killLeader(ctx context.Context, s *soak) (string, error) {
	c := s.Controllers[s.random.IntN(len(s.Controllers))]
	if err := s.AwaitLeader(ctx, c); err != nil { // one that has lost its Lease may just have ended
		return "", err
	}
	i, err := c.KillLeader(ctx)
	if err != nil {
		return "", err
	}
	start := time.Now()
	if err := s.AwaitLeader(ctx, c); err != nil {
		return "", err
	}
	took := time.Since(start)
	return fmt.Sprintf("of %s, another one led after %.1f s", c.Name(), took.Seconds()), s.StartReplica(ctx, c, i)
}

// setCloudClock makes the cloud's clock differ by up to two days, until it is set again: the times of tokens, and of all resources. If it is set to a
// later time, all tokens expire.
func setCloudClock(ctx context.Context, s *soak) (string, error) {
	offset := s.between(-48*time.Hour, 48*time.Hour).Round(time.Minute)
	s.cloud.Fake.SetClockOffset(offset)
	return fmt.Sprintf("differs by %s", offset), fleet.Sleep(ctx, s.between(time.Second, 3*time.Second))
}

// setGardenletClock makes gardenlet's clock differ from the controllers' in requests of some shoots.
func setGardenletClock(ctx context.Context, s *soak) (string, error) {
	offset := s.between(-time.Hour, time.Hour).Round(time.Second)
	n := s.traffic.startAt(ctx, offset)
	return fmt.Sprintf("in %d requests, gardenlet's differs by %s", n, offset), fleet.Sleep(ctx, s.between(time.Second, 3*time.Second))
}

// setLeaseClock writes the times of the clock of a leader that differs into a Lease.
func setLeaseClock(ctx context.Context, s *soak) (string, error) {
	c := s.Controllers[s.random.IntN(len(s.Controllers))]
	offset := s.between(-48*time.Hour, 48*time.Hour).Round(time.Minute)
	err := retry.OnError(retry.DefaultBackoff, func(error) bool { return true }, func() error {
		lease := &coordinationv1.Lease{}
		if err := s.Seed.Client.Get(ctx, client.ObjectKey{Namespace: c.Name(), Name: c.Name() + "-leader-election"}, lease); err != nil {
			return err
		}
		at := metav1.NewMicroTime(time.Now().Add(offset))
		lease.Spec.RenewTime, lease.Spec.AcquireTime = &at, &at
		return s.Seed.Client.Update(ctx, lease)
	})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("of %s differs by %s", c.Name(), offset), fleet.Sleep(ctx, s.between(time.Second, 3*time.Second))
}
