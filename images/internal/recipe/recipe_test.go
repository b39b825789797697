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

func TestRead_PackagesOfAnother(t *testing.T) {
	root := t.TempDir()
	write := func(command, content string) {
		require.NoError(t, os.MkdirAll(filepath.Join(root, "cmd", command), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, "cmd", command, FileName), []byte(content), 0o600))
	}
	write("agent", "debian: {programs: [/usr/sbin/nft], packages: [{name: nftables, version: '1', license: MIT, path: pool/n.deb, sha256: {amd64: a}}]}")
	write("router", "debian: {programs: [/usr/sbin/nft], packagesOf: agent}")
	write("both", "debian: {packagesOf: agent, packages: [{name: nftables, version: '1', license: MIT, path: pool/n.deb, sha256: {amd64: a}}]}")
	write("chain", "debian: {packagesOf: router}")
	write("nobody", "debian: {packagesOf: nothing}")
	agent, err := Read(root, "agent")
	require.NoError(t, err)
	router, err := Read(root, "router")
	require.NoError(t, err)
	assert.Equal(t, agent.Debian.Packages, router.Debian.Packages)
	assert.Equal(t, []string{"/usr/sbin/nft"}, router.Debian.Programs)
	for command, want := range map[string]string{
		"both": "give packages or packagesOf, not both", "chain": `"router" has no packages of its own`, "nobody": `"nothing" has no packages of its own`,
	} {
		_, err := Read(root, command)
		assert.ErrorContains(t, err, want)
	}
}
