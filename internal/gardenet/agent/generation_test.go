package agent

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestRun_RaisesTheGeneration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnvironment(t, node("own", 1), pod("one", 1))
		e.start()
		e.wait(time.Second)
		assert.EqualValues(t, 1, e.kernel.generation)
		e.create(pod("two", 2))
		e.wait(time.Second)
		assert.EqualValues(t, 1, e.kernel.generation, "wider rules need no check of connections")

		e.create(networkPolicy("deny"), networkPolicy("deny-more"))
		e.deletePod("two")
		e.wait(time.Second)
		assert.EqualValues(t, 2, e.kernel.generation, "narrower rules do, once for all changes")
		assert.Equal(t, 2, e.metric("gardenet_generation"))
		assert.Equal(t, 2, e.metric("gardenet_policies"))
		require.NoError(t, e.client.NetworkingV1().NetworkPolicies("default").Delete(t.Context(), "deny", metav1.DeleteOptions{}))
		require.NoError(t, e.client.NetworkingV1().NetworkPolicies("default").Delete(t.Context(), "deny-more", metav1.DeleteOptions{}))
		e.wait(time.Second)
		assert.EqualValues(t, 2, e.kernel.generation)
		assert.Equal(t, []string{"10.96.1.1"}, e.kernel.allowed())
		e.wait(time.Hour)
		assert.EqualValues(t, 2, e.kernel.generation, "verification is no change")
	})
}

func TestRun_GenerationAfterFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnvironment(t, node("own", 1), pod("one", 1), pod("two", 2))
		e.start()
		e.wait(time.Second)
		e.kernel.fails = []error{errors.New("busy"), errors.New("busy")}
		e.deletePod("two")
		e.wait(time.Minute)
		assert.EqualValues(t, 2, e.kernel.generation, "attempts with equal rules have one generation")

		// The kernel gets rules that allow less, then more, then less, though the second application reports a failure.
		e.create(pod("three", 3))
		e.kernel.failsAfter = []error{errors.New("no conflist")}
		e.wait(gatherTime)
		assert.Equal(t, []string{"10.96.1.1", "10.96.1.3"}, e.kernel.allowed())
		e.deletePod("three")
		e.wait(time.Minute)
		assert.Equal(t, []string{"10.96.1.1"}, e.kernel.allowed())
		assert.EqualValues(t, 3, e.kernel.generation, "what was accepted in between is checked again")
	})
}

func TestRun_GenerationOfAnAgentBefore(t *testing.T) {
	for sentence, test := range map[string]struct {
		generation uint8
		// between changes the cluster while no agent runs.
		between func(*environment)
		prepare func(*fakeKernel)
		want    uint8
		// applications are those of the second agent.
		applications int
	}{
		"is kept if nothing has changed": {
			generation: 41, want: 41, applications: 1,
		},
		"is raised if something has, since it is unknown what was allowed": {
			generation: 41, between: func(e *environment) { e.deletePod("one") }, want: 42, applications: 2,
		},
		"is raised over 0": {
			generation: math.MaxUint8, between: func(e *environment) { e.deletePod("one") }, want: 1, applications: 2,
		},
		"is read again after an error": {
			generation: 41, prepare: func(k *fakeKernel) { k.rulesFails = []error{errors.New("nft is missing")} }, want: 41, applications: 1,
		},
		"is raised if the first application fails: it may have changed the rules": {
			generation: 41, between: func(e *environment) { e.deletePod("one") },
			prepare: func(k *fakeKernel) { k.failsAfter = []error{errors.New("no conflist")} }, want: 42, applications: 2,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newEnvironment(t, node("own", 1), pod("one", 1), pod("two", 2))
				e.start()
				e.wait(time.Second)
				e.stop()
				e.kernel.has.Table.Chains[0].Rules, e.kernel.generation = []string{fmt.Sprint(test.generation)}, test.generation
				if test.between != nil {
					test.between(e)
				}
				if test.prepare != nil {
					test.prepare(e.kernel)
				}
				before := e.kernel.applied()
				e.start()
				e.wait(time.Minute)
				assert.Equal(t, test.want, e.kernel.generation)
				assert.Equal(t, test.applications, e.kernel.applied()-before)
				e.assertReady()
			})
		})
	}
	t.Run("is not read without checks of connections", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			e := newEnvironment(t, node("own", 1), pod("one", 1))
			e.config.NetworkPolicy.Recheck = false
			e.kernel.rulesFails = []error{errors.New("unexpected")}
			e.start()
			e.wait(time.Second)
			e.deletePod("one")
			e.wait(time.Second)
			assert.EqualValues(t, 1, e.kernel.generation)
			e.assertReady()
		})
	})
}
