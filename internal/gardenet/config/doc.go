// Package config is the document that tells gardenet's agents what to do on every node of a shoot. The network driver writes it into a ConfigMap, and the agents
// read it as a file. It has no defaults: the driver decides everything that does not depend on the node. It must know neither the driver nor the agent.
package config
