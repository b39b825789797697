// Package landscape says, for each seed of a landscape, which kinds and types Gardener wants to have served there, who serves
// them, and what is missing: one that nobody registers keeps Gardener from installing, updating and removing anything on that
// whole seed.
//
// Wanted follows Gardener's own rule (gardener-controller-manager's controllerregistration controllers and
// gardener/pkg/utils/gardener, v1.149), written anew since those packages link most of Gardener; e2e holds the two against
// each other. Read and ReadManifests make a Garden, of a virtual garden or of files; all else works on plain values. The package
// must not know the catalogue: a landscape is what is registered in it, by whomever.
package landscape
