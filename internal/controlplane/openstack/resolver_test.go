package openstack

import (
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/controlplane"
	"github.com/trellis-garden/trellis/internal/controlplane/tuning"
)

func decoded(t *testing.T, text string) []byte {
	t.Helper()
	plain, err := base64.StdEncoding.DecodeString(text)
	require.NoError(t, err)
	return plain
}

// machine is a folder that scripts take for the root of a machine.
type machine struct{ root string }

func newMachine(t *testing.T, files map[string]string) machine {
	t.Helper()
	m := machine{t.TempDir()}
	for path, content := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(m.root+path), 0o750))
		require.NoError(t, os.WriteFile(m.root+path, []byte(content), 0o600))
	}
	return m
}

// run runs a script as /bin/sh does on a node.
func (m machine) run(t *testing.T, script string) {
	t.Helper()
	for _, folder := range []string{"/etc", "/run"} {
		require.NoError(t, os.MkdirAll(m.root+folder, 0o750))
		script = strings.ReplaceAll(script, " "+folder+"/", " "+m.root+folder+"/")
		script = strings.ReplaceAll(script, "="+folder+"/", "="+m.root+folder+"/")
	}
	command := exec.CommandContext(t.Context(), "/bin/sh", "-c", script)
	command.Env = []string{"PATH=" + m.root + "/bin:" + os.Getenv("PATH")}
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s", output)
}

func (m machine) read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(m.root + path)
	require.NoError(t, err)
	return string(content)
}

func scriptFor(t *testing.T, options ...string) string {
	t.Helper()
	files := newResolver(&openstackv1alpha1.CloudProfileConfig{ResolvConfOptions: options}).files()
	require.Len(t, files, 1)
	assert.Equal(t, "/opt/bin/update-resolv-conf.sh", files[0].Path)
	assert.Equal(t, uint32(0o755), *files[0].Permissions)
	return files[0].Content.Inline.Data
}

const resolved, plain, forKubelet = "/run/systemd/resolve/resolv.conf", "/etc/resolv.conf", "/etc/resolv-for-kubelet.conf"

func TestResolvConf(t *testing.T) {
	for sentence, test := range map[string]struct {
		files   map[string]string
		options []string
		want    string
	}{
		"options are added to what systemd-resolved knows": {
			files: map[string]string{resolved: "nameserver 1.1.1.1", plain: "nameserver 127.0.0.53\n"}, options: []string{"rotate", "timeout:1"},
			want: "nameserver 1.1.1.1\noptions rotate timeout:1\n",
		},
		"without options it is what systemd-resolved knows": {
			files: map[string]string{resolved: "nameserver 1.1.1.1\n", plain: "nameserver 127.0.0.53\n"}, want: "nameserver 1.1.1.1\n",
		},
		"a machine without systemd-resolved has options too": {
			files: map[string]string{plain: "nameserver 2.2.2.2\n"}, options: []string{"rotate"}, want: "nameserver 2.2.2.2\n\noptions rotate\n",
		},
		"a machine may have neither systemd-resolved nor options": {
			files: map[string]string{plain: "nameserver 2.2.2.2\n"}, want: "nameserver 2.2.2.2\n",
		},
		"the listener of systemd-resolved is left out beside a server": {
			files: map[string]string{plain: "nameserver 127.0.0.53\nnameserver  127.0.0.54\nnameserver 127.0.0.5\nnameserver 2.2.2.2\n"},
			want:  "nameserver 127.0.0.5\nnameserver 2.2.2.2\n",
		},
		"options that came in one entry are the same": {
			files: map[string]string{resolved: "nameserver 1.1.1.1\n"}, options: []string{"rotate\ntimeout:1 "},
			want: "nameserver 1.1.1.1\n\noptions rotate timeout:1\n",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			m := newMachine(t, test.files)
			for range 2 {
				m.run(t, scriptFor(t, test.options...))
				assert.Equal(t, test.want, m.read(t, forKubelet))
			}
			for path, content := range test.files {
				assert.Equal(t, content, m.read(t, path), "the machine's own files")
			}
			assert.NoFileExists(t, m.root+forKubelet+".new")
		})
	}
}

// withSleep puts a program in the place of sleep that runs a line of shell instead, where $ROOT is the machine's root.
func (m machine) withSleep(t *testing.T, line string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(m.root+"/bin", 0o750))
	require.NoError(t, os.WriteFile(m.root+"/bin/sleep", []byte("#!/bin/sh\nROOT="+m.root+"\n"+line+"\n"), 0o700))
}

