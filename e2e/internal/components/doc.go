// Package components deploys what gardenlet deploys into a shoot's namespace and extensions may mutate, by Gardener's own
// component library, or only renders it. It knows nothing of any extension.
//
// The same version of Gardener always renders the same bytes: secrets come from a manager that invents nothing.
package components
