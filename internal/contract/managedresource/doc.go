// Package managedresource is how contracts deploy: they hand sets of objects to gardener-resource-manager, which keeps them in
// the seed or in the shoot, and look in what it reports whether the objects are in place and well.
//
// It must not know any contract, nor what the objects are for.
package managedresource
