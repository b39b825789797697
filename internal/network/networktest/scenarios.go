package networktest

import (
	"fmt"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
)

// lifecycle allows two writes to the second reconciliation of a configuration: that of the operation annotation, and that of the result.
func lifecycle(s *Harness, configuration Configuration, fresh *newShoots) {
	s.Start()
	s.Create(configuration)
	got, _ := s.content()
	require.Empty(s.t, got.differences(fresh.get(s.t, configuration)), "it depends on whether there are nodes")
	s.requireAcceptedByAPIServer(configuration)

	before := s.versions()
	require.NoError(s.t, s.Backdate(s.t.Context(), time.Minute))
	s.Writes()
	require.NoError(s.t, s.Request(s.t.Context(), v1beta1constants.GardenerOperationReconcile))
	s.Ready()
	assert.Equal(s.t, []string{"PATCH /networks/one", "PATCH /networks/one/status"}, contracttest.WithoutProgress(s.Writes()))
	assert.Equal(s.t, before, s.versions())
	again, state := s.content()
	assert.Empty(s.t, again.differences(got))
	assert.Nil(s.t, state.Stage, "there is nothing to go over to")
	assert.Empty(s.t, s.Manager.Shoot().Deletions())
	s.Delete()
}

// versions are the resource versions of the ManagedResources and of the Secrets that they refer to.
func (s *Harness) versions() map[string]string {
	s.t.Helper()
	resources, secrets, err := s.inspector.list(s.t.Context())
	require.NoError(s.t, err)
	versions := map[string]string{}
	for _, resource := range resources {
		versions["ManagedResource "+resource.Name] = resource.ResourceVersion
	}
	for _, secret := range secrets {
		versions["Secret "+secret.Name] = secret.ResourceVersion
	}
	return versions
}

// newChangeRun creates a shoot to change from one configuration to another.
func newChangeRun(s *Harness, change Change, fresh *newShoots) *changeRun {
	s.t.Helper()
	s.Start()
	s.Create(s.subject.configuration(change.From))
	return &changeRun{Harness: s, Change: change, fresh: fresh}
}

// runChange makes the whole change. A refused change is reverted.
func runChange(s *Harness, change Change, fresh *newShoots) {
	s.t.Helper()
	c := newChangeRun(s, change, fresh)
	if !c.begin() {
		c.redirect(change.From)
		return
	}
	c.complete()
}

// redirectInEveryStage changes the goal in each stage, and after the last.
func redirectInEveryStage(t T, server *contracttest.APIServer, subject Subject, change Change, fresh *newShoots) {
	t.Helper()
	for passed, more := 0, true; more; passed++ {
		var targets []string
		for i := 0; i == 0 || i < len(targets); i++ {
			c := newChangeRun(newHarness(t, server, subject), change, fresh)
			targets, more = c.redirectTargets(), c.beginAndPassStages(passed)
			c.redirect(targets[i])
			c.Stop()
		}
		require.True(t, more || passed > 0, "%s has no stages", change)
	}
}

// redirectTargets returns the goals to change to in the middle of a change: the start, and another configuration without a special outcome.
func (c *changeRun) redirectTargets() []string {
	targets := []string{c.From}
	for _, other := range c.subject.Configurations {
		change, redirected := Change{From: c.From, To: other.Name}, Change{From: c.To, To: other.Name}
		if other.canChangeTo(c.subject.configuration(c.From)) && other.canChangeTo(c.subject.configuration(c.To)) &&
			c.subject.Changes[change] == (Outcome{}) && c.subject.Changes[redirected] == (Outcome{}) {
			return append(targets, other.Name)
		}
	}
	return targets
}

// beginAndPassStages completes so many stages, and stops in the middle of the next. It reports whether there is one.
func (c *changeRun) beginAndPassStages(stages int) bool {
	c.t.Helper()
	require.True(c.t, c.begin())
	for range stages {
		require.True(c.t, c.isInStage())
		c.openGate()
	}
	c.rollOutPartly()
	return c.isInStage()
}

