package stack

import (
	"fmt"
	"net"
	"strconv"
)

// IP is the address of all listeners.
const IP = "127.0.0.1"

// Port is a TCP port on IP and the process that listens there.
type Port struct {
	Name   string
	Number int
}

// Ports are all ports of the cloud. They are below the kernel's range of client ports.
func Ports() []Port {
	return []Port{
		{"keystone", 28000},
		{"glance", 28001},
		{"placement", 28002},
		{"nova-api", 28003},
		{"neutron", 28004},
		{"cinder-api", 28005},
		{"octavia", 28006},
		{"mariadb", 28010},
		{"rabbitmq", 28011},
		{"rabbitmq-cluster", 28012}, // Erlang insists on it
		{"epmd", 28013},
		{"memcached", 28014},
	}
}

// portOf returns the port of a process, or 0 if it has none.
func portOf(name string) int {
	for _, p := range Ports() {
		if p.Name == name {
			return p.Number
		}
	}
	return 0
}

func addressOf(name string) string { return net.JoinHostPort(IP, strconv.Itoa(portOf(name))) }

func urlOf(name string) string { return fmt.Sprintf("http://%s", addressOf(name)) }

// listens reports whether a process listens at an address.
func listens(address string) bool {
	connection, err := net.Dial("tcp", address)
	if err != nil {
		return false
	}
	_ = connection.Close()
	return true
}
