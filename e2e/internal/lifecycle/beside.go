package lifecycle

import (
	"context"
	"fmt"
	"slices"
)

// besideStep is a step that runs beside others. Its Shoot's control plane is in a seed that no other step uses meanwhile: each seed has controllers of
// its own, which tells apart what both steps make them do.
type besideStep struct {
	step   Step
	result *StepResult
	seed   string
	cancel context.CancelCauseFunc
	ended  chan error
}

// seedOf is the seed in which a Shoot is created.
func (r *run) seedOf(shoot string) string {
	if shoot == quotaShoot {
		return r.Seeds[len(r.Seeds)-1].Name
	}
	return r.Seeds[0].Name
}

// canRunBeside reports whether a step may run beside others.
func (r *run) canRunBeside(step Step) bool {
	return r.seedOf(step.shootName()) != r.seedOf(mainShoot)
}

// startBeside starts a step. endBeside must follow.
func (r *run) startBeside(ctx context.Context, step Step, result *StepResult) {
	r.linef("- %s, beside the next steps: %s", step.Name, step.Sentence)
	result.beside = true
	ctx, cancel := context.WithCancelCause(ctx)
	b := &besideStep{step: step, result: result, seed: r.seedOf(step.shoot), cancel: cancel, ended: make(chan error, 1)}
	r.besides = append(r.besides, b)
	beside := *r
	beside.prefix = step.Name
	go func() { b.ended <- beside.do(ctx, step, result) }()
}

// endBeside waits for all steps that run beside others, and checks them.
func (r *run) endBeside(ctx context.Context) {
	for len(r.besides) > 0 {
		b := r.besides[0]
		if len(b.ended) == 0 {
			r.linef("- waiting for the end of %s", b.step.Name)
		}
		err := <-b.ended
		b.cancel(nil)
		r.besides = slices.Delete(r.besides, 0, 1)
		r.finish(ctx, b.step, b.result, err)
	}
}

// interruptBeside ends all steps that run beside others.
func (r *run) interruptBeside(why string) {
	for _, b := range r.besides {
		b.cancel(fmt.Errorf("interrupted: %s", why))
	}
}

// besideIn returns the step that runs beside others in a seed; nil if none does.
func (r *run) besideIn(seed string) *besideStep {
	for _, b := range r.besides {
		if b.seed == seed {
			return b
		}
	}
	return nil
}
