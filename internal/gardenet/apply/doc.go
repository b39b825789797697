// Package apply brings a node in line with a desired state: devices, routes and neighbours by netlink, rules by the program nft, sysctls and the CNI configuration
// as files. It changes only what is the agent's: its device, its table, routes with its protocol number. It must not know why a node has to have something.
//
// What one step needs is there before the step: a route never leads into a device without its neighbours, pods start after the rules are in the kernel, and what
// is not needed any more goes last. Nothing is withdrawn when the process ends.
package apply
