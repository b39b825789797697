package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/trellis-garden/trellis/e2e/internal/fleet"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/e2e/internal/terminal"
)

const (
	// replicas of each controller run.
	replicas = 2
	// latency is how long each call to the cloud takes.
	latency = 20 * time.Millisecond
	// machines is the size of a shoot's pool.
	machines = 2
	// convergeTimeout bounds how long shoots may take to become healthy after the last fault. The longest pause between two attempts is five minutes.
	convergeTimeout = 20 * time.Minute
	// prepareTimeout bounds the start, and the creation and deletion of all shoots without faults.
	prepareTimeout = 30 * time.Minute
)

// options are the flags.
type options struct {
	shoots   int
	duration time.Duration
	rounds   int
	seed     uint64
}

// check returns an error if flags or arguments are invalid.
func (o options) check(arguments []string) error {
	switch {
	case len(arguments) > 0:
		return fmt.Errorf("%q: arguments without a flag are not allowed", arguments[0])
	case o.shoots < 1:
		return fmt.Errorf("--shoots: %d; give 1 or more", o.shoots)
	case o.rounds < 0:
		return fmt.Errorf("--rounds: %d; give 0 for a duration, or a number of rounds", o.rounds)
	case o.rounds == 0 && o.duration <= 0:
		return fmt.Errorf("--duration: %s; give a positive duration, such as 10m", o.duration)
	default:
		return nil
	}
}

// soak is one run.
type soak struct {
	*fleet.Fleet
	cloud   *openstack.Cloud
	screen  *terminal.Screen
	options options
	random  *rand.Rand
	traffic *traffic
	// counts says how often each kind of fault was caused.
	counts map[string]int
}

func run(ctx context.Context, screen *terminal.Screen, o options) (err error) {
	screen.Heading(fmt.Sprintf("Trellis: %d shoots under faults; --seed %d repeats the order", o.shoots, o.seed))
	s := &soak{screen: screen, options: o, random: rand.New(rand.NewPCG(o.seed, o.seed)), counts: map[string]int{}}
	err = s.step(ctx, "fleet", prepareTimeout, func(ctx context.Context, progress io.Writer) (_ string, err error) {
		s.Fleet, err = fleet.New(ctx, fleet.Options{
			Shoots: o.shoots, Cloud: openstack.FakeReady(latency), Replicas: replicas, Profiles: true,
			Workers: []gardencorev1beta1.Worker{openstack.NewPool("cpu", machines, machines)},
		}, progress)
		return "API server with Gardener's CRDs, a fake cloud", err
	})
	if err != nil {
		return err
	}
	s.cloud, _ = s.Cloud.(*openstack.Cloud)
	s.traffic = newTraffic(s.Shoots, s.random)
	defer func() {
		err = errors.Join(err, s.Close())
	}()
	return s.live(ctx)
}

// live leads the shoots from their creation through both halves to their deletion.
func (s *soak) live(ctx context.Context) error {
	if err := s.step(ctx, "controllers", prepareTimeout, func(ctx context.Context, _ io.Writer) (string, error) {
		return fmt.Sprintf("%d replicas of each", replicas), s.StartControllers(ctx)
	}); err != nil {
		return err
	}
	if err := s.step(ctx, "shoots", prepareTimeout, func(ctx context.Context, _ io.Writer) (string, error) {
		return "all are healthy", errors.Join(s.Prepare(ctx), s.Create(ctx))
	}); err != nil {
		return err
	}
	before, err := s.inventory(ctx)
	if err != nil {
		return err
	}
	if err := s.half(ctx, "first half", faults()); err != nil {
		return err
	}
	middle, err := s.settle(ctx, before)
	if err != nil {
		return err
	}
	if err := s.half(ctx, "second half", withoutKills(faults())); err != nil {
		return err
	}
	end, err := s.settle(ctx, before)
	if err != nil {
		return err
	}
	growth := s.compareLive(middle, end)
	return errors.Join(growth, s.step(ctx, "deletion", prepareTimeout, func(ctx context.Context, _ io.Writer) (string, error) {
		if err := s.Delete(ctx); err != nil {
			return "", err
		}
		return "nothing is left in the seed and in the cloud", s.removeAccounts(ctx)
	}))
}