// rollOutPartly lets some nodes roll out the current stage.
func (c *changeRun) rollOutPartly() {
	c.t.Helper()
	_, state := c.content()
	if state.Stage == nil {
		return
	}
	for _, workload := range state.Stage.Gate.Workloads {
		require.NoError(c.t, c.shoot.rollOutWorkload(c.t.Context(), workload, false))
	}
	if state.Stage.Gate.Routes {
		require.NoError(c.t, c.shoot.setRoutes(c.t.Context(), true, firstNode))
	}
}

// redirect requests another goal in any stage. What could not be undone after the whole change may be refused already, and what would be kept may have
// to be kept.
func (c *changeRun) redirect(target string) {
	c.t.Helper()
	undone := Change{From: c.To, To: target}
	outcome := c.subject.Changes[undone]
	c.RequestReconcile(c.subject.configuration(target))
	object := c.Wait(reconciled)
	if lastError := object.Status.LastError; lastError != nil {
		require.NotEmpty(c.t, outcome.Refused, "after a change of mind to %s: %s", target, lastError.Description)
		require.Contains(c.t, lastError.Description, outcome.Refused)
		return
	}
	c.inspect()
	c.passAllStages()
	got, _ := c.content()
	differences := got.differences(c.fresh.get(c.t, c.subject.configuration(target)))
	if len(differences) > 0 && outcome.SameAs != "" {
		differences = got.differences(c.fresh.get(c.t, c.subject.configuration(outcome.SameAs)))
	}
	require.Empty(c.t, differences, "%s, but for a change of mind to %s", c.Change, target)
}

// passAllStages lets the nodes roll out until no stage is left.
func (c *changeRun) passAllStages() {
	c.t.Helper()
	for range maxStages {
		_, state := c.content()
		if state.Stage == nil {
			c.rollOutAll()
			return
		}
		c.openGate()
	}
	require.Fail(c.t, "the change does not arrive", "%s", c.Change)
}

// inStage creates a shoot in the first stage of a change.
func inStage(s *Harness, change Change, fresh *newShoots) *changeRun {
	s.t.Helper()
	c := newChangeRun(s, change, fresh)
	require.True(s.t, c.begin())
	require.True(s.t, c.isInStage(), "%s has no stages", change)
	c.rollOutPartly()
	return c
}

// deleteInStage deletes a shoot in a stage.
func deleteInStage(c *changeRun) { c.Delete() }

// migrateInStage moves a shoot in a stage to another seed, and completes the change there.
func migrateInStage(c *changeRun) {
	before, _ := c.content()
	c.BackdateAndRequest(v1beta1constants.GardenerOperationMigrate)
	migrated := c.Wait(isMigrated)
	assert.Empty(c.t, migrated.Finalizers)
	assert.Empty(c.t, c.inspector.leftovers(c.t.Context()))
	assert.Empty(c.t, c.Manager.Seed().Keys())
	assert.Equal(c.t, before.InShoot, keys(c.Manager.Shoot()), "in the shoot nothing changes")
	require.NoError(c.t, c.Destroy(c.t.Context()))
	require.NoError(c.t, c.WaitGone(c.timeoutContext()))
	c.Stop()

	other := c.OtherSeed().Start()
	other.restore(c.subject.configuration(c.To), migrated)
	target := &changeRun{Harness: other, Change: c.Change, fresh: c.fresh}
	assert.True(c.t, target.isInStage(), "nodes have not caught up by moving")
	got, _ := other.content()
	assert.Equal(c.t, before.Shoot, got.Shoot)
	target.complete()
	other.Delete()
}

