// Package cloud holds the few words that all clouds share: the kinds of errors that a cloud can answer with.
//
// It imports no SDK and knows neither Kubernetes nor Gardener. The folders below it are the only places that speak to
// a cloud; each classifies its SDK's errors into these kinds.
package cloud
