// Package move follows the page for admins who move a landscape from upstream's extensions, on a seed of its own that has never had anything of
// Trellis: a process has one garden. Its tests have the build tag kind.
package move
