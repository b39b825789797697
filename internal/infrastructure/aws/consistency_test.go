package aws

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// The times after which new resources and their tags are visible, and that which the driver assumes.
const visibleFor, tagsVisibleFor, assumedVisible = 100 * time.Millisecond, 200 * time.Millisecond, 600 * time.Millisecond

// newLateEnvironment is an account in which whatever is new is missing at first: in lists, for requests that name it, and by its tags.
func newLateEnvironment(t *testing.T, lag fake.Lag) *environment {
	t.Helper()
	env := newEnvironment(t, fake.WithLag(lag))
	env.visibleAfter = assumedVisible
	env.restart()
	return env
}

// settle repeats an operation as the contract does, until it succeeds.
func (env *environment) settle(operation func() error) {
	env.t.Helper()
	err := operation()
	for deadline := time.Now().Add(2 * operationTimeout); err != nil && time.Now().Before(deadline); err = operation() {
		failed, ok := errors.AsType[*cloud.Error](err)
		require.True(env.t, ok && failed.Kind == cloud.Unavailable, "%v", err)
		time.Sleep(max(failed.RetryAfter, 10*time.Millisecond))
	}
	require.NoError(env.t, err)
}

func (env *environment) settleReconcile() {
	env.t.Helper()
	env.settle(func() error { _, err := env.reconcile(); return err })
}

// assertWhole asserts that the shoot is there once, and that a deletion leaves nothing.
func (env *environment) assertWhole(whole []string) {
	env.t.Helper()
	time.Sleep(tagsVisibleFor)
	for range 3 { // what was missing in a number of responses
		_, _ = ListAccount(env.t.Context(), env.cloud, env.operator())
	}
	assert.Empty(env.t, cmp.Diff(whole, env.facts()))
	env.settleReconcile()
	env.assertNoneAfter(env.settleReconcile)
	env.settle(env.delete)
	assert.Empty(env.t, env.cloud.Resources())
}

// concurrently runs cases that wait most of the time, all at once.
func concurrently(t *testing.T, cases map[string]func(t *testing.T)) {
	t.Helper()
	var all sync.WaitGroup
	for sentence, run := range cases {
		all.Go(func() { t.Run(sentence, run) })
	}
	all.Wait()
}

// wholeShoot is what a shoot consists of.
func wholeShoot(t *testing.T) []string {
	t.Helper()
	env := newEnvironment(t)
	env.mustReconcile()
	return env.facts()
}

func TestConsistency_Late(t *testing.T) {
	whole, cases := wholeShoot(t), map[string]func(t *testing.T){}
	for sentence, lag := range map[string]fake.Lag{
		"new resources are missing in one response":                  {Reads: 1},
		"new resources are missing in three responses":               {Reads: 3},
		"new tags are missing in filters":                            {TagReads: 3},
		"new resources and tags are missing":                         {Reads: 2, TagReads: 2},
		"new resources are missing for a time, for changes as well":  {For: visibleFor},
		"new resources are missing for a time, and their tags later": {For: visibleFor, TagsFor: tagsVisibleFor},
	} {
		cases[sentence] = func(t *testing.T) {
			env := newLateEnvironment(t, lag)
			env.settleReconcile()
			env.cloud.SetLag(fake.Lag{})
			env.restart()
			env.assertWhole(whole)
		}
		cases[sentence+", deleted at once"] = func(t *testing.T) {
			env := newLateEnvironment(t, lag)
			env.settleReconcile()
			env.settle(env.delete)
			assert.Empty(t, env.cloud.Resources())
		}
	}
	concurrently(t, cases)
}

// creation is one of the calls that create something.
type creation struct {
	action string
	nth    int
}

// creations are those of a shoot with one zone: first those that take no client token, and then some that do.
func creations() []creation {
	return []creation{
		{"CreateVpc", 0},
		{"CreateDhcpOptions", 0},
		{"CreateInternetGateway", 0},
		{"AllocateAddress", 0},
		{"CreateSecurityGroup", 0},
		{"CreateSubnet", 0},
		{"CreateSubnet", 1},
		{"CreateSubnet", 2},
		{"ImportKeyPair", 0},
		{"CreateRouteTable", 0},
		{"CreateRouteTable", 1},
		{"CreateNatGateway", 0},
		{"CreateRole", 0},
		{"CreateInstanceProfile", 0},
	}
}

