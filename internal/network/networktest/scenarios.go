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

// life holds the second reconciliation of a configuration to two writes: that of the order, and that of the result.
func life(s *Stage, configuration Configuration, fresh *newShoots) {
	s.Start()
	s.Create(configuration)
	got, _ := s.content()
	require.Empty(s.t, got.differences(fresh.of(s.t, configuration)), "it depends on whether there are nodes")
	s.acceptedByAPIServer(configuration)

	before := s.versions()
	require.NoError(s.t, s.Age(s.t.Context(), time.Minute))
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

// versions are those of the ManagedResources and the Secrets that they refer to.
func (s *Stage) versions() map[string]string {
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

// changeOf makes a shoot and a way from one configuration to another.
func changeOf(s *Stage, way Change, fresh *newShoots) *change {
	s.t.Helper()
	s.Start()
	s.Create(s.subject.configuration(way.From))
	return &change{Stage: s, Change: way, fresh: fresh}
}

// walk goes all the way. What is refused is taken back.
func walk(s *Stage, way Change, fresh *newShoots) {
	s.t.Helper()
	c := changeOf(s, way, fresh)
	if !c.depart() {
		c.turn(way.From)
		return
	}
	c.arrive()
}

// turnInEveryStage goes as far as each stage, and what comes after the last, and changes its mind there.
func turnInEveryStage(t T, server *contracttest.APIServer, subject Subject, way Change, fresh *newShoots) {
	t.Helper()
	for passed, more := 0, true; more; passed++ {
		var targets []string
		for i := 0; i == 0 || i < len(targets); i++ {
			c := changeOf(newStage(t, server, subject), way, fresh)
			targets, more = c.turns(), c.departFor(passed)
			c.turn(targets[i])
			c.Stop()
		}
		require.True(t, more || passed > 0, "%s has no stages", way)
	}
}

// turns returns where to go from the middle of the way: back, and somewhere else where nothing is particular about that.
func (c *change) turns() []string {
	targets := []string{c.From}
	for _, other := range c.subject.Configurations {
		way, turned := Change{From: c.From, To: other.Name}, Change{From: c.To, To: other.Name}
		if other.canBecome(c.subject.configuration(c.From)) && other.canBecome(c.subject.configuration(c.To)) &&
			c.subject.Changes[way] == (Outcome{}) && c.subject.Changes[turned] == (Outcome{}) {
			return append(targets, other.Name)
		}
	}
	return targets
}

// departFor goes through so many stages, and into the middle of the next. It reports whether there is one.
func (c *change) departFor(stages int) bool {
	c.t.Helper()
	require.True(c.t, c.depart())
	for range stages {
		require.True(c.t, c.waits())
		c.open()
	}
	c.halfway()
	return c.waits()
}

// halfway has some nodes catch up with the current stage.
func (c *change) halfway() {
	c.t.Helper()
	_, state := c.content()
	if state.Stage == nil {
		return
	}
	for _, workload := range state.Stage.Gate.Workloads {
		require.NoError(c.t, c.shoot.advance(c.t.Context(), workload, false))
	}
	if state.Stage.Gate.Routes {
		require.NoError(c.t, c.shoot.route(c.t.Context(), true, firstNode))
	}
}

// turn gives the order to become something else, wherever the shoot is on its way. What could not be undone after the whole way
// may be refused already, and what would stay may have to stay.
func (c *change) turn(target string) {
	c.t.Helper()
	undone := Change{From: c.To, To: target}
	outcome := c.subject.Changes[undone]
	c.Order(c.subject.configuration(target))
	object := c.Wait(reconciled)
	if lastError := object.Status.LastError; lastError != nil {
		require.NotEmpty(c.t, outcome.Refused, "after a change of mind to %s: %s", target, lastError.Description)
		require.Contains(c.t, lastError.Description, outcome.Refused)
		return
	}
	c.inspect()
	c.hurry()
	got, _ := c.content()
	differences := got.differences(c.fresh.of(c.t, c.subject.configuration(target)))
	if len(differences) > 0 && outcome.As != "" {
		differences = got.differences(c.fresh.of(c.t, c.subject.configuration(outcome.As)))
	}
	require.Empty(c.t, differences, "%s, but for a change of mind to %s", c.Change, target)
}

// hurry has the nodes catch up until there is no stage left.
func (c *change) hurry() {
	c.t.Helper()
	for range mostStages {
		_, state := c.content()
		if state.Stage == nil {
			c.settle()
			return
		}
		c.open()
	}
	require.Fail(c.t, "the change does not arrive", "%s", c.Change)
}

// inStage makes a shoot on its way, in the first stage of it.
func inStage(s *Stage, way Change, fresh *newShoots) *change {
	s.t.Helper()
	c := changeOf(s, way, fresh)
	require.True(s.t, c.depart())
	require.True(s.t, c.waits(), "%s has no stages", way)
	c.halfway()
	return c
}

// deleteInStage deletes what is on its way.
func deleteInStage(c *change) { c.Delete() }

// moveInStage moves the shoot to another seed, and arrives there.
func moveInStage(c *change) {
	kept, _ := c.content()
	c.Again(v1beta1constants.GardenerOperationMigrate)
	migrated := c.Wait(isMigrated)
	assert.Empty(c.t, migrated.Finalizers)
	assert.Empty(c.t, c.inspector.leftovers(c.t.Context()))
	assert.Empty(c.t, c.Manager.Seed().Keys())
	assert.Equal(c.t, kept.InShoot, keys(c.Manager.Shoot()), "in the shoot nothing changes")
	require.NoError(c.t, c.Destroy(c.t.Context()))
	require.NoError(c.t, c.WaitGone(c.patience()))
	c.Stop()

	other := c.OtherSeed().Start()
	other.restore(c.subject.configuration(c.To), migrated)
	there := &change{Stage: other, Change: c.Change, fresh: c.fresh}
	assert.True(c.t, there.waits(), "nodes have not caught up by moving")
	got, _ := other.content()
	assert.Equal(c.t, kept.Shoot, got.Shoot)
	there.arrive()
	other.Delete()
}

// restore asks for a Network that has come from another seed with its state.
func (s *Stage) restore(configuration Configuration, migrated *extensionsv1alpha1.Network) {
	s.t.Helper()
	require.NoError(s.t, s.Deploy(s.t.Context(), s.configure(configuration), v1beta1constants.GardenerOperationWaitForState))
	require.NoError(s.t, s.PatchStatus(s.t.Context(), func(object *extensionsv1alpha1.Network) {
		object.Status.State = migrated.Status.State
	}))
	require.NoError(s.t, s.Request(s.t.Context(), v1beta1constants.GardenerOperationRestore))
	restored := s.Ready()
	assert.Equal(s.t, gardencorev1beta1.LastOperationTypeRestore, restored.Status.LastOperation.Type)
}

// isMigrated is how gardenlet knows that a migration is over.
func isMigrated(object *extensionsv1alpha1.Network) error {
	operation := object.Status.LastOperation
	if operation != nil && operation.Type == gardencorev1beta1.LastOperationTypeMigrate &&
		operation.State == gardencorev1beta1.LastOperationStateSucceeded && object.Annotations[v1beta1constants.GardenerOperation] == "" {
		return nil
	}
	return fmt.Errorf("last operation: %+v", operation)
}

// sleepInStage hibernates what is on its way, with the shoot's kube-apiserver gone, and wakes it up.
func sleepInStage(c *change) {
	c.Stop()
	c.shoot.shut(true)
	c.Manager.Sleep(true)
	c.forms.clear()
	c.Order(c.subject.configuration(c.To), hibernated(true))
	looks := c.shoot.requests()
	c.Start()
	c.succeed()
	assert.False(c.t, c.waits(), "without nodes there is nothing to wait for")
	assert.Equal(c.t, looks, c.shoot.requests(), "nobody has to look into a shoot that sleeps")
	assert.Equal(c.t, "true", c.asleep())

	c.shoot.shut(false)
	c.Manager.Sleep(false)
	require.NoError(c.t, c.Manager.ServeAll(c.t.Context()))
	c.Order(c.subject.configuration(c.To))
	c.succeed()
	assert.Empty(c.t, c.asleep())
	c.arrive()
}

func (s *Stage) asleep() string {
	s.t.Helper()
	resource := &resourcesv1alpha1.ManagedResource{}
	key := client.ObjectKey{Namespace: s.Namespace, Name: resourceShoot(s.subject.Type)}
	require.NoError(s.t, s.Client.Get(s.t.Context(), key, resource))
	return resource.Annotations[annotationAsleep]
}

func hibernated(enabled bool) func(*gardencorev1beta1.Shoot) {
	return func(shoot *gardencorev1beta1.Shoot) {
		shoot.Spec.Hibernation = &gardencorev1beta1.Hibernation{Enabled: &enabled}
	}
}

// forceInStage deletes what is on its way by force, with nobody answering and nobody acting.
func forceInStage(c *change) {
	c.shoot.shut(true)
	c.Manager.Leave()
	c.configure(c.subject.configuration(c.To), func(shoot *gardencorev1beta1.Shoot) {
		shoot.Annotations = map[string]string{v1beta1constants.AnnotationConfirmationForceDeletion: "true"}
	})
	require.NoError(c.t, c.Destroy(c.t.Context()))
	require.NoError(c.t, c.WaitGone(c.patience()))
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

// growFamilies lets the second family wait for the nodes' ranges, as long as the shoot's constraint bids.
func growFamilies(s *Stage, way Change, fresh *newShoots) {
	c := changeOf(s, way, fresh)
	from, to := c.subject.configuration(way.From), c.subject.configuration(way.To)
	for _, is := range []gardencorev1beta1.ConditionStatus{gardencorev1beta1.ConditionFalse, gardencorev1beta1.ConditionUnknown} {
		c.Order(to, migrating(is))
		c.succeed()
		c.hurry()
		object, err := c.Get(s.t.Context())
		require.NoError(s.t, err)
		assert.Equal(s.t, from.families(), object.Status.IPFamilies)
	}
	c.Order(to, migrating(gardencorev1beta1.ConditionTrue))
	c.succeed()
	c.arrive()
	object, err := c.Get(s.t.Context())
	require.NoError(s.t, err)
	assert.Equal(s.t, to.families(), object.Status.IPFamilies)
}

func migrating(is gardencorev1beta1.ConditionStatus) func(*gardencorev1beta1.Shoot) {
	return func(shoot *gardencorev1beta1.Shoot) {
		shoot.Status.Constraints = []gardencorev1beta1.Condition{{
			Type: gardencorev1beta1.ShootDualStackNodesMigrationReady, Status: is, LastTransitionTime: metav1.Now(), LastUpdateTime: metav1.Now(),
		}}
	}
}

// moveSettled moves a shoot to another seed, after the one that it was in has been lost.
func moveSettled(s *Stage, configuration Configuration) {
	s.Start()
	lost := s.Create(configuration)
	before, _ := s.content()
	s.Stop()
	s.Manager.Leave()
	s.Manager.Shoot().Forget()
	other := s.OtherSeed().Start()
	other.restore(configuration, lost)
	got, state := other.content()
	assert.Empty(s.t, got.differences(before))
	assert.Nil(s.t, state.Stage)
	assert.Empty(s.t, other.Manager.Shoot().History(), "in the shoot nothing changes")
	other.Delete()
}

// deleteAtOnce deletes an object that was never reconciled, and finds nothing.
func deleteAtOnce(s *Stage, configuration Configuration) {
	s.Start()
	object := s.configure(configuration)
	object.Finalizers = []string{finalizer}
	require.NoError(s.t, s.Deploy(s.t.Context(), object, v1beta1constants.GardenerOperationWaitForState))
	s.Delete()
}

// deleteHalfMade deletes what nobody has applied yet. That it has not been does not keep the Network from being ready.
func deleteHalfMade(s *Stage, configuration Configuration) {
	s.Manager.Leave()
	s.Start()
	require.NoError(s.t, s.Deploy(s.t.Context(), s.configure(configuration), v1beta1constants.GardenerOperationReconcile))
	s.Ready()
	s.Stop()
	require.NoError(s.t, s.Destroy(s.t.Context()))
	s.Manager.Return()
	s.Start()
	require.NoError(s.t, s.WaitGone(s.patience()))
	require.Empty(s.t, s.inspector.gone(s.t.Context()))
}

// story is one of those that are told of one configuration.
type story struct {
	name string
	tell func(*Stage, Configuration)
}

func stories() []story {
	return []story{
		{"move away from a seed that is lost", moveSettled},
		{"delete what never came to be", deleteAtOnce},
		{"delete what is half-made", deleteHalfMade},
	}
}

// interruption is what can happen to a shoot on its way.
type interruption struct {
	name string
	play func(*change)
}

func interruptions() []interruption {
	return []interruption{
		{"deleted", deleteInStage},
		{"moved to another seed", moveInStage},
		{"hibernated", sleepInStage},
		{"deleted by force", forceInStage},
	}
}
