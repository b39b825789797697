// Package protocol decodes requests of the protocols "ec2" and "query", which are form parameters, and encodes their responses and errors, which are XML.
// Both are described by AWS' service models.
//
// Requests that do not fit the model are refused with the error code that AWS has for it. Responses that do not fit are a defect of the caller.
//
// The package must not know what a service does.
package protocol
