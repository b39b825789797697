package fleet

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/trellis-garden/trellis/e2e/internal/audit"
	"github.com/trellis-garden/trellis/e2e/internal/process"
)

// reconcileTime is controller-runtime's histogram. Its buckets are finer than those of our own one.
const reconcileTime = "controller_runtime_reconcile_time_seconds"

// Usage is what a controller has used since its start, over all replicas that run.
type Usage struct {
	CPU    time.Duration
	Memory process.Memory
	// Reconciliations are the durations of all reconciliations of extension objects, without checks of their health.
	Reconciliations Histogram
	// Queued is how many objects wait for a reconciliation or a check of their health, or are in one.
	Queued int
	// Reconciled counts the reconciliations that have ended.
	Reconciled int
}

// Usage reads what each controller has used, by its name. Metrics are read last, since a controller uses processor time and memory for them.
func (f *Fleet) Usage(ctx context.Context) (map[string]Usage, error) {
	usage := map[string]Usage{}
	for _, c := range f.Controllers {
		sum := Usage{Reconciliations: Histogram{}}
		for _, replica := range c.Running() {
			cpu, err := replica.CPU()
			if err != nil {
				return nil, err
			}
			memory, err := replica.Memory()
			if err != nil {
				return nil, err
			}
			metrics, err := replica.Metrics(ctx)
			if err != nil {
				return nil, err
			}
			sum.CPU += cpu
			sum.Memory.All += memory.All
			sum.Memory.Private += memory.Private
			sum.Queued += int(metrics.Sum("workqueue_depth") + metrics.Sum("controller_runtime_active_workers"))
			sum.Reconciled += int(metrics.SumOf("controller_runtime_reconcile_total", "controller", isContract))
			sum.Reconciliations = sum.Reconciliations.Plus(metrics.Histogram(reconcileTime, "controller", isContract))
		}
		usage[c.Name()] = sum
	}
	return usage, nil
}

// CPU reads the processor time of each controller since its start, over all replicas that run, by its name.
func (f *Fleet) CPU() (map[string]time.Duration, error) {
	times := map[string]time.Duration{}
	for _, c := range f.Controllers {
		for _, replica := range c.Running() {
			cpu, err := replica.CPU()
			if err != nil {
				return nil, err
			}
			times[c.Name()] += cpu
		}
	}
	return times, nil
}

// isContract reports whether a controller reconciles or observes the objects of a contract, by its name. The others check health.
func isContract(controller string) bool {
	for _, k := range kinds() {
		if strings.TrimSuffix(controller, "-observer") == k.controller {
			return true
		}
	}
	return false
}

// Requests counts the controllers' requests to the API server since the last call.
func (f *Fleet) Requests() (audit.Counts, error) { return f.log.Next() }

const (
	// quietFor is how long a queue must be empty.
	quietFor = 2 * time.Second
	// quietQueue is how many objects may be in a queue meanwhile: checks of health go on for ever.
	quietQueue = 3
)

// AwaitQuiet waits until the controllers have nothing to do but to check the health of objects again and again, and returns since when.
func (f *Fleet) AwaitQuiet(ctx context.Context) (since time.Time, err error) {
	reconciled := -1
	for since = time.Now(); time.Since(since) < quietFor; {
		select {
		case <-ctx.Done():
			return time.Time{}, fmt.Errorf("waiting until the controllers have nothing to do: %w", context.Cause(ctx))
		case <-time.After(pollInterval):
		}
		usage, err := f.Usage(ctx)
		if err != nil {
			return time.Time{}, err
		}
		queued, now := 0, 0
		for _, used := range usage {
			queued, now = queued+used.Queued, now+used.Reconciled
		}
		if queued > quietQueue || now != reconciled {
			since, reconciled = time.Now(), now
		}
	}
	return since, nil
}
