// Package networktest holds drivers of network plugins to the Network contract.
//
// Run plays the life of a plugin, with any driver, through the contract runtime and a real API server, and takes it from every
// configuration of its subject to every other one that users can go to. The shoot is real to the controller, too: its DaemonSets,
// Deployments, pods and nodes are objects of an API server. But its nodes catch up with what is deployed only when they are told
// to. RunExploration lets every write to the seed's API server go wrong (see package contracttest).
//
// The suite knows the names of the ManagedResources and the words of status.state, which are the contract's, and no driver.
package networktest
