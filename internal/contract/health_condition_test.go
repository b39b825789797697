package contract

import (
	"errors"
	"fmt"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/internal/cloud"
)

const (
	ownType   gardencorev1beta1.ConditionType = "ControlPlaneHealthy"
	otherType gardencorev1beta1.ConditionType = "Observed"
)

type testHealth = Health[*extensionsv1alpha1.ControlPlane]

// checkStep is one check: what it finds after a while, and the resulting condition.
type checkStep struct {
	later   time.Duration
	finding *Finding
	failure error
	want    string // status, reason, message
	// transitioned is whether the transition time is that of this check, written whether the condition differs at all.
	transitioned, written bool
}

func TestConditionsAfter_Findings(t *testing.T) {
	healthy := &Finding{Healthy: true}
	unhealthy := &Finding{Message: "Deployment D is down.", Grace: time.Minute}
	fatal := &Finding{Message: "Gone for good."}
	refused := errors.New("refused")
	const (
		isTrue      = "True HealthCheckSuccessful All health checks were successful."
		progressing = "Progressing HealthCheckProgressing Deployment D is down."
		isFalse     = "False HealthCheckUnsuccessful Deployment D is down."
		doubtful    = "Progressing ConditionCheckError The health could not be checked: refused"
		unknown     = "Unknown ConditionCheckError The health could not be checked: refused"
	)
	for sentence, checks := range map[string][]checkStep{
		"health is written once and not again": {
			{finding: healthy, want: isTrue, transitioned: true, written: true},
			{later: time.Hour, finding: healthy, want: isTrue},
		},
		"a sleeping shoot is healthy with a sentence": {
			{finding: healthy, want: isTrue, transitioned: true, written: true},
			{later: time.Hour, finding: &Finding{Healthy: true, Message: "It sleeps."}, want: "True HealthCheckSuccessful It sleeps.", written: true},
		},
		"trouble is Progressing for its grace, then False, and False at once no more": {
			{finding: healthy, want: isTrue, transitioned: true, written: true},
			{later: time.Hour, finding: unhealthy, want: progressing, transitioned: true, written: true},
			{later: time.Minute, finding: unhealthy, want: progressing},
			{later: time.Second, finding: unhealthy, want: isFalse, transitioned: true, written: true},
			{later: time.Hour, finding: unhealthy, want: isFalse},
			{later: time.Second, finding: healthy, want: isTrue, transitioned: true, written: true},
			{later: time.Second, finding: unhealthy, want: progressing, transitioned: true, written: true},
		},
		"trouble from the start has its grace, too": {
			{finding: unhealthy, want: progressing, transitioned: true, written: true},
			{later: 61 * time.Second, finding: unhealthy, want: isFalse, transitioned: true, written: true},
		},
		"trouble without grace is False at once": {
			{finding: healthy, want: isTrue, transitioned: true, written: true},
			{later: time.Second, finding: fatal, want: "False HealthCheckUnsuccessful Gone for good.", transitioned: true, written: true},
		},
		"one trouble after the other has one grace together": {
			{finding: unhealthy, want: progressing, transitioned: true, written: true},
			{later: 40 * time.Second, finding: &Finding{Message: "Other.", Grace: time.Minute}, want: "Progressing HealthCheckProgressing Other.", written: true},
			{later: 40 * time.Second, finding: unhealthy, want: isFalse, transitioned: true, written: true},
		},
		"a failed check is tolerated for a minute, then the health is unknown": {
			{finding: healthy, want: isTrue, transitioned: true, written: true},
			{later: time.Second, failure: refused, want: doubtful, transitioned: true, written: true},
			{later: time.Minute, failure: refused, want: doubtful},
			{later: time.Second, failure: refused, want: unknown, transitioned: true, written: true},
			{later: time.Hour, failure: refused, want: unknown},
			{later: time.Second, finding: healthy, want: isTrue, transitioned: true, written: true},
		},
		"looks that fail every other time win no second grace": {
			{finding: unhealthy, want: progressing, transitioned: true, written: true},
			{later: 61 * time.Second, failure: refused, want: unknown, transitioned: true, written: true},
			{later: 30 * time.Second, finding: unhealthy, want: isFalse, transitioned: true, written: true},
			{later: 30 * time.Second, failure: refused, want: unknown, transitioned: true, written: true},
		},
		"a check that says nothing has failed": {
			{want: "Progressing ConditionCheckError The health could not be checked: the check returned no result for it", transitioned: true, written: true},
		},
		"no message is a general one": {
			{finding: &Finding{}, want: "False HealthCheckUnsuccessful A health check failed.", transitioned: true, written: true},
		},
	} {
		t.Run(sentence, func(t *testing.T) { testCheckSteps(t, checks) })
	}
}

func testCheckSteps(t *testing.T, checks []checkStep) {
	t.Helper()
	health := testHealth{Types: []gardencorev1beta1.ConditionType{ownType}}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var known []gardencorev1beta1.Condition
	for n, input := range checks {
		now = now.Add(input.later)
		findings := Findings{}
		if input.finding != nil {
			findings[ownType] = *input.finding
		}
		next := health.conditionsAfter(known, findings, input.failure, now)
		require.Len(t, next, 1)
		got := next[0]
		assert.Equal(t, input.want, fmt.Sprintf("%s %s %s", got.Status, got.Reason, got.Message), "look %d", n)
		assert.Equal(t, input.transitioned, got.LastTransitionTime.Time.Equal(now), "transition at look %d", n)
		assert.Equal(t, input.written, !cmp.Equal(known, next), "written at look %d", n)
		known = next
	}
}

