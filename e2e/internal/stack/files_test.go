package stack

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestConfiguration(t *testing.T) {
	l := newTestLayout(t)
	files, err := l.render()
	require.NoError(t, err)
	for path, content := range files {
		assert.NotContains(t, string(content), "{{", path)
		assert.NotContains(t, string(content), "<no value>", path)
	}
	assert.NotContains(t, files, shared, "it holds definitions only")

	for path, want := range map[string]string{
		"keystone/keystone.conf":   "connection = mysql+mysqldb://openstack:store-secret@127.0.0.1:28010/keystone?charset=utf8\n",
		"nova/nova.conf":           "transport_url = rabbit://openstack:store-secret@127.0.0.1:28011/\n",
		"neutron/neutron.conf":     "bind_port = 28004\n",
		"glance/glance-api.conf":   "filesystem_store_datadir = " + l.data() + "/glance/images\n",
		"octavia/octavia.conf":     "memcached_servers = 127.0.0.1:28014\n",
		"cinder/cinder.conf":       "glance_api_servers = http://127.0.0.1:28001\n",
		"placement/placement.conf": "auth_url = http://127.0.0.1:28000/v3\n",
		"mariadb.cnf":              "socket = " + l.socket() + "\n",
	} {
		assert.Contains(t, string(files[path]), want, path)
	}
	assert.Contains(t, string(files["mariadb.cnf"]), "\nsecure-file-priv = "+l.data()+"/mariadb-files\n")
	assert.NotContains(t, string(files["nova/nova.conf"]), "[database]", "nova-compute must not know it")
	assert.Contains(t, string(files["neutron/neutron.conf"]), "hosts = host-zone-a:zone-a,host-zone-b:zone-b,host-zone-c:zone-c\n")
}

// Every address in files and commands is a port of the table, and every port is told to somebody.
func TestConfiguration_Ports(t *testing.T) {
	l := newTestLayout(t)
	files, err := l.render()
	require.NoError(t, err)
	var all strings.Builder
	for _, content := range files {
		all.Write(content)
	}
	for _, d := range l.daemons() {
		all.WriteString(strings.Join(append(slices.Clone(d.command), d.environment...), "\n") + "\n")
	}
	var known []string
	for _, p := range Ports() {
		known = append(known, strconv.Itoa(p.Number))
		assert.Contains(t, all.String(), strconv.Itoa(p.Number), "%s is told where to listen", p.Name)
	}
	for _, match := range regexp.MustCompile(regexp.QuoteMeta(IP)+`:(\d+)`).FindAllStringSubmatch(all.String(), -1) {
		assert.Contains(t, known, match[1])
	}
}

func TestDaemons_Files(t *testing.T) {
	l := newTestLayout(t)
	require.NoError(t, l.create())
	require.NoError(t, l.writeFiles())
	below := regexp.MustCompile(regexp.QuoteMeta(l.dir) + `/(etc|python)[^\s;=]*`)
	for _, d := range l.daemons() {
		for _, word := range append(slices.Clone(d.command), d.environment...) {
			for _, path := range below.FindAllString(word, -1) {
				_, err := os.Stat(path)
				assert.NoError(t, err, d.name)
			}
		}
	}
}

func TestWriteFiles_KeysOfKeystone(t *testing.T) {
	l := newTestLayout(t)
	require.NoError(t, l.create())
	require.NoError(t, l.writeFiles())
	config, err := os.ReadFile(l.config("keystone/keystone.conf"))
	require.NoError(t, err)
	for _, section := range []string{"fernet_tokens", "fernet_receipts", "credential"} {
		// Each of them is somewhere in /etc/keystone otherwise, which only a cloud that Debian's scripts set up has.
		set := regexp.MustCompile(`(?m)^\[` + section + `\]\n(?:#.*\n)*key_repository = (.+)$`).FindSubmatch(config)
		if assert.NotNil(t, set, section) {
			assert.FileExists(t, filepath.Join(string(set[1]), "1"), section)
		}
	}
}

func TestWriteFiles_KeepsKeys(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "fernet")
	require.NoError(t, writeKeys(dir))
	first, err := os.ReadFile(filepath.Join(dir, "1"))
	require.NoError(t, err)
	key, err := base64.URLEncoding.DecodeString(string(first))
	require.NoError(t, err)
	assert.Len(t, key, 32)

	require.NoError(t, writeKeys(dir))
	second, err := os.ReadFile(filepath.Join(dir, "1"))
	require.NoError(t, err)
	assert.Equal(t, first, second, "tokens stay valid")
}
