package fake

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

// endpoint describes one service to the HTTP layer.
type endpoint struct {
	service wire.Service
	prefix  string // where it lives below the cloud's URL
}

// handler does one call's work. It runs below the cloud's lock and must not block.
type handler func(q *request) (reply, error)

// reply is an answer that says yes.
type reply struct {
	status int
	body   any    // encoded as JSON after the lock is released; nil means no body
	page   string // HTML in its place
	header map[string]string
}

func ok(body any) (reply, error)      { return reply{status: http.StatusOK, body: body}, nil }
func created(body any) (reply, error) { return reply{status: http.StatusCreated, body: body}, nil }
func accepted(body any) (reply, error) {
	return reply{status: http.StatusAccepted, body: body}, nil
}
func noContent() (reply, error) { return reply{status: http.StatusNoContent}, nil }

// request is what a handler sees of a call.
type request struct {
	*identity // who calls; nil for the few calls that need no token
	service   wire.Service
	http      *http.Request
	values    url.Values
	body      []byte
}

func (q *request) path(name string) string { return q.http.PathValue(name) }

// base is the URL of the cloud as the caller spells it.
func (q *request) base() string {
	if q.http.TLS != nil {
		return "https://" + q.http.Host
	}
	return "http://" + q.http.Host
}

type operatorKey struct{}

// route registers a call. The pattern is "METHOD /path" below the service's prefix.
func (c *shared) route(e endpoint, pattern string, h handler) { c.register(e, pattern, h, true) }

// routeWithoutToken registers a call that needs no token.
func (c *shared) routeWithoutToken(e endpoint, pattern string, h handler) {
	c.register(e, pattern, h, false)
}

func (c *shared) register(e endpoint, pattern string, h handler, needsToken bool) {
	full := e.prefix + pattern
	if method, path, hasMethod := strings.Cut(pattern, " "); hasMethod {
		full = method + " " + e.prefix + path
	}
	c.mux.HandleFunc(full, func(w http.ResponseWriter, r *http.Request) { c.serve(w, r, e, h, needsToken) })
}

// serve is one call from its arrival to its answer.
func (c *shared) serve(w http.ResponseWriter, r *http.Request, e endpoint, h handler, needsToken bool) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone in the middle of its own request
	}
	q := &request{service: e.service, http: r, values: r.URL.Query(), body: body}
	if caller, isOperator := r.Context().Value(operatorKey{}).(*identity); isOperator {
		q.identity = caller
		c.effect(q, h, false).response(q).Write(w)
		return
	}

	path := wire.PathOf(e.service, strings.TrimPrefix(r.URL.EscapedPath(), e.prefix))
	c.Handle(w, wire.Call{Service: e.service, Method: r.Method, Path: path, Query: r.URL.RawQuery},
		func() wire.Response { return c.effect(q, h, needsToken).response(q) },
		func(err *wire.Error) wire.Response { return handlerResult{err: err}.response(q) })
}

// effect runs the handler below the lock.
func (c *shared) effect(q *request, h handler, needsToken bool) handlerResult {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.finishTransitions()
	if needsToken {
		caller, err := c.identifier(q.http.Header.Get("X-Auth-Token"), q.service)
		if err != nil {
			return handlerResult{err: err}
		}
		q.identity = caller
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
	return handlerResult{err: core.Fail(http.StatusInternalServerError, "", "%v", err)}
}

// handlerResult is a reply or an error.
type handlerResult struct {
	reply reply
	err   *wire.Error
}

// response puts the answer into the words of the service that was asked.
func (a handlerResult) response(q *request) wire.Response {
	var out wire.Response
	switch {
	case a.err != nil:
		out = a.err.ResponseFor(q.service)
		if a.err.Status == http.StatusUnauthorized {
			out.Header.Set("WWW-Authenticate", `Keystone uri="`+q.base()+keystonePrefix+`/v3"`)
		}
	case a.reply.page != "":
		out = wire.Response{
			Status: a.reply.status, Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}}, Body: []byte(a.reply.page),
		}
	case a.reply.body != nil:
		out = wire.JSON(a.reply.status, a.reply.body)
	default:
		out = wire.Response{Status: a.reply.status, Header: http.Header{}}
	}
	for k, v := range a.reply.header {
		out.Header.Set(k, v)
	}
	out.Header.Set("X-Openstack-Request-Id", "req-"+core.NewUUID())
	return out
}

// asOperator marks the context of a request that needs no token, since the caller is given.
func asOperator(ctx context.Context, caller *identity) context.Context {
	return context.WithValue(ctx, operatorKey{}, caller)
}
