// Package builder builds the images of a Go module's commands, with their bills of materials and, with a key, their signatures, and pushes them. It must not know
// command lines beyond the names of the flags in its errors.
package builder
