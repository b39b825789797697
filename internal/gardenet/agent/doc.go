// Package agent keeps the network of one node as the configuration of its shoot says: it watches the API server, computes what the node has to have, and has it
// applied. It decides when, and what is told to people; it must know neither how the state is computed nor how it gets into the kernel.
package agent
