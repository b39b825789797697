// Package state holds in memory the state that the two controllers of the operator share.
//
// The controller of ControllerDeployments publishes the state of each deployment and reads the observations of installations. The controller of
// ControllerInstallations does the reverse. Each controller writes by methods of Store and reads copies; its objects are requeued when the other
// controller has changed their state. Neither imports the other.
//
// After a restart the store is empty, and is filled again before a decision depends on it: everything that must survive a restart is in API objects.
// The package also defines how an assignment and the observed durations are encoded there. It must not read or write any API object.
package state