// restore requests a Network that has come from another seed with its state.
func (s *Harness) restore(configuration Configuration, migrated *extensionsv1alpha1.Network) {
	s.t.Helper()
	require.NoError(s.t, s.Deploy(s.t.Context(), s.configure(configuration), v1beta1constants.GardenerOperationWaitForState))
	require.NoError(s.t, s.PatchStatus(s.t.Context(), func(object *extensionsv1alpha1.Network) {
		object.Status.State = migrated.Status.State
	}))
	require.NoError(s.t, s.Request(s.t.Context(), v1beta1constants.GardenerOperationRestore))
	restored := s.Ready()
	assert.Equal(s.t, gardencorev1beta1.LastOperationTypeRestore, restored.Status.LastOperation.Type)
}

// isMigrated is gardenlet's condition for a completed migration.
func isMigrated(object *extensionsv1alpha1.Network) error {
	operation := object.Status.LastOperation
	if operation != nil && operation.Type == gardencorev1beta1.LastOperationTypeMigrate &&
		operation.State == gardencorev1beta1.LastOperationStateSucceeded && object.Annotations[v1beta1constants.GardenerOperation] == "" {
		return nil
	}
	return fmt.Errorf("last operation: %+v", operation)
}

// hibernateInStage hibernates a shoot in a stage, without its kube-apiserver, and wakes it up.
func hibernateInStage(c *changeRun) {
	c.Stop()
	c.shoot.setClosed(true)
	c.Manager.SetHibernated(true)
	c.forms.removeNodes()
	c.RequestReconcile(c.subject.configuration(c.To), hibernated(true))
	requests := c.shoot.requests()
	c.Start()
	c.waitSucceeded()
	assert.False(c.t, c.isInStage(), "without nodes there is nothing to wait for")
	assert.Equal(c.t, requests, c.shoot.requests(), "nobody has to look into a shoot that sleeps")
	assert.Equal(c.t, "true", c.hibernatedAnnotation())

	c.shoot.setClosed(false)
	c.Manager.SetHibernated(false)
	require.NoError(c.t, c.Manager.ReconcileAll(c.t.Context()))
	c.RequestReconcile(c.subject.configuration(c.To))
	c.waitSucceeded()
	assert.Empty(c.t, c.hibernatedAnnotation())
	c.complete()
}

func (s *Harness) hibernatedAnnotation() string {
	s.t.Helper()
	resource := &resourcesv1alpha1.ManagedResource{}
	key := client.ObjectKey{Namespace: s.Namespace, Name: resourceShoot(s.subject.Type)}
	require.NoError(s.t, s.Client.Get(s.t.Context(), key, resource))
	return resource.Annotations[annotationHibernated]
}

func hibernated(enabled bool) func(*gardencorev1beta1.Shoot) {
	return func(shoot *gardencorev1beta1.Shoot) {
		shoot.Spec.Hibernation = &gardencorev1beta1.Hibernation{Enabled: &enabled}
	}
}

// forceDeleteInStage force-deletes a shoot in a stage, while its API server and the resource manager do not respond.
func forceDeleteInStage(c *changeRun) {
	c.shoot.setClosed(true)
	c.Manager.Stop()
	c.configure(c.subject.configuration(c.To), func(shoot *gardencorev1beta1.Shoot) {
		shoot.Annotations = map[string]string{v1beta1constants.AnnotationConfirmationForceDeletion: "true"}
	})
	require.NoError(c.t, c.Destroy(c.t.Context()))
	require.NoError(c.t, c.WaitGone(c.timeoutContext()))
	resources, secrets, err := c.inspector.list(c.t.Context())
	require.NoError(c.t, err)
	assert.NotEmpty(c.t, resources)
	for _, resource := range resources {
		assert.NotNil(c.t, resource.DeletionTimestamp, resource.Name)
	}
	for _, secret := range secrets {
		assert.Contains(c.t, c.inspector.given, secret.Name)
	}
}

