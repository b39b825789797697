package agent

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"github.com/trellis-garden/trellis/internal/gardenet/config"
	"github.com/trellis-garden/trellis/internal/gardenet/desired"
	"github.com/trellis-garden/trellis/internal/gardenet/policy"
)

// maxLoggedChanges bounds a line of the log: the first application has a change for each node.
const maxLoggedChanges = 20

// sync applies what the caches say once, and verifies it if asked to. Its error is for a retry.
func (a *Agent) sync(ctx context.Context, verify bool) error {
	own, others := splitNodes(list[*corev1.Node](a.caches.nodes), a.Node)
	input := desired.Input{Config: a.Config, Others: others, Memo: &a.memo}
	if own != nil {
		input.Node = nodeOf(own)
	}
	if lack := lackOf(own, input.Node); lack != "" {
		if lack != a.lack {
			a.Log.Info("Waiting for the own Node", "lack", lack)
		}
		a.lack = lack
		a.health.setResult(fmt.Sprintf("waiting for Node %s: it %s", a.Node, lack), nil)
		return nil
	}
	a.lack = ""
	if a.enforces() {
		input.Cluster = a.cluster(input.Node.PodRanges)
	}
	state, err := a.apply(ctx, input, verify)
	a.health.setResult("", err)
	if err != nil {
		return err
	}
	a.metrics.setState(state, a.generation.number, len(input.Cluster.Policies))
	if a.enforces() {
		a.metrics.setFree(input.Node.PodRanges, a.Node, input.Cluster.Pods)
	}
	return a.report(ctx, own, state)
}

// lackOf says what the own Node lacks for an application.
func lackOf(own *corev1.Node, node desired.Node) string {
	switch {
	case own == nil:
		return "does not exist"
	case len(node.PodRanges) == 0:
		return "has no pod ranges (spec.podCIDRs)"
	case len(node.Addresses) == 0:
		return "has no address (status.addresses of type InternalIP)"
	}
	return ""
}

// apply computes and applies the state of the node. What has begun is completed even if the context ends: a part of it may be worse than all or nothing.
func (a *Agent) apply(ctx context.Context, input desired.Input, verify bool) (desired.State, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), applyTimeout)
	defer cancel()
	if err := a.adopt(ctx); err != nil {
		return desired.State{}, err
	}
	done := a.metrics.observe(partFacts)
	var asked []desired.Node // one look-up for each address, which only routes by the addresses of nodes depend on
	if input.Config.Routes == config.RoutesNodes {
		asked = input.Others
	}
	facts, err := a.Kernel.Facts(ctx, input.Node, asked)
	done()
	if err != nil {
		return desired.State{}, fmt.Errorf("reading facts of the node: %w", err)
	}
	input.Facts = facts
	state, err := a.computeState(input)
	if err != nil {
		return desired.State{}, err
	}
	changed, err := a.applyState(ctx, state)
	if a.generation.inherited && (changed || err != nil) {
		// The agent before may have accepted what these rules forbid, and it is too late to compare.
		a.generation.raise()
		if err == nil {
			if state, err = a.computeState(input); err == nil {
				_, err = a.applyState(ctx, state)
			}
		}
	}
	if err != nil {
		return desired.State{}, err
	}
	a.generation.inherited = false
	if verify {
		err = a.verifyState(ctx, state)
	}
	return state, err
}

// adopt reads, once, the generation of the rules that the kernel has from an agent before this one.
func (a *Agent) adopt(ctx context.Context) error {
	if a.adopted || !a.rechecks() {
		return nil
	}
	number, found, err := a.Kernel.Rules(ctx)
	if err != nil {
		return fmt.Errorf("reading the generation of the rules: %w", err)
	}
	a.adopted = true
	if found && number != 0 {
		a.generation.number, a.generation.inherited = number, true
	}
	a.Log.Info("Read the generation of the rules", "generation", a.generation.number, "found", found)
	return nil
}

// rechecks returns whether established connections are checked again when the rules become narrower.
func (a *Agent) rechecks() bool { return a.enforces() && a.Config.NetworkPolicy.Recheck }

// computeState computes the state, with a new generation if the rules are narrower than before.
func (a *Agent) computeState(input desired.Input) (desired.State, error) {
	defer a.metrics.observe(partCompute)()
	input.Generation = a.generation.number
	state, err := a.Compute(input)
	if err == nil && a.rechecks() && a.generation.narrower(rulesOf(state)) {
		a.generation.raise()
		input.Generation = a.generation.number
		state, err = a.Compute(input)
	}
	if err != nil {
		return desired.State{}, fmt.Errorf("computing the state of the node: %w", err)
	}
	a.generation.use(rulesOf(state))
	return state, nil
}

func rulesOf(state desired.State) policy.Rules {
	return policy.Rules{Sets: state.Table.Sets, Chains: state.Table.Chains}
}

// applyState returns whether something of the node has changed, which may be so if it fails, too.
func (a *Agent) applyState(ctx context.Context, state desired.State) (changed bool, err error) {
	defer a.metrics.observe(partApply)()
	changes, err := a.Kernel.Apply(ctx, state)
	if len(changes) > 0 {
		a.Log.Info("Changed the node", "changes", changes[:min(len(changes), maxLoggedChanges)], "total", len(changes), "generation", a.generation.number)
	} else {
		a.Log.V(1).Info("Nothing to change")
	}
	if err != nil {
		return len(changes) > 0, fmt.Errorf("applying the state of the node: %w", err)
	}
	return len(changes) > 0, nil
}

func (a *Agent) verifyState(ctx context.Context, state desired.State) error {
	defer a.metrics.observe(partVerify)()
	repairs, err := a.Kernel.Verify(ctx, state)
	a.metrics.repairs.Add(float64(len(repairs)))
	if len(repairs) > 0 {
		a.Log.Info("Repaired the node", "repairs", repairs)
	}
	if err != nil {
		return fmt.Errorf("verifying the state of the node: %w", err)
	}
	a.Log.V(1).Info("Verified the node", "repairs", len(repairs))
	return nil
}

// report writes to the API server what others have to know of the state.
func (a *Agent) report(ctx context.Context, own *corev1.Node, state desired.State) error {
	defer a.metrics.observe(partReport)()
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	var errs []error
	switch {
	case a.Config.ReportsNetwork:
		errs = append(errs, a.condition.report(ctx, own))
	case a.Config.WithdrawsNetwork:
		errs = append(errs, a.condition.withdraw(ctx, own))
	}
	if a.Config.Routes == config.RoutesNodes {
		errs = append(errs, a.events.report(ctx, own, state.Unreachable))
	}
	return errors.Join(errs...)
}

// cluster returns what NetworkPolicies depend on.
func (a *Agent) cluster(local []netip.Prefix) policy.Cluster {
	return policy.Cluster{
		Node: a.Node, LocalRanges: local,
		Pods: list[*corev1.Pod](a.caches.pods), Namespaces: list[*corev1.Namespace](a.caches.namespaces),
		Policies: list[*networkingv1.NetworkPolicy](a.caches.policies),
	}
}
