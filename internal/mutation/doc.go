// Package mutation is what mutating webhooks share, in seeds and in the garden: how one is described to whoever serves it, and a handler
// that answers with what a function has changed.
//
// It must not know any contract, nor what anybody wants to change.
package mutation
