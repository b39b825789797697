// Package example is the Infrastructure driver of the example cloud, which tests and docs use and no released binary has. A shoot has a network with
// one subnet.
//
// The cloud gives each resource an owner when it is created, so the driver finds what it has created by the shoot's UID. It needs no intents and no
// recorded IDs, and its state is its providerStatus.
package example
