// Package network is the Network contract: it deploys a network plugin into the shoot, which gives pods addresses and connects them.
//
// gardenlet creates the Network when the shoot's kube-apiserver runs; there may be no node yet. The contract decides what is the same for every
// plugin: which IP families are deployed now, what routes Services, and what the infrastructure's network allows. It hands the objects that the
// driver renders to gardener-resource-manager, and reports success once they are written. The condition SystemComponentsHealthy reports the
// plugin's health afterwards.
//
// A change that would disconnect pods is made in stages: a stage is deployed, and the next one follows when the shoot's nodes have reached it,
// possibly long after the reconciliation has ended (see contract.FollowUp). The deployed form of the plugin is kept in status.state.
//
// A driver implements one plugin. It is pure: it accesses no API server, neither the seed's nor the shoot's. The package must not know any
// plugin, nor any cloud beyond the rows of its table (infrastructure.go).
package network
