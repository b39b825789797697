package networktest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/gardener/gardener/pkg/utils/kubernetes/health"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/network"
)

// maxStages is more than any change has.
const maxStages = 16

// beingChanged is in the status while there is a stage.
const beingChanged = "the network is being changed, "

// reconciled returns why a reconciliation is not complete. An error completes it, too. A follow-up shows only in the description, which is written at
// its end.
func reconciled(object *extensionsv1alpha1.Network) error {
	if operation := object.Annotations[v1beta1constants.GardenerOperation]; operation != "" {
		return fmt.Errorf("operation %q has not started yet", operation)
	}
	if object.Status.LastError != nil {
		return nil
	}
	if err := health.CheckExtensionObject(object); err != nil {
		return err
	}
	state, err := readState(object)
	if err != nil {
		return err
	}
	description := object.Status.LastOperation.Description
	if _, now, changing := strings.Cut(description, beingChanged); changing != (state.Stage != nil) || changing && !strings.HasPrefix(now, state.Stage.Name) {
		return fmt.Errorf("the status says %q, and the state %s", description, object.Status.State.Raw)
	}
	return nil
}

// changeRun is one change from one configuration to another, in which nodes roll out as late as possible.
type changeRun struct {
	*Harness
	Change
	fresh *newShoots
	// stages counts the stages that the nodes had to reach.
	stages int
}

// begin requests the change, and reports whether it is accepted.
func (c *changeRun) begin() bool {
	c.t.Helper()
	require.NoError(c.t, c.shoot.setRoutes(c.t.Context(), false, firstNode, secondNode, notReadyNode))
	before, _ := c.content()
	refused := c.subject.Changes[c.Change].Refused
	c.RequestReconcile(c.subject.configuration(c.To))
	if refused == "" {
		c.waitSucceeded()
		return true
	}
	object := c.Wait(func(object *extensionsv1alpha1.Network) error {
		if object.Annotations[v1beta1constants.GardenerOperation] == "" && object.Status.LastError != nil {
			return nil
		}
		return errors.New("it is not refused")
	})
	assert.Contains(c.t, object.Status.LastError.Description, refused)
	assert.Contains(c.t, object.Status.LastError.Codes, gardencorev1beta1.ErrorConfigurationProblem)
	after, _ := c.content()
	assert.Empty(c.t, after.differences(before), "what is refused must change nothing")
	return false
}

// waitSucceeded waits until the operation has succeeded for gardenlet. An error fails the test.
func (c *changeRun) waitSucceeded() {
	c.t.Helper()
	object := c.Wait(reconciled)
	require.Nil(c.t, object.Status.LastError, "%s", c.Change)
	c.inspect()
}

// complete opens gate after gate, each as late as possible, and requires the content of a new shoot.
func (c *changeRun) complete() {
	c.t.Helper()
	for range maxStages {
		if !c.isInStage() {
			c.requireCompleted()
			return
		}
		c.completeStage()
	}
	require.Failf(c.t, "the change does not arrive", "%s, after %d stages", c.Change, c.stages)
}

// requireCompleted compares what is deployed with what a new shoot would have.
func (c *changeRun) requireCompleted() {
	c.t.Helper()
	got, _ := c.content()
	require.Empty(c.t, got.differences(c.fresh.get(c.t, c.subject.resultOf(c.Change))), "%s", c.Change)
}

// isInStage reports whether the nodes have to reach a stage first.
func (c *changeRun) isInStage() bool {
	c.t.Helper()
	_, state := c.content()
	if state.Stage != nil {
		c.stages++
	}
	return state.Stage != nil
}

// completeStage restarts the process, which keeps no memory of the stage, and fulfils the requirements of the current gate one by one. Before the last
// the gate must be closed.
func (c *changeRun) completeStage() {
	c.t.Helper()
	c.Restart()
	_, state := c.content()
	steps := c.gateSteps(state.Stage.Gate)
	for _, step := range steps[:max(0, len(steps)-1)] {
		c.requireGateClosed()
		require.NoError(c.t, step(c.t.Context()))
	}
	c.requireGateClosed()
	c.openGate()
}

// openGate lets the nodes roll out the current stage, and waits for the next one, which follows without a request.
func (c *changeRun) openGate() {
	c.t.Helper()
	_, state := c.content()
	c.rollOutAll()
	if state.Stage.Gate.Routes {
		require.NoError(c.t, c.shoot.setRoutes(c.t.Context(), true, firstNode, secondNode))
	}
	before := string(encodeJSON(state))
	object := c.Wait(func(object *extensionsv1alpha1.Network) error {
		if next, err := readState(object); err != nil || object.Status.LastError == nil && string(encodeJSON(next)) == before {
			return errors.Join(err, fmt.Errorf("%s: it does not go on from stage %q, although the nodes have caught up", c.Change, state.Stage.Name))
		}
		return reconciled(object)
	})
	require.Nil(c.t, object.Status.LastError, "%s", c.Change)
	c.inspect()
}

// gateSteps returns the steps that open a gate. It is open only after the last.
func (c *changeRun) gateSteps(gate network.Gate) []func(context.Context) error {
	c.t.Helper()
	var steps []func(context.Context) error
	for _, workload := range gate.Workloads {
		if !c.rolloutPending(workload) {
			continue
		}
		for _, completely := range []bool{false, true} {
			steps = append(steps, func(ctx context.Context) error { return c.shoot.rollOutWorkload(ctx, workload, completely) })
		}
	}
	if gate.Routes {
		for _, node := range []string{firstNode, secondNode} {
			steps = append(steps, func(ctx context.Context) error { return c.shoot.setRoutes(ctx, true, node) })
		}
	}
	return steps
}

// rolloutPending reports whether the nodes have to roll out a workload.
func (c *changeRun) rolloutPending(workload network.Workload) bool {
	c.t.Helper()
	lags, err := c.shoot.rolloutPending(c.t.Context(), workload)
	require.NoError(c.t, err)
	return lags
}

// requireGateClosed lets the process check a closed gate a few times, and requires that nothing is deployed.
func (c *changeRun) requireGateClosed() {
	c.t.Helper()
	before, err := c.Get(c.t.Context())
	require.NoError(c.t, err)
	requests := c.shoot.requests()
	const requestsOfTwoLooks = 12
	require.Eventually(c.t, func() bool { return c.shoot.requests() > requests+requestsOfTwoLooks }, operationTimeout, checkInterval/5, "nobody looks")
	after, err := c.Get(c.t.Context())
	require.NoError(c.t, err)
	require.Equal(c.t, before.Status.State, after.Status.State, "%s: it goes on although nodes have not caught up", c.Change)
	require.Equal(c.t, before.Status.LastOperation, after.Status.LastOperation, "%s: it does something although nodes have not caught up", c.Change)
}
