package fleet

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/process"
)

const (
	// endTimeout bounds the end of a controller.
	endTimeout = time.Minute
	// electionTimeout bounds how long the replicas of a controller have no leader, with the duration of a Lease of a killed one.
	electionTimeout = 2 * time.Minute
	// profilesVariable is the environment variable with the address of a controller's profiles.
	profilesVariable = "TRELLIS_PPROF_BIND_ADDRESS"
)

// ErrNoLeader is the error while none of the replicas leads.
var ErrNoLeader = errors.New("none of the replicas is the leader")

// Controller is the controller of a contract, of which one or more replicas run.
type Controller struct {
	// Replicas are the replicas that run, nil for one that does not.
	Replicas []*Replica

	what   controller.Binary
	binary string
	args   []string
}

// Replica is a process.
type Replica struct {
	*controller.Controller
	// ProfilesURL is the URL of the profiles, if they are served.
	ProfilesURL string
}

func controllers(replicas int) []*Controller {
	var all []*Controller
	for _, what := range []controller.Binary{controller.Infrastructure(), controller.ControlPlane(), controller.Network(), controller.Worker()} {
		all = append(all, &Controller{what: what, Replicas: make([]*Replica, replicas)})
	}
	return all
}

// AddSecondaries adds secondary controllers beside the primaries, with arguments of their own. None runs before StartControllers.
func (f *Fleet) AddSecondaries(ctx context.Context, args ...string) ([]*Controller, error) {
	var added []*Controller
	for _, primary := range []controller.Binary{controller.Infrastructure(), controller.Network(), controller.Worker()} {
		c := &Controller{what: controller.Secondary(primary), Replicas: make([]*Replica, max(f.options.Replicas, 1)), args: args}
		if err := c.build(ctx); err != nil {
			return nil, err
		}
		added = append(added, c)
	}
	f.Controllers = append(f.Controllers, added...)
	return added, nil
}

// Name is the name of the binary, and of its user.
func (c *Controller) Name() string { return c.what.Name }

// hasWebhooks reports whether the seed's API server calls the controller.
func (c *Controller) hasWebhooks() bool {
	return slices.Contains([]string{controller.ControlPlane().Name, controller.Worker().Name}, c.what.Name)
}

func (c *Controller) build(ctx context.Context) (err error) {
	c.binary, err = c.what.Build(ctx)
	return err
}

// Running returns the replicas that run.
func (c *Controller) Running() []*Replica {
	return slices.DeleteFunc(slices.Clone(c.Replicas), func(r *Replica) bool { return r == nil })
}

// Leader returns the number of the replica that leads.
func (c *Controller) Leader(ctx context.Context) (int, error) {
	for i, replica := range c.Replicas {
		if replica == nil {
			continue
		}
		metrics, err := replica.Metrics(ctx)
		if err != nil {
			continue // it is about to end, or has just been started
		}
		if metrics.Sum("leader_election_master_status") > 0 {
			return i, nil
		}
	}
	return 0, fmt.Errorf("%s: %w", c.Name(), ErrNoLeader)
}

// StartControllers starts all replicas that do not run, and waits until each of them is ready, each controller has a leader, and the API server
// calls their webhooks.
func (f *Fleet) StartControllers(ctx context.Context) error {
	var starting errgroup.Group
	for _, c := range f.Controllers {
		for i, replica := range c.Replicas {
			if replica == nil {
				starting.Go(func() error { return f.StartReplica(ctx, c, i) })
			}
		}
	}
	if err := starting.Wait(); err != nil {
		return err
	}
	for _, c := range f.Controllers {
		if err := f.AwaitLeader(ctx, c); err != nil {
			return err
		}
		if c.hasWebhooks() {
			if err := c.what.AwaitWebhooks(ctx, f.Seed.Client); err != nil {
				return err
			}
		}
	}
	return nil
}

// AwaitLeader waits until a replica leads, if there are several.
func (f *Fleet) AwaitLeader(ctx context.Context, c *Controller) error {
	if len(c.Replicas) == 1 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, electionTimeout)
	defer cancel()
	return repeat(ctx, func(ctx context.Context) error {
		_, err := c.Leader(ctx)
		return err
	})
}

// StartReplica starts a replica, and waits until it is ready.
func (f *Fleet) StartReplica(ctx context.Context, c *Controller, i int) error {
	options := controller.Options{
		Path: c.binary, Concurrency: f.options.Concurrency, LeaderElection: len(c.Replicas) > 1, LogFormat: "json", LogLevel: "info",
		Output: filepath.Join(f.dir, fmt.Sprintf("%s-%d.log", c.Name(), i)),
	}
	replica := &Replica{}
	if f.options.Profiles {
		address, err := process.FreeAddress()
		if err != nil {
			return err
		}
		options.Env, replica.ProfilesURL = []string{profilesVariable + "=" + address}, "http://"+address+"/debug/pprof"
	}
	var err error
	if c.hasWebhooks() {
		if options.Args, err = c.what.WebhookArgs(); err != nil {
			return err
		}
	}
	options.Args = append(options.Args, c.args...)
	if replica.Controller, err = f.Seed.StartController(ctx, c.what, options); err != nil {
		return err
	}
	c.Replicas[i] = replica
	return nil
}

// StopControllers terminates all replicas, which must succeed.
func (f *Fleet) StopControllers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, endTimeout)
	defer cancel()
	var all errgroup.Group
	for _, c := range f.Controllers {
		for i, replica := range c.Replicas {
			if replica == nil {
				continue
			}
			c.Replicas[i] = nil
			all.Go(func() error {
				if err := replica.Terminate(ctx); err != nil {
					return fmt.Errorf("%s: %w", c.Name(), err)
				}
				return nil
			})
		}
	}
	return all.Wait()
}

// KillLeader kills the replica that leads, and returns its number. Nothing of it remains: it saves no state and does not release its Lease.
func (c *Controller) KillLeader(ctx context.Context) (int, error) {
	i, err := c.Leader(ctx)
	if err != nil {
		return 0, err
	}
	c.Replicas[i].Kill()
	c.Replicas[i] = nil
	return i, nil
}

// leaseLost is what a controller logs when it ends since it could not renew its Lease.
const leaseLost = "leader election lost"

// Supervise starts replicas again that have ended since they could not renew their Lease, as a kubelet does, and returns how many there were. Any other
// end is an error.
func (f *Fleet) Supervise(ctx context.Context) (restarted int, err error) {
	for _, c := range f.Controllers {
		for i, replica := range c.Replicas {
			if replica == nil || !replica.hasExited() {
				continue
			}
			output, err := replica.Output()
			if err != nil {
				return restarted, err
			}
			if last := lastLines(output); !strings.Contains(last, leaseLost) {
				return restarted, fmt.Errorf("%s has ended:\n%s", c.Name(), last)
			}
			if err := f.StartReplica(ctx, c, i); err != nil {
				return restarted, err
			}
			restarted++
		}
	}
	return restarted, nil
}

func (r *Replica) hasExited() bool {
	select {
	case <-r.Exited():
		return true
	default:
		return false
	}
}

// lastLines returns the last lines of an output, in which a program says why it ends.
func lastLines(output string) string {
	const most = 5
	lines := strings.Split(strings.TrimSpace(output), "\n")
	return strings.Join(lines[max(0, len(lines)-most):], "\n")
}
