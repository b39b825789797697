package golden

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	before = "apiVersion: v1\ndata:\n  a: b\nkind: ConfigMap\nmetadata:\n  name: one\n---\nkind: Secret\nmetadata:\n  name: two\n  namespace: x\ntype: a\n"
	after  = "apiVersion: v1\ndata:\n  a: c\nkind: ConfigMap\nmetadata:\n  name: one\n---\nkind: Secret\nmetadata:\n  name: two\n  namespace: x\ntype: b\n"
)

func TestHunks(t *testing.T) {
	assert.Empty(t, hunksOf(before, before))
	assert.Equal(t, `@@ -1,6 +1,6 @@ ConfigMap one
 apiVersion: v1
 data:
-  a: b
+  a: c
 kind: ConfigMap
 metadata:
   name: one
@@ -9,4 +9,4 @@ Secret two
 metadata:
   name: two
   namespace: x
-type: a
+type: b
`, hunksOf(before, after))
}

// The diff of random texts, applied to the first, is the second.
func TestApply(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		var lines strings.Builder
		for range random.IntN(60) {
			lines.WriteString(string(rune('a'+random.IntN(4))) + "\n")
		}
		return lines.String()
	}
	for range 2000 {
		from, to := text(), text()
		parsed, err := parse("--- from\n+++ to\n" + hunksOf(from, to))
		require.NoError(t, err)
		got, err := parsed.apply(from)
		require.NoError(t, err)
		require.Equal(t, to, got)
	}
}

func TestRead(t *testing.T) {
	folder := t.TempDir()
	for name, content := range map[string]string{
		"whole.yaml": before, "once.diff": "--- whole.yaml\n+++ once.diff\n" + hunksOf(before, after),
		"twice.diff":  "--- once.diff\n+++ twice.diff\n" + hunksOf(after, before+"---\nkind: Node\n"),
		"same.diff":   "--- once.diff\n+++ same.diff\n",
		"other.diff":  "--- whole.yaml\n+++ other.diff\n" + hunksOf(after, before),
		"orphan.diff": "--- nothing.yaml\n+++ orphan.diff\n", "broken.diff": "--- whole.yaml\n+++ broken.diff\nso\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600))
	}
	for name, want := range map[string]string{"whole.yaml": before, "once.diff": after, "twice.diff": before + "---\nkind: Node\n", "same.diff": after} {
		got, err := Read(filepath.Join(folder, name))
		require.NoError(t, err, name)
		assert.Equal(t, want, got, name)
	}
	for name, want := range map[string]string{
		"other.diff": `line 3 of the base is not "  a: c\n"`, "orphan.diff": "reading the base of", "broken.diff": `unexpected line "so\n"`,
	} {
		_, err := Read(filepath.Join(folder, name))
		assert.ErrorContains(t, err, want, name)
	}
}
