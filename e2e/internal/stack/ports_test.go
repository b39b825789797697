package stack

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPorts(t *testing.T) {
	// From here on the kernel takes ports for outgoing connections (/proc/sys/net/ipv4/ip_local_port_range).
	const firstOfClients = 32768
	usual := []int{3306, 4369, 5000, 5672, 8774, 8776, 8778, 9292, 9696, 9876, 11211, 25672}
	names, numbers := map[string]bool{}, map[int]bool{}
	for _, p := range Ports() {
		assert.False(t, names[p.Name], "%s has one port", p.Name)
		assert.False(t, numbers[p.Number], "%d belongs to one daemon", p.Number)
		assert.Less(t, p.Number, firstOfClients)
		assert.Greater(t, p.Number, 1024)
		assert.False(t, slices.Contains(usual, p.Number), "%d is left to an OpenStack that lives here", p.Number)
		names[p.Name], numbers[p.Number] = true, true
	}
}

func TestPorts_Daemons(t *testing.T) {
	l, err := newLayout(t.TempDir())
	assert.NoError(t, err)
	for _, p := range Ports() {
		if p.Name == "rabbitmq-cluster" {
			continue // of the daemon rabbitmq
		}
		assert.True(t, slices.ContainsFunc(l.daemons(), func(d daemon) bool { return d.name == p.Name && d.ready != nil }),
			"somebody waits until %s serves", p.Name)
	}
}
