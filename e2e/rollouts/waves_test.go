package rollouts

import (
	"fmt"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
)

// A change goes to the canaries first, one after the other, then to some more, and to the others last; although the operator is killed every now and then.
func testWaves(t *testing.T, env *environment) {
	env.ensureInstalled(t)
	previous, known, mark := env.lastGood(t), env.revisions(t), env.record.len()
	env.change(t, func(config *installationv1alpha1.ControllerDeploymentConfig) {
		config.Chart = chart(t, "second", false)
	})
	env.killAtWrites(t, 12, "all seeds have it", func() error {
		revisions := env.revisions(t)
		newest := revisions[len(revisions)-1]
		if newest.result != good {
			return fmt.Errorf("it is %s", newest.result)
		}
		return env.checkInstallations(t, newest.name, "second")
	})

	name, assignments := env.newRevision(t, known), env.assignmentsSince(t, mark)
	logAssignments(t, assignments, name)
	assert.Len(t, assignments, len(env.sites), "each installation is given it once")
	assert.Empty(t, env.rules(soak).violations(assignments, name))
	for seed, installation := range env.installations(t, registration) {
		assert.Equal(t, []string{previous}, historyOf(t, installation), seed)
	}
	env.assertTable(t, name)
	env.contentValue = "second"
}

// assertTable: whoever asks the binary for a table finds each installation there.
func (env *environment) assertTable(t *testing.T, revision string) {
	t.Helper()
	table, err := exec.CommandContext(t.Context(), env.path, "--status", "--types=trellis", "--kubeconfig="+env.gardenKubeconfig).Output()
	require.NoError(t, err)
	installations := env.installations(t, registration)
	for _, s := range env.sites {
		row := `(?m)^` + installations[s.seed].Name + ` +` + s.seed + ` +garden +` + s.wave + ` +` + revision + ` +- +Healthy +\d+[sm]\S* +True +True +True +False *$`
		assert.Regexp(t, row, string(table))
	}
}
