// Package state is what the two controllers of the operator know for each other, in memory.
//
// The controller of ControllerDeployments publishes what it knows of each deployment and reads what was observed of installations. The controller of
// ControllerInstallations does the reverse. Each side writes by methods of Store, reads copies, and has its objects requeued when the other side has
// news of them. Neither imports the other.
//
// After a restart the store is empty, and is filled again before a decision depends on it: what has to survive is in API objects. The package also
// knows how an assignment and what was observed since then are encoded there. It must not read or write any API object.
package state
