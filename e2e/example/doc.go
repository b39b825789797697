// Package example proves docs/development/add-a-provider.md: our binaries, built with the example provider by the edits that the page lists, take a shoot of type
// example with network type example-net through its life.
package example
