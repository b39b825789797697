// Package protocol decodes requests and encodes responses and errors as AWS' service models describe them. Requests of the protocols "ec2" and "query" are form
// parameters, and their responses are XML. In the protocol "rest-json", parameters are in the path, the query string, the headers and a body of JSON.
//
// Requests that do not fit the model are refused with the error code that AWS has for it. Responses that do not fit are a defect of the caller.
//
// The package must not know what a service does.
package protocol
