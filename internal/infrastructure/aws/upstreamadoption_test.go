package aws

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
)

// upstreamVariants are shoots that upstream's extension and this driver both can create.
func upstreamVariants() map[string]func(env *environment) {
	threeZones := func(env *environment) {
		env.addZone("b", "10.250.32.0/19", "10.250.100.0/22", "10.250.116.0/22")
		env.addZone("c", "10.250.64.0/19", "10.250.104.0/22", "10.250.120.0/22")
	}
	return map[string]func(env *environment){
		"one zone":    func(*environment) {},
		"three zones": threeZones,
		"dual stack with gateway endpoints": func(env *environment) {
			threeZones(env)
			env.families = []gardencorev1beta1.IPFamily{gardencorev1beta1.IPFamilyIPv4, gardencorev1beta1.IPFamilyIPv6}
			env.config.Networks.VPC.GatewayEndpoints = []string{"s3", "dynamodb"}
		},
	}
}

// state is what is recorded.
func (env *environment) state() map[string]string {
	env.t.Helper()
	recorded, err := awsv1alpha1.DecodeInfrastructureState(env.infra.Status.State)
	require.NoError(env.t, err)
	return recorded.Data
}

// In the state that upstream's extension leaves, with rules as EC2 merges them and policies as IAM encodes them, nothing is written: A1, A2, A3, A5.
func TestUpstream_DeployedShootIsUnchanged(t *testing.T) {
	for sentence, use := range upstreamVariants() {
		t.Run(sentence, func(t *testing.T) {
			u := newUpstreamShoot(t)
			use(u.environment)
			u.deployed()
			before, recorded := u.resources(), u.state()
			for range 2 {
				outcome := u.mustReconcile()
				assert.Empty(t, u.writes(), "neither routes nor rules nor policies are written")
				assert.Empty(t, cmp.Diff(before, u.resources()))
				assert.Empty(t, outcome.Findings)
			}
			after := u.state()
			for key, value := range recorded {
				assert.Equal(t, value, after[key], "what upstream recorded under %s", key)
			}
			require.NoError(t, u.delete())
			assert.Empty(t, u.cloud.Resources())
		})
		t.Run(sentence+", as this driver creates it", func(t *testing.T) {
			u := newUpstreamShoot(t)
			use(u.environment)
			u.deployed()
			created := newEnvironment(t)
			use(created)
			created.mustReconcile()
			assert.Empty(t, cmp.Diff(created.facts(), u.facts()))
		})
		t.Run(sentence+", deleted without a reconciliation", func(t *testing.T) {
			u := newUpstreamShoot(t)
			use(u.environment)
			u.deployed()
			require.NoError(t, u.delete())
			assert.Empty(t, u.cloud.Resources())
		})
	}
}

// Upstream's extension has stopped after each of its steps, with the last one recorded, not recorded, or nothing at all. What exists is used, what is missing
// is created, and the result is what this driver creates alone. A deletion leaves nothing.
func TestUpstream_StoppedAfterEachStep(t *testing.T) {
	reference := newEnvironment(t)
	reference.mustReconcile()
	whole := reference.facts()
	for i, step := range newUpstreamShoot(t).upstreamSteps() {
		for records, save := range map[string]func(u *upstreamShoot){
			"recorded":                     func(u *upstreamShoot) { u.run(u.upstreamSteps()[:i+1], true) },
			"not recorded":                 func(u *upstreamShoot) { u.run(u.upstreamSteps()[:i+1], false) },
			"not recorded, nor all before": func(u *upstreamShoot) { u.run(u.upstreamSteps()[:i+1], false); u.saveUpstream(nil) },
		} {
			t.Run(step.what+", "+records, func(t *testing.T) {
				t.Parallel()
				u := newUpstreamShoot(t)
				save(u)
				before := u.cloud.Resources()
				u.mustReconcile()
				assert.Empty(t, cmp.Diff(whole, u.facts()))
				for _, id := range before {
					assert.Contains(t, u.cloud.Resources(), id, "adopted, not replaced")
				}
				u.mustReconcile()
				assert.Empty(t, u.writes())
				require.NoError(t, u.delete())
				assert.Empty(t, u.cloud.Resources())
			})
			t.Run(step.what+", "+records+", deleted without a reconciliation", func(t *testing.T) {
				t.Parallel()
				u := newUpstreamShoot(t)
				save(u)
				require.NoError(t, u.delete())
				assert.Empty(t, u.cloud.Resources())
			})
		}
	}
}

