// Package machine is the process of a machine driver, as it runs beside machine-controller-manager (MCM): its flags, which are those of MCM's library,
// its logs, metrics and its end. The library finds out what is to be done and calls the driver; it knows nothing of signals and ends the
// process as it likes.
//
// The package must not know its drivers, controller-runtime, nor any SDK.
package machine
