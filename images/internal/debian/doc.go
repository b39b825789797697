// Package debian takes programs with their shared libraries out of Debian packages: those packages are pinned by version and checksum, and nothing is installed.
// It must not know which programs, nor what an image is.
package debian
