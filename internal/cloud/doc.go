// Package cloud contains what is the same for all clouds: the kinds of errors that a cloud can answer with, and the metrics of its clients.
//
// It imports no SDK and knows neither Kubernetes nor Gardener. The folders below it are the only places that speak to
// a cloud; each classifies its SDK's errors into these kinds.
package cloud