// addSecondFamily delays the second family until the nodes have ranges, as the shoot's constraint requires.
func addSecondFamily(s *Harness, change Change, fresh *newShoots) {
	c := newChangeRun(s, change, fresh)
	from, to := c.subject.configuration(change.From), c.subject.configuration(change.To)
	for _, status := range []gardencorev1beta1.ConditionStatus{gardencorev1beta1.ConditionFalse, gardencorev1beta1.ConditionUnknown} {
		c.RequestReconcile(to, migrating(status))
		c.waitSucceeded()
		c.passAllStages()
		object, err := c.Get(s.t.Context())
		require.NoError(s.t, err)
		assert.Equal(s.t, from.families(), object.Status.IPFamilies)
	}
	c.RequestReconcile(to, migrating(gardencorev1beta1.ConditionTrue))
	c.waitSucceeded()
	c.complete()
	object, err := c.Get(s.t.Context())
	require.NoError(s.t, err)
	assert.Equal(s.t, to.families(), object.Status.IPFamilies)
}

func migrating(status gardencorev1beta1.ConditionStatus) func(*gardencorev1beta1.Shoot) {
	return func(shoot *gardencorev1beta1.Shoot) {
		shoot.Status.Constraints = []gardencorev1beta1.Condition{{
			Type: gardencorev1beta1.ShootDualStackNodesMigrationReady, Status: status, LastTransitionTime: metav1.Now(), LastUpdateTime: metav1.Now(),
		}}
	}
}

// migrateFromLostSeed moves a shoot to another seed, after the one that it was in has been lost.
func migrateFromLostSeed(s *Harness, configuration Configuration) {
	s.Start()
	lost := s.Create(configuration)
	before, _ := s.content()
	s.Stop()
	s.Manager.Stop()
	s.Manager.Shoot().ClearHistory()
	other := s.OtherSeed().Start()
	other.restore(configuration, lost)
	got, state := other.content()
	assert.Empty(s.t, got.differences(before))
	assert.Nil(s.t, state.Stage)
	assert.Empty(s.t, other.Manager.Shoot().History(), "in the shoot nothing changes")
	other.Delete()
}

// deleteNeverReconciled deletes an object that was never reconciled, and finds nothing.
func deleteNeverReconciled(s *Harness, configuration Configuration) {
	s.Start()
	object := s.configure(configuration)
	object.Finalizers = []string{finalizer}
	require.NoError(s.t, s.Deploy(s.t.Context(), object, v1beta1constants.GardenerOperationWaitForState))
	s.Delete()
}

// deleteBeforeApplied deletes a plugin that is not applied yet. The Network can be ready before that.
func deleteBeforeApplied(s *Harness, configuration Configuration) {
	s.Manager.Stop()
	s.Start()
	require.NoError(s.t, s.Deploy(s.t.Context(), s.configure(configuration), v1beta1constants.GardenerOperationReconcile))
	s.Ready()
	s.Stop()
	require.NoError(s.t, s.Destroy(s.t.Context()))
	s.Manager.Start()
	s.Start()
	require.NoError(s.t, s.WaitGone(s.timeoutContext()))
	require.Empty(s.t, s.inspector.checkGone(s.t.Context()))
}

// configurationScenario is a scenario with one configuration.
type configurationScenario struct {
	name string
	run  func(*Harness, Configuration)
}

func configurationScenarios() []configurationScenario {
	return []configurationScenario{
		{"move away from a seed that is lost", migrateFromLostSeed},
		{"delete what never came to be", deleteNeverReconciled},
		{"delete what is half-made", deleteBeforeApplied},
	}
}

// interruption is what can happen to a shoot in a stage.
type interruption struct {
	name string
	run  func(*changeRun)
}

func interruptions() []interruption {
	return []interruption{
		{"deleted", deleteInStage},
		{"moved to another seed", migrateInStage},
		{"hibernated", hibernateInStage},
		{"deleted by force", forceDeleteInStage},
	}
}
