package core

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// Endpoint describes a service to the HTTP layer.
type Endpoint struct {
	Service wire.Service
	Prefix  string // where it lives below the cloud's URL
}

// Handler handles one call. It runs with the cloud's lock and must not block.
type Handler func(q *Request) (Reply, error)

// Reply is a successful response.
type Reply struct {
	Status int
	Body   any    // encoded as JSON after the lock is released; nil means no body
	page   string // HTML in its place
	Header map[string]string
}

// OK returns an answer with status 200.
func OK(body any) (Reply, error) { return Reply{Status: http.StatusOK, Body: body}, nil }

// Created returns an answer with status 201.
func Created(body any) (Reply, error) { return Reply{Status: http.StatusCreated, Body: body}, nil }

// Accepted returns an answer with status 202.
func Accepted(body any) (Reply, error) {
	return Reply{Status: http.StatusAccepted, Body: body}, nil
}

// NoContent returns an answer with status 204.
func NoContent() (Reply, error) { return Reply{Status: http.StatusNoContent}, nil }

// Request is a call from the view of a handler.
type Request struct {
	*Identity // who calls; nil for the few calls that need no token
	service   wire.Service
	HTTP      *http.Request
	Values    url.Values
	Body      []byte
}

// Path returns a segment of the path by its name in the route.
func (q *Request) Path(name string) string { return q.HTTP.PathValue(name) }

// Base is the URL of the cloud in the client's spelling.
func (q *Request) Base() string {
	if q.HTTP.TLS != nil {
		return "https://" + q.HTTP.Host
	}
	return "http://" + q.HTTP.Host
}

type operatorKey struct{}

// Route registers a call. The pattern is "METHOD /path" below the service's prefix.
func (c *Cloud) Route(e Endpoint, pattern string, h Handler) { c.register(e, pattern, h, true) }

// RouteWithoutToken registers a call that needs no token.
func (c *Cloud) RouteWithoutToken(e Endpoint, pattern string, h Handler) {
	c.register(e, pattern, h, false)
}

func (c *Cloud) register(e Endpoint, pattern string, h Handler, needsToken bool) {
	full := e.Prefix + pattern
	if method, path, hasMethod := strings.Cut(pattern, " "); hasMethod {
		full = method + " " + e.Prefix + path
	}
	c.Mux.HandleFunc(full, func(w http.ResponseWriter, r *http.Request) { c.serve(w, r, e, h, needsToken) })
}

// serve handles a call, from its arrival to its response.
func (c *Cloud) serve(w http.ResponseWriter, r *http.Request, e Endpoint, h Handler, needsToken bool) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone in the middle of its own request
	}
	q := &Request{service: e.Service, HTTP: r, Values: r.URL.Query(), Body: body}
	if caller, isOperator := r.Context().Value(operatorKey{}).(*Identity); isOperator {
		q.Identity = caller
		c.effect(q, h, false).response(q).Write(w)
		return
	}

	path := services.PathOf(e.Service, strings.TrimPrefix(r.URL.EscapedPath(), e.Prefix))
	call := wire.Call{Service: e.Service, Method: r.Method, Path: path, Query: r.URL.RawQuery, Login: services.IsLogin(e.Service, r.Method, path)}
	c.Handle(w, call,
		func() wire.Response { return c.effect(q, h, needsToken).response(q) },
		func(err *wire.Error) wire.Response { return handlerResult{err: err}.response(q) })
}

// effect runs the handler with the lock.
func (c *Cloud) effect(q *Request, h Handler, needsToken bool) handlerResult {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	c.FinishTransitions()
	if needsToken {
		caller, err := c.Identifier(q.HTTP.Header.Get("X-Auth-Token"), q.service)
		if err != nil {
			return handlerResult{err: err}
		}
		q.Identity = caller
		if err := checkJSON(q); err != nil {
			return handlerResult{err: err}
		}
	}
	out, err := h(q)
	if err == nil {
		return handlerResult{reply: out}
	}
	if e, isError := errors.AsType[*wire.Error](err); isError {
		return handlerResult{err: e}
	}
	return handlerResult{err: Fail(http.StatusInternalServerError, "", "%v", err)}
}

// handlerResult is a reply or an error.
type handlerResult struct {
	reply Reply
	err   *wire.Error
}

// response encodes the result in the format of the service.
func (a handlerResult) response(q *Request) wire.Response {
	var out wire.Response
	switch {
	case a.err != nil:
		out = services.Response(q.service, a.err)
		if a.err.Status == http.StatusUnauthorized {
			out.Header.Set("WWW-Authenticate", `Keystone uri="`+q.Base()+KeystonePrefix+`/v3"`)
		}
	case a.reply.page != "":
		out = wire.Response{
			Status: a.reply.Status, Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}}, Body: []byte(a.reply.page),
		}
	case a.reply.Body != nil:
		out = wire.JSON(a.reply.Status, a.reply.Body)
	default:
		out = wire.Response{Status: a.reply.Status, Header: http.Header{}}
	}
	for k, v := range a.reply.Header {
		out.Header.Set(k, v)
	}
	out.Header.Set("X-Openstack-Request-Id", "req-"+NewUUID())
	return out
}

// AsOperator marks the context of a request without a token, with a given caller.
func AsOperator(ctx context.Context, caller *Identity) context.Context {
	return context.WithValue(ctx, operatorKey{}, caller)
}
