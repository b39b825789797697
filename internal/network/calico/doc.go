// Package calico is the Network driver for Calico.
//
// It decides once, in settings, what Calico is to be like in a shoot, and renders the objects from nothing else. Between two
// forms of Calico that nodes cannot go over to at once, it finds the stages in between (transition.go).
//
// It must not know any other plugin or contract, nor any API server, and no cloud: what a cloud's network allows is told by
// network.Infrastructure.
package calico
