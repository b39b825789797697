package openstack

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
)

// The observer foresees the machines that the driver describes after Prepare, except for the IDs of groups that are not recorded.
func TestForesee(t *testing.T) {
	for sentence, tc := range map[string]struct {
		change func(*environment)
		// unknownGroup is true if the observer cannot know the ID of the group of pool cpu.
		unknownGroup bool
	}{
		"nothing":                   {change: func(*environment) {}},
		"another policy":            {change: func(env *environment) { env.setServerGroup("cpu", "affinity") }, unknownGroup: true},
		"no group":                  {change: func(env *environment) { env.setServerGroup("cpu", "") }},
		"the status is lost":        {change: func(env *environment) { env.status = nil }, unknownGroup: true},
		"another image":             {change: func(env *environment) { env.pools[0].MachineImage.Version = "1592.1.0" }},
		"the profile has no images": {change: func(env *environment) { env.profile.MachineImages = nil }},
		"a network more": {change: func(env *environment) {
			env.configs[0].AdditionalNetworks = []openstackv1alpha1.AdditionalNetwork{{Name: "storage"}}
		}},
		"the policy, and back before it": {change: func(env *environment) {
			env.setServerGroup("cpu", "affinity")
			env.setServerGroup("cpu", "anti-affinity")
		}},
	} {
		t.Run(sentence, func(t *testing.T) {
			env := newCloudEnvironment(t)
			env.setServerGroup("cpu", "anti-affinity")
			env.addPool("gpu")
			env.setServerGroup("gpu", "soft-anti-affinity")
			env.mustReconcile()
			tc.change(env)
			env.calls()

			foreseen, err := NewObserver().Foresee(env.shootInput())
			require.NoError(t, err)
			assert.Empty(t, env.calls(), "the observer makes no requests")
			prepared, err := env.driver.Prepare(t.Context(), env.shootInput())
			require.NoError(t, err)
			for i, pool := range env.pools {
				shoot := env.shootInput()
				want, err := env.driver.Machines(shoot, prepared, &shoot.Worker.Spec.Pools[i])
				require.NoError(t, err)
				got, err := NewObserver().Machines(shoot, foreseen, &shoot.Worker.Spec.Pools[i])
				require.NoError(t, err)
				if isNew := tc.unknownGroup && pool.Name == "cpu" || env.status == nil; isNew {
					assert.Contains(t, got.HashData[0], "a new server group with policy ")
					got.HashData[0] = want.HashData[0]
				}
				assert.Equal(t, want.HashData, got.HashData)
				assert.Equal(t, want.HashDataInPlace, got.HashDataInPlace)
				assert.Len(t, got.HashDataNames, len(got.HashData))
			}
		})
	}
}

func TestForesee_InvalidInputs(t *testing.T) {
	for problem, change := range map[string]func(*environment){
		"the Infrastructure has not reported the network yet": func(env *environment) { env.infra.Networks.ID = "" },
		"the machines of pool \"cpu\" have no image":          func(env *environment) { env.pools[0].MachineImage.Version = "0.0.1" },
	} {
		t.Run(problem, func(t *testing.T) {
			env := newEnvironment(t)
			change(env)
			_, err := NewObserver().Foresee(env.shootInput())
			assert.ErrorContains(t, err, problem)
		})
	}
}
