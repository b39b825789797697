// Package cloud contains what all clouds share: the kinds of their errors, and the metrics of their clients. Packages login, transport and record have
// the other common parts: of clients, and of drivers.
//
// It imports no SDK and depends neither on Kubernetes nor on Gardener. The folders of clouds below it are the only places that make requests to a
// cloud; each classifies its SDK's errors into these kinds.
package cloud
