// Package transport contains http.RoundTrippers that the clients of all clouds share: retries, rate limit, timeout, metrics and limits of responses.
// A client chains them, from the caller to the network:
//
//	ReadOnly        refuses requests that change something (optional)
//	(credentials)   the client's own
//	Retrying        repeats what is safe to repeat
//	Single          sends a request once: within rate limit and timeout, measured, with the whole response read
//	http.Transport  see New
//
// It must not depend on a cloud or its SDK.
package transport
