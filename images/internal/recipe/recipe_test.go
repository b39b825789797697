package recipe

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRead(t *testing.T) {
	for sentence, test := range map[string]struct{ content, want string }{
		"tools of a module":      {"go: [{module: images/cni, folder: /opt/cni/bin}]", ""},
		"an unknown field":       {"apt: [nftables]", "field apt not found"},
		"a relative program":     {"debian: {programs: [nft]}", `debian.programs[0]: must be an absolute path, not "nft"`},
		"a package not complete": {"debian: {packages: [{name: nftables}]}", "debian.packages[0]: name, version, license, path and sha256 are required"},
		"a module without place": {"go: [{module: images/cni}]", "go[0]: a module and an absolute folder are required"},
	} {
		t.Run(sentence, func(t *testing.T) {
			root := t.TempDir()
			require.NoError(t, os.MkdirAll(filepath.Join(root, "cmd", "agent"), 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(root, "cmd", "agent", FileName), []byte(test.content), 0o600))
			_, err := Read(root, "agent")
			if test.want == "" {
				require.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, test.want)
		})
	}
	none, err := Read(t.TempDir(), "agent")
	require.NoError(t, err)
	assert.Empty(t, none)
}
