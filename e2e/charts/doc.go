// Package charts holds what the charts consist of against a real API server that knows what a seed knows, and against the binaries that they
// start. Nothing is installed here.
package charts
