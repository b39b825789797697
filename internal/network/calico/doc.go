// Package calico is the Network driver for Calico.
//
// It first computes settings, the complete configuration of Calico in a shoot, and renders all objects from them. Between two forms of Calico that
// nodes cannot switch between at once, it computes the stages (transition.go).
//
// It must not know any other plugin or contract, any API server, or any cloud: network.Infrastructure holds what a cloud's network allows.
package calico
