package stack

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

const (
	bookworm = "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nNAME=\"Debian GNU/Linux\"\nVERSION_ID=\"12\"\nID=debian\n"
	trixie   = "PRETTY_NAME=\"Debian GNU/Linux 13 (trixie)\"\nVERSION_ID=\"13\"\nID=debian\n"
	noble    = "PRETTY_NAME='Ubuntu 24.04 LTS'\n# a comment=\nVERSION_ID=24.04\nID=ubuntu\nID_LIKE=debian\n"
)

func TestMachine_UnmetRequirements(t *testing.T) {
	all := func(string) bool { return true }
	for description, test := range map[string]struct {
		machine machine
		want    []string
	}{
		"Debian 12 and root lack nothing":          {machine{"linux", []byte(bookworm), 0, all}, nil},
		"another release of Debian":                {machine{"linux", []byte(trixie), 0, all}, []string{"needs Debian 12 (this is Debian GNU/Linux 13 (trixie))"}},
		"another Linux":                            {machine{"linux", []byte(noble), 0, all}, []string{"needs Debian 12 (this is Ubuntu 24.04 LTS)"}},
		"a Linux that does not say what it is":     {machine{"linux", nil, 0, all}, []string{"needs Debian 12 (this is a Linux without a name in /etc/os-release)"}},
		"another system, of which no more is said": {machine{"darwin", nil, 501, func(string) bool { return false }}, []string{"needs Debian 12 (this is darwin)"}},
		"another user":                             {machine{"linux", []byte(bookworm), 1000, all}, []string{"needs to be run by root (this is user 1000)"}},
		"no apt": {
			machine{"linux", []byte(bookworm), 0, func(program string) bool { return program != "apt-get" }},
			[]string{"needs apt-get (it is not in PATH)"},
		},
	} {
		t.Run(description, func(t *testing.T) {
			assert.Equal(t, test.want, test.machine.unmetRequirements())
		})
	}
}

func TestPortsInUse(t *testing.T) {
	ports := Ports()[:3]
	isTaken := func(address string) bool { return address != addressOf("placement") }
	isOurs := func(name string) bool { return name == "glance" }
	assert.Equal(t, []string{"needs 127.0.0.1:28000 for keystone (another program listens there)"}, portsInUse(ports, isOurs, isTaken))
}

func TestUnfitError(t *testing.T) {
	err := &UnfitError{Needs: []string{"needs this", "needs that"}}
	assert.EqualError(t, err, "this machine cannot run it:\n  needs this\n  needs that")
}
