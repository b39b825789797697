package webhooks

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/controller"
)

// TestWebhooks runs the controller in two seeds at the same time. In one its webhooks are called for all that they are made for,
// in the other one they are called without a pause while what they depend on is replaced. The parts of each follow one another.
func TestWebhooks(t *testing.T) {
	what := controller.ControlPlane()
	what.Types = []string{"openstack"} // aws is the type of others here
	binary, err := what.Build(t.Context())
	require.NoError(t, err)

	type part struct {
		name string
		run  func(*testing.T, *environment)
	}
	for name, group := range map[string]struct {
		start func(*testing.T, *environment)
		parts []part
	}{
		"Objects": {startOne, []part{
			{"Registration", testRegistration},
			{"Components", testComponents},
			{"LeftAlone", testSkipped},
			{"Etcds", testEtcds},
			{"Credentials", testCredentials},
			{"Refusals", testRefusals},
			{"Repair", testRepair},
			{"Modes", testModes},
			{"Disabled", testDisabled},
		}},
		"Replicas": {startTwo, []part{
			{"Standby", testStandby},
			{"Rotation", testRotation},
			{"Crash", testCrash},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newEnvironment(t, what, binary)
			group.start(t, env)
			for _, part := range group.parts {
				t.Run(part.name, func(t *testing.T) { part.run(t, env) })
			}
		})
	}
}