// half causes faults for half of the duration, or all of them in each of the rounds.
func (s *soak) half(ctx context.Context, name string, all []fault) error {
	deadline := time.Now().Add(s.options.duration / 2)
	s.screen.Heading(name)
	for round := 0; ; round++ {
		for _, i := range s.random.Perm(len(all)) {
			if s.options.rounds == 0 && !time.Now().Before(deadline) {
				return nil
			}
			if err := s.cause(ctx, all[i]); err != nil {
				return fmt.Errorf("causing %s: %w", all[i].name, err)
			}
		}
		if s.options.rounds > 0 && round+1 == s.options.rounds {
			return nil
		}
	}
}

// cause causes a fault while some shoots are reconciled, or deleted and created again.
func (s *soak) cause(ctx context.Context, f fault) error {
	s.counts[f.name]++
	s.traffic.start(ctx)
	return s.screen.Step(f.name, func(io.Writer) (string, error) {
		detail, err := f.cause(ctx, s)
		if err != nil {
			return "", err
		}
		if err := s.supervise(ctx); err != nil {
			return "", err
		}
		healthy, _ := s.Converged(ctx)
		return fmt.Sprintf("%s; %d of %d shoots healthy, %d in flows", detail, healthy, len(s.Shoots), s.traffic.running()), nil
	})
}

// settle removes all faults, and waits until all shoots are healthy. The cloud must have what it had at the start.
func (s *soak) settle(ctx context.Context, before inventory) (map[string]fleet.Live, error) {
	var live map[string]fleet.Live
	return live, s.step(ctx, "converged", convergeTimeout, func(ctx context.Context, _ io.Writer) (string, error) {
		s.cloud.ClearFaults()
		s.cloud.Fake.SetClockOffset(0)
		start := time.Now()
		if err := s.awaitTraffic(ctx); err != nil {
			return "", err
		}
		// One more request for each shoot, so that all controllers have seen all of them since the last fault.
		if err := s.Reconcile(ctx); err != nil {
			return "", err
		}
		took := time.Since(start)
		if _, err := s.AwaitQuiet(ctx); err != nil {
			return "", err
		}
		now, err := s.inventory(ctx)
		if err != nil {
			return "", err
		}
		if err := before.compare(now); err != nil {
			return "", err
		}
		live, err = s.readLive(ctx)
		return fmt.Sprintf("%d shoots in %.1f s after the last fault; the cloud has what it had at the start", len(s.Shoots), took.Seconds()), err
	})
}

// awaitTraffic waits for the end of all flows.
func (s *soak) awaitTraffic(ctx context.Context) error {
	for ended := s.traffic.ended(); ; {
		select {
		case <-ended:
			return s.traffic.errors()
		case <-ctx.Done():
			<-ended // the flows end with the context
			return errors.Join(context.Cause(ctx), s.traffic.errors())
		case <-time.After(time.Second):
			if err := s.supervise(ctx); err != nil {
				return err
			}
		}
	}
}

// supervise starts controllers again that have ended since the API server was away for longer than their Leases.
func (s *soak) supervise(ctx context.Context) error {
	restarted, err := s.Supervise(ctx)
	if restarted > 0 {
		s.counts["a process started again after the loss of its Lease"] += restarted
	}
	return err
}

// step runs a step within a time, and prints it.
func (s *soak) step(ctx context.Context, name string, timeout time.Duration, do func(context.Context, io.Writer) (string, error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("%s took longer than %s", name, timeout))
	defer cancel()
	return s.screen.Step(name, func(progress io.Writer) (string, error) { return do(ctx, progress) })
}
