// Package components deploys, or only renders, what gardenlet deploys into a shoot's namespace and extensions may mutate, by Gardener's component
// library. It must not depend on an extension.
//
// A version of Gardener always renders the same bytes, since the secrets are fixed.
package components