// The process is killed right after the effect of each creation, and what it created is not visible when the next one looks.
func TestConsistency_KilledAfterCreation(t *testing.T) {
	whole, cases := wholeShoot(t), map[string]func(t *testing.T){}
	lag := fake.Lag{For: visibleFor, TagsFor: tagsVisibleFor}
	for _, c := range creations() {
		for what, next := range map[string]func(env *environment){
			"reconciled": func(env *environment) { env.settleReconcile(); env.assertWhole(whole) },
			"deleted":    func(env *environment) { env.settle(env.delete); assert.Empty(env.t, env.cloud.Resources()) },
		} {
			cases[fmt.Sprintf("%s %d, then %s", c.action, c.nth+1, what)] = func(t *testing.T) {
				env := newLateEnvironment(t, lag)
				env.killAfter(c.action, c.nth)
				_, err := env.reconcile()
				require.Error(t, err)
				require.True(t, env.killed.Load(), "the call was not made")
				env.restart()
				next(env)
			}
		}
	}
	concurrently(t, cases)
}

// A creation is recorded, another one fails, and the next reconciliation does not see yet what is recorded: neither in the same process nor in another one.
func TestConsistency_RecordedAndNotListed(t *testing.T) {
	whole, cases := wholeShoot(t), map[string]func(t *testing.T){}
	for _, refused := range []string{"AttachInternetGateway", "CreateSubnet", "CreateNatGateway", "CreateRoute", "AuthorizeSecurityGroupIngress", "AddRoleToInstanceProfile"} {
		for sentence, restart := range map[string]func(env *environment){"the same process": func(*environment) {}, "another process": (*environment).restart} {
			cases[refused+" was refused, "+sentence] = func(t *testing.T) {
				env := newLateEnvironment(t, fake.Lag{For: 3 * visibleFor})
				env.cloud.Inject(wire.Fault{Match: wire.Match{Path: refused}, Times: 1, Status: 400, Type: "UnauthorizedOperation"})
				_, err := env.reconcile()
				require.Error(t, err)
				restart(env)
				env.settleReconcile()
				time.Sleep(2 * visibleFor)
				env.assertWhole(whole)
			}
		}
	}
	concurrently(t, cases)
}

// What is recorded and missing for longer does not exist: it is created again, once.
func TestConsistency_RecordedAndGone(t *testing.T) {
	env := newEnvironment(t)
	env.mustReconcile()
	before := env.facts()
	association := env.associationOf(env.inZone(awsv1alpha1.ZoneKeySubnetInternal))
	env.do("DisassociateRouteTable", "AssociationId", association)
	env.do("DeleteSubnet", "SubnetId", env.inZone(awsv1alpha1.ZoneKeySubnetInternal))
	env.calls()
	_, err := env.reconcile()
	require.ErrorContains(t, err, "and AWS does not list it yet")
	assert.Equal(t, cloud.Unavailable, cloud.KindOf(err))
	assert.Empty(t, env.writes())
	env.setClock(2 * env.driver.options.VisibleAfter)
	env.mustReconcile()
	assert.Equal(t, []string{"AssociateRouteTable", "CreateSubnet"}, env.writes())
	assert.Empty(t, cmp.Diff(before, env.facts()))
}

// The response to a change of rules is lost, and its repetition says that it was made. The rules of the other direction are changed all the same.
func TestConsistency_LostResponsesOfRules(t *testing.T) {
	reference := newEnvironment(t)
	reference.families = dualStack()
	reference.mustReconcile()
	for _, action := range []string{"RevokeSecurityGroupIngress", "RevokeSecurityGroupEgress", "AuthorizeSecurityGroupIngress", "AuthorizeSecurityGroupEgress"} {
		t.Run(action, func(t *testing.T) {
			env := newEnvironment(t)
			env.families = dualStack()
			lost := env.cloud.Inject(wire.Fault{Match: wire.Match{Path: action}, Times: 1, Drop: wire.DropAfter})
			env.mustReconcile()
			assert.Equal(t, 1, lost())
			assert.Empty(t, cmp.Diff(reference.facts(), env.facts()))
		})
	}
}
