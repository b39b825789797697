// Package network is the Network contract: a network plugin is brought into the shoot, where pods get addresses and a way to
// each other.
//
// gardenlet orders a Network when the shoot's kube-apiserver runs and there may be no node yet. The contract decides what holds
// for every plugin: which families of addresses are deployed now, who routes Services, what the infrastructure's network lets
// through; it hands what the driver renders to gardener-resource-manager, and reports success once that is written. How the
// plugin is then goes into the condition SystemComponentsHealthy.
//
// A change that would cut pods off goes in stages: a stage is deployed, and the next one follows when the shoot's nodes have
// caught up, long after the pass has ended (see contract.FollowUp). What form of the plugin is deployed travels in status.state.
//
// A driver knows one plugin. It is pure: it sees no API server, neither the seed's nor the shoot's. The package must not know
// any plugin, nor any cloud beyond the rows of its table (infrastructure.go).
package network
