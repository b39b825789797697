// Package examplenet is the Network driver for the example plugin, which tests and docs use and no released binary has. It is small, and has all that a
// driver can have: see docs/development/add-a-network-plugin.md.
//
// It first computes settings from the configuration and the shoot, and renders all objects from them. Nodes that encapsulate packets differently cannot
// reach each other, so another encapsulation is deployed in stages (transition.go).
//
// It must not know any other plugin or contract, any API server, or any cloud.
package examplenet
