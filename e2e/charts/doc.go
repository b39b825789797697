// Package charts tests the charts' objects with a real API server that has a seed's CRDs, and with the binaries that they start. Nothing is installed.
package charts
