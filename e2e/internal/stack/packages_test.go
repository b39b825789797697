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

func TestUnitsOfPackages(t *testing.T) {
	const paths = `/.
/lib/systemd/system
/lib/systemd/system/epmd.service
/lib/systemd/system/epmd.socket
/lib/systemd/system/epmd@.service
/lib/systemd/system/multi-user.target.wants/other.service
/usr/lib/systemd/system/dump.timer
/usr/lib/systemd/user/desktop.service
/usr/share/doc/epmd/README
/lib/systemd/system/alias.service
/lib/systemd/system/slice.slice
`
	isFile := func(path string) bool { return filepath.Base(path) != "alias.service" }
	assert.Equal(t, []string{"epmd.service", "epmd.socket", "dump.timer"}, unitsAmong([]byte(paths), isFile))
}

// program puts a script into a directory of programs.
func program(t *testing.T, dir, name, script string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o700))
}

func TestInstall_DaemonsNotStarted(t *testing.T) {
	for description, test := range map[string]struct {
		end  string
		fail bool
	}{
		"when all is installed":           {end: "exit 0"},
		"when apt-get fails half the way": {end: "exit 100", fail: true},
	} {
		t.Run(description, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
			t.Setenv("MACHINE", dir)
			// Of two packages with a daemon one is there before; the other comes with what it depends on.
			require.NoError(t, write(filepath.Join(dir, "installed"), []byte("postgresql 15 installed\n")))
			for _, name := range []string{"postgresql", "memcached", "epmd"} {
				unit := filepath.Join(dir, "lib/systemd/system", name+".service")
				require.NoError(t, write(unit, nil))
				require.NoError(t, write(filepath.Join(dir, name+".list"), []byte(unit+"\n")))
			}
			program(t, dir, "dpkg-query", `case $1 in --show) cat "$MACHINE/installed";; *) shift; for p; do cat "$MACHINE/$p.list"; done;; esac`)
			program(t, dir, "systemctl", `echo "$@" >>"$MACHINE/disabled"`)
			program(t, dir, "apt-get", `[ "$1" = update ] && exit
				cp "$MACHINE/policy-rc.d" "$MACHINE/policy-meanwhile"
				printf 'memcached 1.6 installed\nepmd 25 installed\n' >>"$MACHINE/installed"; `+test.end)

			policy := policyFile(filepath.Join(dir, "policy-rc.d"))
			err := install(t.Context(), []string{"memcached"}, policy, filepath.Join(dir, "log"))
			assert.Equal(t, test.fail, err != nil, err)
			meanwhile, err := os.ReadFile(filepath.Join(dir, "policy-meanwhile"))
			require.NoError(t, err)
			assert.Equal(t, forbidAll, string(meanwhile))
			assert.NoFileExists(t, string(policy))
			disabled, err := os.ReadFile(filepath.Join(dir, "disabled"))
			require.NoError(t, err)
			assert.Equal(t, "disable epmd.service memcached.service\n", string(disabled))
		})
	}
}

func TestIsFile(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "a.service"), filepath.Join(dir, "b.service")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.NoError(t, os.Symlink(file, link))
	assert.True(t, isFile(file))
	assert.False(t, isFile(link))
	assert.False(t, isFile(filepath.Join(dir, "c.service")))
}

func TestPolicyFile_Restore(t *testing.T) {
	const theirs = "#!/bin/sh\nexit 0\n"
	put := func(t *testing.T, p policyFile) { require.NoError(t, os.WriteFile(string(p), []byte(theirs), 0o700)) }
	read := func(t *testing.T, p policyFile) string {
		content, err := os.ReadFile(string(p))
		require.NoError(t, err)
		return string(content)
	}
	for description, prepare := range map[string]func(*testing.T, policyFile){
		"there was one":  put,
		"there was none": func(*testing.T, policyFile) {},
		"an earlier run was killed over one": func(t *testing.T, p policyFile) {
			put(t, p)
			require.NoError(t, p.forbid())
		},
		"an earlier run was killed over none": func(t *testing.T, p policyFile) { require.NoError(t, p.forbid()) },
	} {
		t.Run(description, func(t *testing.T) {
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

func TestPolicyFile_RestoreChanged(t *testing.T) {
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
