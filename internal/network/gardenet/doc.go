// Package gardenet is the Network driver for gardenet, the network plugin of Trellis: an agent on each node makes routes or tunnels to the pods of other nodes,
// masquerades, and enforces NetworkPolicies.
//
// It first decides settings from the configuration and the shoot, and renders all objects from them; the agents read theirs as a document (internal/gardenet/config).
// Nodes must agree on how they send packets to each other, so changes of that are deployed in stages (transition.go).
//
// It must not know any other plugin or contract, any API server or cloud, or how the agent does its work.
package gardenet
