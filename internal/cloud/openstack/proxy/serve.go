package proxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

// longestBody bounds what is kept in memory of a request or an answer.
const longestBody = 16 << 20

// call is one request on its way.
type call struct {
	proxy *Proxy
	way   way
	rest  string // of the path, escaped, below the way's prefix
	http  *http.Request
	body  []byte
}

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !p.enter() {
		http.Error(w, "the proxy is closed", http.StatusServiceUnavailable)
		return
	}
	defer p.leave()
	c := &call{proxy: p, http: r}
	var found bool
	if c.way, c.rest, found = p.ways.find(r.URL.EscapedPath()); !found {
		http.Error(w, "no catalog that has passed leads here", http.StatusNotFound)
		return
	}
	var err error
	if c.body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, longestBody)); err != nil {
		if _, tooLong := errors.AsType[*http.MaxBytesError](err); tooLong {
			http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		}
		return // otherwise the client is gone in the middle of its own request
	}
	seen := wire.Call{
		Service: c.way.service, Method: r.Method, Path: wire.PathOf(c.way.service, c.rest), Query: r.URL.RawQuery,
	}
	p.Carry(w, seen, c.forward, c.refuse)
}

// base is the URL of the proxy as the caller spells it.
func (c *call) base() string { return "http://" + c.http.Host }

// refuse says no in the name of the service.
func (c *call) refuse(err *wire.Error) wire.Answer {
	answer := err.AnswerOf(c.way.service)
	if err.Status == http.StatusUnauthorized {
		answer.Header.Set("WWW-Authenticate", fmt.Sprintf("Keystone uri=%q", c.base()+prefixOf(wire.Keystone)))
	}
	return answer
}

// forward is the effect of a call. That a cloud does not answer is told as gateways do.
func (c *call) forward() wire.Answer {
	// A client that goes away does not take back what it has sent.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.http.Context()), patience)
	defer cancel()
	answer, err := c.exchange(ctx)
	if err != nil {
		return c.refuse(&wire.Error{Status: http.StatusBadGateway, Message: err.Error()})
	}
	return answer
}

func (c *call) exchange(ctx context.Context) (wire.Answer, error) {
	target, err := c.way.target(c.rest, c.http.URL.RawQuery)
	if err != nil {
		return wire.Answer{}, fmt.Errorf("reading the path: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, c.http.Method, target.String(), bytes.NewReader(c.body))
	if err != nil {
		return wire.Answer{}, fmt.Errorf("building the request: %w", err)
	}
	r.Header = endToEnd(c.http.Header)
	r.Header.Del("Accept-Encoding") // the answer has to be read here
	r.Header.Del("Expect")          // the body is here already
	if r.Header.Get("User-Agent") == "" {
		r.Header.Set("User-Agent", "") // or Go's own would be sent
	}
	got, err := c.proxy.transport.RoundTrip(r)
	if err != nil {
		return wire.Answer{}, fmt.Errorf("asking the cloud: %w", err)
	}
	defer func() { _ = got.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(got.Body, longestBody+1))
	if err != nil {
		return wire.Answer{}, fmt.Errorf("reading the answer of the cloud: %w", err)
	}
	if len(body) > longestBody {
		return wire.Answer{}, fmt.Errorf("the answer of the cloud is longer than %d bytes", longestBody)
	}
	answer := wire.Answer{Status: got.StatusCode, Header: endToEnd(got.Header), Body: body}
	c.leadBack(&answer, target)
	return answer, nil
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