func TestConditionsAfter_OtherTypes(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	condition := func(conditionType gardencorev1beta1.ConditionType) gardencorev1beta1.Condition {
		return gardencorev1beta1.Condition{
			Type: conditionType, Status: gardencorev1beta1.ConditionFalse, Reason: "Seen", Message: "seen",
			LastTransitionTime: metav1.NewTime(now.Add(-time.Hour)), LastUpdateTime: metav1.NewTime(now.Add(-time.Hour)),
		}
	}
	const retired gardencorev1beta1.ConditionType = "Upstreams"
	health := testHealth{
		Types:   []gardencorev1beta1.ConditionType{ownType},
		Retired: []gardencorev1beta1.ConditionType{retired},
	}
	known := []gardencorev1beta1.Condition{condition(otherType), condition(retired), condition(ownType), condition("Another")}
	next := health.conditionsAfter(known, Findings{ownType: {Healthy: true}, otherType: {Healthy: true}}, nil, now)

	require.Len(t, next, 3, "retired types go, others stay")
	assert.Equal(t, known[0], next[0], "a finding about a type that is not ours has no effect")
	assert.Equal(t, ownType, next[1].Type)
	assert.Equal(t, gardencorev1beta1.ConditionTrue, next[1].Status)
	assert.Equal(t, known[3], next[2])

	only := health.conditionsAfter([]gardencorev1beta1.Condition{condition(retired)}, nil, errors.New("refused"), now)
	require.Len(t, only, 1, "retired types go even when nothing else is known")
	assert.Equal(t, ownType, only[0].Type)
}

func TestConditionsAfter_Codes(t *testing.T) {
	now := time.Now()
	health := testHealth{Types: []gardencorev1beta1.ConditionType{ownType}}
	codes := []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorCleanupClusterResources}
	unhealthy := health.conditionsAfter(nil, Findings{ownType: {Message: "m", Codes: codes}}, nil, now)
	assert.Equal(t, codes, unhealthy[0].Codes)

	later := now.Add(time.Minute)
	without := health.conditionsAfter(unhealthy, Findings{ownType: {Message: "m"}}, nil, later)
	assert.Empty(t, without[0].Codes, "codes are those of the last look")
	assert.True(t, without[0].LastUpdateTime.Time.Equal(later), "a change of the codes is an update")
	assert.True(t, without[0].LastTransitionTime.Time.Equal(now))

	refused := health.conditionsAfter(nil, nil, fmt.Errorf("asking: %w", cloud.Errorf(cloud.Unauthenticated, "wrong password")), now)
	assert.Equal(t, []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorInfraUnauthenticated}, refused[0].Codes)

	healthy := health.conditionsAfter(unhealthy, Findings{ownType: {Healthy: true, Codes: codes}}, nil, now)
	assert.Empty(t, healthy[0].Codes, "what is healthy has no codes")
}

func TestIsProvisioned(t *testing.T) {
	object := func(operation string, lastOperation *gardencorev1beta1.LastOperation) *extensionsv1alpha1.ControlPlane {
		o := &extensionsv1alpha1.ControlPlane{}
		if operation != "" {
			o.Annotations = map[string]string{v1beta1constants.GardenerOperation: operation}
		}
		o.Status.LastOperation = lastOperation
		return o
	}
	last := func(operation gardencorev1beta1.LastOperationType, state gardencorev1beta1.LastOperationState) *gardencorev1beta1.LastOperation {
		return &gardencorev1beta1.LastOperation{Type: operation, State: state}
	}
	const (
		create, reconcile  = gardencorev1beta1.LastOperationTypeCreate, gardencorev1beta1.LastOperationTypeReconcile
		restore, migrate   = gardencorev1beta1.LastOperationTypeRestore, gardencorev1beta1.LastOperationTypeMigrate
		succeeded, failing = gardencorev1beta1.LastOperationStateSucceeded, gardencorev1beta1.LastOperationStateError
		processing         = gardencorev1beta1.LastOperationStateProcessing
	)
	deleted := object("", last(reconcile, succeeded))
	deleted.DeletionTimestamp = new(metav1.Now())
	for sentence, test := range map[string]struct {
		object *extensionsv1alpha1.ControlPlane
		want   bool
	}{
		"nobody has worked on it":                {object: object("reconcile", nil)},
		"it is being created":                    {object: object("", last(create, processing))},
		"its creation failed":                    {object: object("", last(create, failing))},
		"it was created":                         {object: object("", last(create, succeeded)), want: true},
		"it is about to be reconciled":           {object: object("reconcile", last(create, succeeded)), want: true},
		"it is being reconciled":                 {object: object("", last(reconcile, processing)), want: true},
		"its reconciliation failed":              {object: object("", last(reconcile, failing)), want: true},
		"it is about to be moved":                {object: object("migrate", last(reconcile, succeeded))},
		"it is being moved":                      {object: object("migrate", last(migrate, processing))},
		"its move failed":                        {object: object("migrate", last(migrate, failing))},
		"it was moved":                           {object: object("", last(migrate, succeeded))},
		"it waits for its state":                 {object: object("wait-for-state", nil)},
		"it is being restored":                   {object: object("restore", last(restore, processing))},
		"its restoration is done but not over":   {object: object("restore", last(restore, succeeded))},
		"it was restored":                        {object: object("", last(restore, succeeded)), want: true},
		"it is being deleted, the pass is to be": {object: deleted},
		"its deletion failed":                    {object: object("", last(gardencorev1beta1.LastOperationTypeDelete, failing))},
	} {
		t.Run(sentence, func(t *testing.T) { assert.Equal(t, test.want, isProvisioned(test.object)) })
	}
}
