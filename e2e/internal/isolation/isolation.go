// Package isolation runs this program once more with a network, mounts and a process tree of its own. What it starts there takes no port of the
// machine, and ends with it, however it ends. It must not depend on what the program does.
//
// There are three processes: the caller of Run; the first process of the new tree, in which Begin builds the network and which collects ended
// processes; and the program itself, for which Begin returns true.
package isolation

import (
	"net/netip"
	"os"
)

// Network is what the isolated network has besides loopback.
type Network struct {
	// Local are the ranges of which every address is this host's: processes can listen on all of them.
	Local []netip.Prefix
	// Bridges are networks for further namespaces.
	Bridges []Bridge
}

// Bridge is a network of Ethernet interfaces.
type Bridge struct {
	Name string
	// Address is the bridge's own address, with the length of its network's prefix.
	Address netip.Prefix
}

// roleVariable is the environment variable that tells a process which of the three it is.
const roleVariable = "TRELLIS_ISOLATION"

const (
	roleFirst   = "first"
	roleProgram = "program"
)

// Begin must be called first in main. It returns true in the isolated program, and false in the process that the user has started. In the first
// process of the tree it does not return.
func Begin(network Network) (isolated bool) {
	role := os.Getenv(roleVariable)
	if role == roleFirst {
		os.Exit(runFirst(network))
	}
	return role == roleProgram
}
