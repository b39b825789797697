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
func testWaves(t *testing.T, w *world) {
	w.begun(t)
	former, known, mark := w.lastGood(t), w.revisions(t), w.record.len()
	w.change(t, func(config *installationv1alpha1.ControllerDeploymentConfig) {
		config.Chart = chart(t, "second", false)
	})
	w.dieAtWrites(t, 12, "all seeds have it", func() error {
		revisions := w.revisions(t)
		newest := revisions[len(revisions)-1]
		if newest.verdict != good {
			return fmt.Errorf("it is %s", newest.verdict)
		}
		return w.ill(t, newest.name, "second")
	})

	name, assignments := w.newRevision(t, known), w.assignmentsSince(t, mark)
	tell(t, assignments, name)
	assert.Len(t, assignments, len(w.sites), "each installation is given it once")
	assert.Empty(t, w.rules(soak).broken(assignments, name))
	for seed, installation := range w.installations(t, registration) {
		assert.Equal(t, []string{former}, historyOf(t, installation), seed)
	}
	w.assertTable(t, name)
	w.word = "second"
}

// assertTable: whoever asks the binary for a table finds each installation there.
func (w *world) assertTable(t *testing.T, revision string) {
	t.Helper()
	table, err := exec.CommandContext(t.Context(), w.path, "--status", "--types=trellis", "--kubeconfig="+w.front).Output()
	require.NoError(t, err)
	installations := w.installations(t, registration)
	for _, s := range w.sites {
		row := `(?m)^` + installations[s.seed].Name + ` +` + s.seed + ` +garden +` + s.wave + ` +` + revision + ` +- +Healthy +\d+[sm]\S* +True +True +True +False *$`
		assert.Regexp(t, row, string(table))
	}
}
