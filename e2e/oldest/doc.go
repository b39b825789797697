// Package oldest holds the controllers against the oldest Gardener whose seeds they run in. That release is pinned in the folder gardener,
// a module of its own, of which nothing is built: its CRDs are read out of Go's module cache.
//
// A shoot is brought to life on two seeds, side by side: on one with the CRDs of the release that this module is built with, and on one with
// the oldest's. An object that an API server refuses stops that at once. What it drops without a word is found by comparing the fields that
// both have kept, kind by kind, of everything that controllers and gardener-resource-manager have written.
//
// The package says nothing of Gardener's programs of that age: those that run are today's.
package oldest
