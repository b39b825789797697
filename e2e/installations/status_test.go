package installations

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// testStatus runs the binary with --status, as an admin does.
func testStatus(t *testing.T, env *environment) {
	printed, err := exec.CommandContext(t.Context(), env.path, "--status", "--kubeconfig="+env.Kubeconfig).CombinedOutput()
	require.NoError(t, err, "%s", printed)
	t.Logf("\n%s", printed)
	tables := strings.Split(strings.TrimSpace(string(printed)), "\n\n")
	require.Len(t, tables, 2)
	deployments, installations := rows(t, tables[0]), rows(t, tables[1])
	for _, each := range trellis() {
		found := deployments[each.name]
		require.NotNil(t, found, "%s has a row", each.name)
		assert.Regexp(t, "^[0-9a-f]{10}$", found["NEWEST"])
		assert.Contains(t, []string{"Candidate", "Good"}, found["RESULT"])
		for _, s := range env.sitesWithGardenlet() {
			installation := env.inUse(t, s.name, each.name)
			row := installations[installation.Name]
			require.NotNil(t, row, "%s has a row", installation.Name)
			assert.Equal(t, map[string]string{
				"INSTALLATION": installation.Name, "SEED": s.name, "BY": s.mode, "WAVE": map[string]string{byGarden: "rest", bySeed: "-"}[s.mode],
				"REVISION": statusOf(t, installation).Revision, "TARGET": "-", "PHASE": "Healthy", "AGE": row["AGE"],
				"VALID": "True", "INSTALLED": "True", "HEALTHY": "True", "PROGRESSING": "False", "MESSAGE": "",
			}, row)
		}
	}
	for _, each := range others() {
		assert.NotContains(t, deployments, each.Name, "gardenlet's are not the operator's")
	}
}

// rows parses a table, by its first column. Columns are separated by at least two spaces.
func rows(t *testing.T, table string) map[string]map[string]string {
	t.Helper()
	apart := regexp.MustCompile(` {2,}`)
	lines := strings.Split(table, "\n")
	header := apart.Split(strings.TrimSpace(lines[0]), -1)
	found := map[string]map[string]string{}
	for _, line := range lines[1:] {
		cells := apart.Split(strings.TrimRight(line, " "), len(header))
		row := map[string]string{}
		for i, column := range header {
			row[column] = ""
			if i < len(cells) {
				row[column] = cells[i]
			}
		}
		found[cells[0]] = row
	}
	return found
}
