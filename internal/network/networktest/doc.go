// Package networktest tests drivers of network plugins against the Network contract.
//
// Run runs the lifecycle of a plugin, with any driver, through the contract runtime and a real API server, and changes every configuration of its
// subject to every other one that users can change it to. The shoot is real to the controller, too: its DaemonSets, Deployments, pods and nodes are
// objects of an API server. But its nodes roll out what is deployed only when the test lets them. RunExploration injects a failure into every write
// to the seed's API server (see package contracttest).
//
// The suite knows the names of the ManagedResources and the format of status.state, which are the contract's, and no driver.
package networktest
