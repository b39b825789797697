package contracttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/gardener/gardener/pkg/utils/kubernetes/health"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/contract"
)

// caseRun is one run of a case: a namespace, an environment and a process, without further help.
type caseRun[O contract.Object] struct {
	testCase  Case
	env       Environment[O]
	host      Host
	gardenlet *Gardenlet[O]
	process   *Process

	result Result
}

// backdateBy is how far the last operation is backdated before another one is requested.
const backdateBy = 10 * time.Second

// runCase runs a case. An error means that the case could not be run; failures of the process are in the result.
func (e *exploration[O]) runCase(ctx context.Context, c Case) (Result, error) {
	ctx, cancel := context.WithTimeout(ctx, e.options.Deadline)
	defer cancel()
	t, object, err := e.setUp(ctx, c)
	if err != nil {
		return Result{}, fmt.Errorf("setting up %s: %w", c, err)
	}

	if err := t.run(ctx, object); err != nil {
		t.addViolationf("%s", err)
	}
	t.disarm()
	t.collectEvidence()
	if err := t.process.Stop(); err != nil {
		t.addViolationf("ending the process: %s", err)
	}
	if err := t.env.Close(); err != nil {
		return Result{}, fmt.Errorf("closing the cloud of %s: %w", c, err)
	}
	return t.result, nil
}

func (e *exploration[O]) setUp(ctx context.Context, c Case) (*caseRun[O], O, error) {
	var none O
	namespace, err := e.server.NewNamespace(ctx)
	if err != nil {
		return nil, none, err
	}
	env, err := e.subject.NewEnvironment()
	if err != nil {
		return nil, none, fmt.Errorf("making a cloud: %w", err)
	}
	t := &caseRun[O]{
		testCase: c,
		env:      env,
		host: Host{
			Server: e.server, Namespace: namespace, Faults: &Faults{}, Journal: &Journal{}, CacheTransform: e.subject.CacheTransform,
		},
		result: Result{Case: c},
	}
	if observer, ok := env.(WriteObserver); ok {
		t.host.OnWrite = observer.OnWrite
	}
	object, err := t.prepare(ctx, e.subject.New)
	if err != nil {
		return nil, none, errors.Join(err, env.Close())
	}
	return t, object, nil
}

// prepare creates Gardener's objects in the namespace, and starts the process.
func (t *caseRun[O]) prepare(ctx context.Context, constructor func() O) (O, error) {
	before, object, err := t.env.Objects(t.host.Namespace)
	if err != nil {
		return object, fmt.Errorf("making the objects: %w", err)
	}
	for _, prerequisite := range before {
		if err := t.host.Server.Client.Create(ctx, prerequisite); err != nil {
			return object, fmt.Errorf("creating %T: %w", prerequisite, err)
		}
	}
	key := client.ObjectKey{Namespace: t.host.Namespace, Name: object.GetName()}
	t.gardenlet = NewGardenlet(t.host.Server, key, constructor)
	return object, t.start(ctx)
}

// start starts the process. Stop ends it, not the deadline of the case, so that a case without time left can be inspected with a running
// process.
func (t *caseRun[O]) start(ctx context.Context) error {
	var beforeRestart func(context.Context) error
	if t.testCase.Phase == Abandon {
		beforeRestart = t.gardenlet.Destroy
	}
	process, err := t.host.Run(context.WithoutCancel(ctx), t.env.Program, beforeRestart)
	if err == nil {
		t.process = process
	}
	return err
}

