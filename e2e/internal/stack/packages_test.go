package stack

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseInstalled(t *testing.T) {
	const output = "nova-common 2:26.2.2-1~deb12u5 installed\nmemcached 1.6.18-1 config-files\nrabbitmq-server  not-installed\n"
	assert.Equal(t, map[string]string{"nova-common": "2:26.2.2-1~deb12u5"}, parseInstalled([]byte(output)))
}

func TestThePolicyIsPutBackAsItWas(t *testing.T) {
	const theirs = "#!/bin/sh\nexit 0\n"
	put := func(t *testing.T, p policyFile) { require.NoError(t, os.WriteFile(string(p), []byte(theirs), 0o700)) }
	read := func(t *testing.T, p policyFile) string {
		content, err := os.ReadFile(string(p))
		require.NoError(t, err)
		return string(content)
	}
	for sentence, prepare := range map[string]func(*testing.T, policyFile){
		"there was one":  put,
		"there was none": func(*testing.T, policyFile) {},
		"an earlier run was killed over one": func(t *testing.T, p policyFile) {
			put(t, p)
			require.NoError(t, p.forbid())
		},
		"an earlier run was killed over none": func(t *testing.T, p policyFile) { require.NoError(t, p.forbid()) },
	} {
		t.Run(sentence, func(t *testing.T) {
			p := policyFile(filepath.Join(t.TempDir(), "policy-rc.d"))
			prepare(t, p)
			_, err := os.Stat(p.saved())
			hadOne := err == nil
			if content, err := os.ReadFile(string(p)); err == nil && string(content) == theirs {
				hadOne = true
			}

			require.NoError(t, p.forbid())
			assert.Equal(t, forbidAll, read(t, p))
			info, err := os.Stat(string(p))
			require.NoError(t, err)
			assert.NotZero(t, info.Mode()&0o100, "it can be run")

			require.NoError(t, p.restore())
			if hadOne {
				assert.Equal(t, theirs, read(t, p))
			} else {
				assert.NoFileExists(t, string(p))
			}
			assert.NoFileExists(t, p.saved())
		})
	}
}

func TestAPolicyThatSomebodyHasWrittenSinceStays(t *testing.T) {
	p := policyFile(filepath.Join(t.TempDir(), "policy-rc.d"))
	require.NoError(t, os.WriteFile(string(p), []byte("earlier"), 0o600))
	require.NoError(t, p.forbid())
	require.NoError(t, os.WriteFile(string(p), []byte("later"), 0o600))

	require.NoError(t, p.restore())
	content, err := os.ReadFile(string(p))
	require.NoError(t, err)
	assert.Equal(t, "later", string(content))

	require.NoError(t, os.Remove(string(p)))
	require.NoError(t, p.restore())
	content, err = os.ReadFile(string(p))
	require.NoError(t, err)
	assert.Equal(t, "earlier", string(content), "nothing stands in its way")
}