func TestResolvConf_NoNameServer(t *testing.T) {
	const stub = "nameserver 127.0.0.53\noptions edns0\n"
	for sentence, test := range map[string]struct {
		files map[string]string
		sleep string
		want  string
		link  string
	}{
		"waits for systemd-resolved": {
			files: map[string]string{resolved: "# no server yet\n", plain: stub}, sleep: `echo "nameserver 1.1.1.1" >"$ROOT/run/systemd/resolve/resolv.conf"`,
			want: "nameserver 1.1.1.1\n\noptions rotate\n",
		},
		"keeps the old file when systemd-resolved has lost its servers": {
			files: map[string]string{resolved: "search example.org\n", plain: stub, forKubelet: "nameserver 9.9.9.9\n"}, want: "nameserver 9.9.9.9\n",
		},
		"never takes the listener of systemd-resolved": {
			files: map[string]string{plain: stub, forKubelet: "nameserver 9.9.9.9\n"}, want: "nameserver 9.9.9.9\n",
		},
		"leads to systemd-resolved's file, which is not there yet, where its listener is named": {files: map[string]string{plain: stub}, link: resolved},
		"keeps no old file that names the listener alone": {
			files: map[string]string{resolved: "\n", plain: stub, forKubelet: stub}, want: "\n", link: resolved,
		},
		"without an old file leads to where servers will be": {files: map[string]string{resolved: "\n", plain: stub}, want: "\n", link: resolved},
		"leads to the plain file without systemd-resolved":   {files: map[string]string{plain: "# by hand\n"}, want: "# by hand\n", link: plain},
	} {
		t.Run(sentence, func(t *testing.T) {
			m := newMachine(t, test.files)
			m.withSleep(t, test.sleep)
			m.run(t, scriptFor(t, "rotate"))
			content, _ := os.ReadFile(m.root + forKubelet) // where a link leads need not be there yet
			assert.Equal(t, test.want, string(content))
			link, _ := os.Readlink(m.root + forKubelet)
			assert.Equal(t, test.link, strings.TrimPrefix(link, m.root))
			assert.NoFileExists(t, m.root+forKubelet+".new")
		})
	}
}

func TestResolvConf_LinkReplacedByFile(t *testing.T) {
	m := newMachine(t, map[string]string{resolved: "\n"})
	m.withSleep(t, "")
	m.run(t, scriptFor(t, "rotate"))
	require.NoError(t, os.WriteFile(m.root+resolved, []byte("nameserver 3.3.3.3\n"), 0o600))
	assert.Equal(t, "nameserver 3.3.3.3\n", m.read(t, forKubelet), "as soon as it is there")
	m.run(t, scriptFor(t, "rotate"))
	assert.Equal(t, "nameserver 3.3.3.3\n\noptions rotate\n", m.read(t, forKubelet))
	assert.Equal(t, "nameserver 3.3.3.3\n", m.read(t, resolved), "nothing is written through the link")
}

func TestNewResolver_DropsShellSyntax(t *testing.T) {
	for _, option := range []string{`'; rm -rf / #`, "$(id)", "`id`", `"`, `\`, "rotate;reboot", "a&b", "nameserver=1", "ü", "a\x00b", "%s", "*"} {
		profile := &openstackv1alpha1.CloudProfileConfig{ResolvConfOptions: []string{"rotate", option}}
		assert.NotContains(t, newResolver(profile).options, option)
		assert.Equal(t, "rotate", newResolver(profile).options[0])
		_, err := (&Driver{}).Tune(&controlplane.TuneRequest{Scope: tuning.Nodes, Cluster: clusterWith(t, profile)})
		require.NoError(t, err, "what an admin mistypes must not keep shoots from living")
	}
}

func TestShortHostName(t *testing.T) {
	words := strings.SplitN(shortHostName, " ", 3)
	require.Equal(t, []string{"/bin/sh", "-c"}, words[:2])
	script := words[2]
	require.True(t, strings.HasPrefix(script, "'") && strings.HasSuffix(script, "'") && strings.Count(script, "'") == 2, script)
	script = strings.ReplaceAll(strings.Trim(script, "'"), "$$", "$") // what systemd does
	for sentence, test := range map[string]struct {
		files map[string]string
		want  string
	}{
		"a long name is cut":            {map[string]string{"/etc/hostname": "node-1.novalocal\n"}, "set-hostname node-1\n"},
		"a short name stays":            {map[string]string{"/etc/hostname": "node-1"}, "set-hostname node-1\n"},
		"comments are no name":          {map[string]string{"/etc/hostname": "# by cloud-init\n\nnode-1.a.b\nnode-2\n"}, "set-hostname node-1\n"},
		"a machine may have no name":    {map[string]string{"/etc/hostname": "\n"}, ""},
		"a machine may not have a file": {nil, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			m := newMachine(t, test.files)
			require.NoError(t, os.MkdirAll(m.root+"/bin", 0o750))
			fake := "#!/bin/sh\necho \"$*\" >>" + m.root + "/called\n"
			require.NoError(t, os.WriteFile(m.root+"/bin/hostnamectl", []byte(fake), 0o700))
			m.run(t, script)
			called, _ := os.ReadFile(m.root + "/called")
			assert.Equal(t, test.want, string(called))
		})
	}
}