// run runs the object's lifecycle; faults are armed in the case's phase only.
func (t *caseRun[O]) run(ctx context.Context, object O) error {
	if t.testCase.Phase == Abandon {
		return t.abandon(ctx, object)
	}
	steps := []func() error{func() error { return t.create(ctx, clone(object)) }}
	switch t.testCase.Phase {
	case NoOp:
		steps = append(steps, func() error { return t.noOp(ctx) })
	case Restore:
		steps = append(steps, func() error { return t.restore(ctx, clone(object)) })
	default:
	}
	for _, step := range append(steps, func() error { return t.delete(ctx) }) {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (t *caseRun[O]) create(ctx context.Context, object O) error {
	return t.inPhase(Create, func() error {
		if err := t.gardenlet.Deploy(ctx, object, v1beta1constants.GardenerOperationReconcile); err != nil {
			return err
		}
		return t.waitReady(ctx)
	})
}

func (t *caseRun[O]) delete(ctx context.Context) error {
	return t.inPhase(Delete, func() error {
		if err := t.gardenlet.Destroy(ctx); err != nil {
			return err
		}
		return t.waitGone(ctx)
	})
}

func (t *caseRun[O]) noOp(ctx context.Context) error {
	if err := t.gardenlet.Backdate(ctx, backdateBy); err != nil {
		return err
	}
	return t.inPhase(NoOp, func() error {
		if err := t.gardenlet.Request(ctx, v1beta1constants.GardenerOperationReconcile); err != nil {
			return err
		}
		return t.waitReady(ctx)
	})
}

// restore loses the seed with its process and restores the object on another one.
func (t *caseRun[O]) restore(ctx context.Context, object O) error {
	if err := t.process.Stop(); err != nil {
		return fmt.Errorf("ending the process on the lost seed: %w", err)
	}
	lost, err := t.gardenlet.ForceRemove(ctx)
	if err != nil {
		return err
	}
	if seedLoss, ok := t.env.(SeedLossEnvironment); ok {
		if err := seedLoss.LoseSeed(ctx); err != nil {
			return fmt.Errorf("losing the seed: %w", err)
		}
	}
	if err := t.start(ctx); err != nil {
		return err
	}
	if err := t.gardenlet.Deploy(ctx, object, v1beta1constants.GardenerOperationWaitForState); err != nil {
		return err
	}
	state := lost.GetExtensionStatus().GetState()
	if saved, ok := t.env.(SavedStateEnvironment); ok {
		if state, err = saved.State(); err != nil {
			return fmt.Errorf("reading what Gardener has saved: %w", err)
		}
	}
	err = t.gardenlet.PatchStatus(ctx, func(object O) {
		object.GetExtensionStatus().SetState(state)
		object.GetExtensionStatus().SetResources(lost.GetExtensionStatus().GetResources())
	})
	if err != nil {
		return err
	}
	return t.inPhase(Restore, func() error {
		if err := t.gardenlet.Request(ctx, v1beta1constants.GardenerOperationRestore); err != nil {
			return err
		}
		return t.waitReady(ctx)
	})
}

// abandon creates the object and waits until the process is killed and the object deleted. If the call is not made,
// the object becomes ready, and is deleted as any other.
func (t *caseRun[O]) abandon(ctx context.Context, object O) error {
	return t.inPhase(Abandon, func() error {
		if err := t.gardenlet.Deploy(ctx, object, v1beta1constants.GardenerOperationReconcile); err != nil {
			return err
		}
		_, err := t.gardenlet.WaitFor(ctx, func(object O) error {
			if !object.GetDeletionTimestamp().IsZero() {
				return nil
			}
			return health.CheckExtensionObject(object)
		})
		if err == nil {
			err = t.gardenlet.Destroy(ctx)
		}
		if client.IgnoreNotFound(err) != nil {
			return err
		}
		return t.waitGone(ctx)
	})
}

// inPhase arms the faults during a step of the case's phase.
func (t *caseRun[O]) inPhase(phase Phase, step func() error) error {
	if phase != t.testCase.Phase {
		return step()
	}
	t.host.Faults.Arm(t.testCase.Fault)
	err := step()
	t.disarm()
	return err
}

func (t *caseRun[O]) disarm() {
	if calls, fired, armed := t.host.Faults.Disarm(); armed {
		t.result.Calls, t.result.Reached = calls, fired
	}
}

func (t *caseRun[O]) waitReady(ctx context.Context) error {
	_, err := t.gardenlet.WaitReady(ctx)
	t.inspect("when the object was, or should have been, ready", true)
	if err != nil {
		return fmt.Errorf("the object did not become ready: %w", err)
	}
	return nil
}

func (t *caseRun[O]) waitGone(ctx context.Context) error {
	err := t.gardenlet.WaitGone(ctx)
	t.inspect("when the object was, or should have been, gone", false)
	if err != nil {
		return fmt.Errorf("the object did not go away: %w", err)
	}
	return nil
}

// inspect adds the differences in the cloud, also after a wait without success: leftovers are the best hint at the cause.
func (t *caseRun[O]) inspect(when string, ready bool) {
	for _, violation := range t.env.Inspect(ready) {
		t.addViolationf("%s: %s", when, violation)
	}
}

func (t *caseRun[O]) addViolationf(format string, args ...any) {
	t.result.Violations = append(t.result.Violations, fmt.Sprintf(format, args...))
}

func (t *caseRun[O]) collectEvidence() {
	if len(t.result.Violations) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	t.result.Evidence = "  object: " + t.describe(ctx) + "\n" + t.host.Journal.String()
}

func (t *caseRun[O]) describe(ctx context.Context) string {
	object, err := t.gardenlet.Get(ctx)
	if apierrors.IsNotFound(err) {
		return "gone"
	}
	object.SetManagedFields(nil)
	text, encodingErr := json.Marshal(object)
	if err := errors.Join(err, encodingErr); err != nil {
		return err.Error()
	}
	return string(text)
}
