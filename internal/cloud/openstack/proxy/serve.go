package proxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// maxBodyBytes bounds what is kept in memory of a request or an answer.
const maxBodyBytes = 16 << 20

// call is one request on its way.
type call struct {
	proxy *Proxy
	route route
	rest  string // of the path, escaped, below the way's prefix
	http  *http.Request
	body  []byte
}

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !p.beginCall() {
		http.Error(w, "the proxy is closed", http.StatusServiceUnavailable)
		return
	}
	defer p.endCall()
	c := &call{proxy: p, http: r}
	var found bool
	if c.route, c.rest, found = p.routes.find(r.URL.EscapedPath()); !found {
		http.Error(w, "no catalog that has passed leads here", http.StatusNotFound)
		return
	}
	var err error
	if c.body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, maxBodyBytes)); err != nil {
		if _, tooLong := errors.AsType[*http.MaxBytesError](err); tooLong {
			http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		}
		return // otherwise the client is gone in the middle of its own request
	}
	service, path := c.route.service, services.PathOf(c.route.service, c.rest)
	client, _, _ := net.SplitHostPort(r.RemoteAddr) // empty without a connection, as in tests
	seen := wire.Call{
		Service: service, Method: r.Method, Path: path, Query: r.URL.RawQuery, Login: services.IsLogin(service, r.Method, path), Client: client,
	}
	p.Handle(w, seen, c.forward, c.errorResponse)
}

// base is the URL of the proxy as the caller spells it.
func (c *call) base() string { return "http://" + c.http.Host }

// errorResponse formats an error as the service does.
func (c *call) errorResponse(err *wire.Error) wire.Response {
	response := services.Response(c.route.service, err)
	if err.Status == http.StatusUnauthorized {
		response.Header.Set("WWW-Authenticate", fmt.Sprintf("Keystone uri=%q", c.base()+prefixOf(services.Keystone)))
	}
	return response
}

// forward is the effect of a call. That a cloud does not answer is told as gateways do.
func (c *call) forward() wire.Response {
	// A client that goes away does not take back what it has sent.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.http.Context()), callTimeout)
	defer cancel()
	response, err := c.exchange(ctx)
	if err != nil {
		return c.errorResponse(&wire.Error{Status: http.StatusBadGateway, Message: err.Error()})
	}
	return response
}

func (c *call) exchange(ctx context.Context) (wire.Response, error) {
	target, err := c.route.target(c.rest, c.http.URL.RawQuery)
	if err != nil {
		return wire.Response{}, fmt.Errorf("reading the path: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, c.http.Method, target.String(), bytes.NewReader(c.body))
	if err != nil {
		return wire.Response{}, fmt.Errorf("building the request: %w", err)
	}
	r.Header = endToEnd(c.http.Header)
	r.Header.Del("Accept-Encoding") // the answer has to be read here
	r.Header.Del("Expect")          // the body is here already
	if r.Header.Get("User-Agent") == "" {
		r.Header.Set("User-Agent", "") // or Go's own would be sent
	}
	got, err := c.proxy.transport.RoundTrip(r)
	if err != nil {
		return wire.Response{}, fmt.Errorf("asking the cloud: %w", err)
	}
	defer func() { _ = got.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(got.Body, maxBodyBytes+1))
	if err != nil {
		return wire.Response{}, fmt.Errorf("reading the answer of the cloud: %w", err)
	}
	if len(body) > maxBodyBytes {
		return wire.Response{}, fmt.Errorf("the answer of the cloud is longer than %d bytes", maxBodyBytes)
	}
	response := wire.Response{Status: got.StatusCode, Header: endToEnd(got.Header), Body: body}
	c.rewriteResponse(&response, target)
	return response, nil
}

// endToEnd copies the headers that are meant for the other end, not for the next hop.
func endToEnd(from http.Header) http.Header {
	to := from.Clone()
	for _, list := range from["Connection"] {
		for name := range strings.SplitSeq(list, ",") {
			to.Del(strings.TrimSpace(name))
		}
	}
	for _, name := range []string{
		"Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection", "Te", "Trailer",
		"Transfer-Encoding", "Upgrade", "Content-Length",
	} {
		to.Del(name)
	}
	return to
}
