// Package manager is the process that every controller binary of Trellis is: command line, logging, metrics, health,
// leader election, heartbeat and an orderly end. A main.go describes its Binary and says in Setup what runs inside.
//
// The package knows controller-runtime, but no contract, no driver and no cloud.
package manager
