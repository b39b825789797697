// Package example is the Worker driver of the example cloud, which tests and docs use and no released binary has. The machines of a pool may share a
// group, which the driver creates. It finds groups by their owner, which is the shoot's UID, and their names.
package example
