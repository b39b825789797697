// Package move follows the guide for admins who move a landscape from upstream's extensions, on a seed of its own without any object of Trellis: a
// process has one garden. Its tests have the build tag kind.
package move