// The process is killed at each call of the adoption, and the shoot is deleted before it was adopted. What upstream's extension made and did not record is
// deleted, too.
func TestUpstream_AdoptionAbandoned(t *testing.T) {
	const stopped = 15 // steps; the NAT gateway is the last one
	reference := newUpstreamShoot(t)
	reference.run(reference.upstreamSteps()[:stopped], false)
	reference.mustReconcile()
	seen := map[string]int{}
	for _, call := range reference.cloud.Log() {
		action, nth := call.Path, seen[call.Path]
		seen[action]++
		t.Run(fmt.Sprintf("%s %d", action, nth+1), func(t *testing.T) {
			t.Parallel()
			u := newUpstreamShoot(t)
			u.visibleAfter = time.Millisecond
			u.run(u.upstreamSteps()[:stopped], false)
			u.killAfter(action, nth)
			_, err := u.reconcile()
			require.Error(t, err)
			u.restart()
			require.NoError(t, u.delete())
			assert.Empty(t, u.cloud.Resources())
		})
	}
}

// Resources of older shoots have another value of the cluster's tag. It is replaced, and nothing else is written.
func TestUpstream_OlderTags(t *testing.T) {
	older := func(t *testing.T) *upstreamShoot {
		u := newUpstreamShoot(t)
		u.clusterValue = clusterOwnedOnce
		return u.deployed()
	}
	t.Run("are replaced", func(t *testing.T) {
		u := older(t)
		before := u.cloud.Resources()
		u.mustReconcile()
		assert.Equal(t, []string{"CreateTags"}, slices.Compact(u.writes()))
		assert.Equal(t, before, u.cloud.Resources())
		for _, resource := range u.resources() {
			assert.NotContains(t, resource.Facts, tagClusterPrefix+technicalID+`":"1"`, resource.Kind)
		}
		u.mustReconcile()
		assert.Empty(t, u.writes())
	})
	for sentence, data := range map[string]func(u *upstreamShoot) map[string]string{
		"are the shoot's":                   func(u *upstreamShoot) map[string]string { return u.state() },
		"are the shoot's without any state": func(*upstreamShoot) map[string]string { return nil },
	} {
		t.Run(sentence, func(t *testing.T) {
			u := older(t)
			u.saveUpstream(data(u))
			require.NoError(t, u.delete())
			assert.Empty(t, u.cloud.Resources())
		})
	}
}

// In a given VPC upstream's extension records what is the user's like its own. The deletion leaves it.
func TestUpstream_GivenVPC(t *testing.T) {
	u := newUpstreamShoot(t)
	steps := u.upstreamSteps()
	owned := slices.IndexFunc(steps, func(s upstreamStep) bool { return s.what == "the main route table" })
	u.clusterValue = "of-the-user"
	for _, step := range steps[:owned] {
		maps.Copy(u.made, step.do(u))
	}
	given := u.cloud.Resources()
	u.clusterValue = clusterOwned
	u.run(steps[owned:], true)
	recorded := u.state()
	for _, key := range []string{awsv1alpha1.StateKeyVPC, awsv1alpha1.StateKeyInternetGateway} {
		recorded[key] = u.made[key]
	}
	u.saveUpstream(recorded)
	u.config.Networks.VPC = awsv1alpha1.VPC{ID: new(u.made[awsv1alpha1.StateKeyVPC])}
	for _, before := range []func(){func() { u.mustReconcile() }, func() {}} {
		before()
		assert.Empty(t, u.writes())
	}
	require.NoError(t, u.delete())
	assert.Equal(t, given, u.cloud.Resources())
}

// The way back: upstream's extension reads the state that this driver writes, which has the same keys with the same values.
func TestState_ReadByUpstream(t *testing.T) {
	for sentence, use := range upstreamVariants() {
		t.Run(sentence, func(t *testing.T) {
			u := newUpstreamShoot(t)
			use(u.environment)
			wanted := u.deployed().state()
			env := newEnvironment(t)
			use(env)
			env.mustReconcile()
			written := env.state() // decoding it has shown that all values are strings
			// What AWS chooses differs between two accounts.
			form := func(value string) string {
				return regexp.MustCompile(`-[0-9a-f]{17}|[0-9a-f:.]+/\d+`).ReplaceAllString(value, "")
			}
			for key, value := range written {
				upstreams, known := wanted[key]
				switch {
				case strings.HasPrefix(key, awsv1alpha1.StateKeyPrefix):
				case !known:
					t.Errorf("upstream has no key %s", key)
				default:
					assert.Equal(t, form(upstreams), form(value), key)
					assert.NotEmpty(t, value, key)
				}
			}
			for key := range wanted {
				if key != awsv1alpha1.StateKeyEgressCIDRs { // upstream computes it anew
					assert.Contains(t, written, key)
				}
			}
		})
	}
}

// Keys that this driver does not know, or does not need, stay.
func TestState_KeepsUpstreamKeys(t *testing.T) {
	u := newUpstreamShoot(t).deployed()
	data := u.state()
	data[awsv1alpha1.StateKeyMigratedFromTerraform], data["SomethingNew"] = "true", "value"
	u.saveUpstream(data)
	u.mustReconcile()
	for key, value := range data {
		assert.Equal(t, value, u.state()[key], key)
	}
}
