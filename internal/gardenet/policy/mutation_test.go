package policy

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A test that never fails shows nothing: most changes of the rules must be found.
func TestFor_DisagreesWhenChanged(t *testing.T) {
	for sentence, change := range map[string]func(*rand.Rand, []string) []string{
		"a rule less": func(random *rand.Rand, lines []string) []string {
			return without(random, lines, func(line string) bool { return strings.HasSuffix(line, " return") && !strings.Contains(line, "sport") })
		},
		"a rule for replies less": func(random *rand.Rand, lines []string) []string {
			return without(random, lines, func(line string) bool { return strings.HasSuffix(line, " return") && strings.Contains(line, "sport") })
		},
		"an address less": func(random *rand.Rand, lines []string) []string {
			return without(random, lines, func(line string) bool { return strings.HasSuffix(line, ",") && !strings.Contains(line, "jump") })
		},
		"an isolated pod less": func(random *rand.Rand, lines []string) []string {
			return without(random, lines, func(line string) bool { return strings.Contains(line, " : jump ") })
		},
		"no drop at the end of a chain": func(random *rand.Rand, lines []string) []string {
			return without(random, lines, func(line string) bool { return strings.Contains(line, "drop comment") })
		},
		"a rule of a base chain less": func(random *rand.Rand, lines []string) []string {
			return without(random, lines, func(line string) bool {
				return strings.Contains(line, "vmap") || strings.HasPrefix(line, "\t\tct ") && !strings.Contains(line, "related meta") || strings.Contains(line, "!= @")
			})
		},
		"another port": func(_ *rand.Rand, lines []string) []string {
			return strings.Split(strings.ReplaceAll(strings.Join(lines, "\n"), "port 80", "port 81"), "\n")
		},
		"source and destination changed": func(_ *rand.Rand, lines []string) []string {
			return strings.Split(strings.ReplaceAll(strings.Join(lines, "\n"), "ip saddr @sel", "ip daddr @sel"), "\n")
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			random, found := rand.New(rand.NewPCG(1, 1)), 0
			const tries = 100
			for seed := range tries {
				o := randomCluster(&choices{random: rand.New(rand.NewPCG(uint64(seed), 1))})
				n, err := newNetwork(o, true, func(text string) string { return strings.Join(change(random, strings.Split(text, "\n")), "\n") })
				require.NoError(t, err)
				if disagreement(o, n) != "" {
					found++
				}
			}
			t.Logf("%d of %d found", found, tries)
			assert.Greater(t, found, tries/5)
		})
	}
}

// without returns lines without a random one of those that may go.
func without(random *rand.Rand, lines []string, mayGo func(string) bool) []string {
	var candidates []int
	for i, line := range lines {
		if mayGo(line) {
			candidates = append(candidates, i)
		}
	}
	if len(candidates) == 0 {
		return lines
	}
	at := candidates[random.IntN(len(candidates))]
	return slices.Delete(slices.Clone(lines), at, at+1)
}
