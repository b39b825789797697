// Package registration turns the catalogue, the one list of what Trellis registers, into the objects by which Gardener learns
// of it, and refuses a catalogue that Gardener, or another registration in it, could not live with.
//
// It works on bytes and values: Read and Check need the catalogue alone, Generate also renders charts, since what an
// installation will really run is the only proof that it serves what was registered. It must not know any cluster, nor what
// is registered there; package landscape reads a garden.
package registration
