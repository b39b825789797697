package core

import (
	"cmp"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/model"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/sigv4"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// Request is a call of an action.
type Request struct {
	Action string
	In     protocol.Struct
	Caller Identity
	// Operator marks a call without delayed consistency.
	Operator bool
	// Filters are the names of the filters that AWS documents for the action.
	Filters []string
}

// Handler is an action. It runs with the lock. Errors are of type *wire.Error; another one is a defect of the fake.
type Handler func(q *Request) (protocol.Struct, error)

// Action is an action of a service.
type Action struct {
	// Reads names the members of the input that the handler reads, separated by spaces. The fake refuses a request with others, instead of ignoring
	// what a client wants.
	Reads string
	Do    Handler
}

// unread returns the first member of an input that the action does not read, or an empty string.
func (a Action) unread(input protocol.Struct) string {
	reads := append(strings.Fields(a.Reads), "DryRun", "ClientToken")
	for _, name := range slices.Sorted(maps.Keys(input)) {
		if !slices.Contains(reads, name) {
			return name
		}
	}
	return ""
}

const maxBody = 1 << 20

// ServeHTTP serves all services. The version of the API in a request, and the service in its signature, tell which is called.
func (c *Cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, "reading the request: "+err.Error(), http.StatusBadRequest)
		return
	}
	form := r.URL.Query()
	if len(body) > 0 {
		sent, err := url.ParseQuery(string(body))
		if err != nil {
			http.Error(w, "parsing the request: "+err.Error(), http.StatusBadRequest)
			return
		}
		form = sent
	}
	service := c.serviceOf(r, form)
	if service == nil {
		c.refuseVersion(w, r, form)
		return
	}
	requestID := NewRequestID()
	c.Handle(w, callOf(service, r.Method, form), func() wire.Response { return c.respond(service, r, form, body, requestID) },
		func(failure *wire.Error) wire.Response { return errorResponse(service.Protocol, failure, requestID) })
}

// serviceOf returns the model of the service that a request is for, or nil.
func (c *Cloud) serviceOf(r *http.Request, form url.Values) *model.Service {
	signature, err := sigv4.Parse(r)
	for _, service := range c.models {
		if service.Version == form.Get("Version") && (err != nil || signature.Service == service.SigningName) {
			return service
		}
	}
	return nil
}

func (c *Cloud) refuseVersion(w http.ResponseWriter, r *http.Request, form url.Values) {
	failure := protocol.Fail("NoSuchVersion", "The requested version (%s) does not exist for the service that the request is signed for", form.Get("Version"))
	respond := func(failure *wire.Error) wire.Response { return errorResponse(model.Query, failure, NewRequestID()) }
	c.Handle(w, wire.Call{Service: "unknown", Method: r.Method, Path: form.Get("Action")}, func() wire.Response { return respond(failure) }, respond)
}

// callOf names a call in the log by its service and action. The query has the parameters, without secrets.
func callOf(service *model.Service, method string, form url.Values) wire.Call {
	action := form.Get("Action")
	shown := url.Values{}
	for name, values := range form {
		if !slices.Contains([]string{"Action", "Version", "WebIdentityToken", "PublicKeyMaterial", "UserData"}, name) {
			shown[name] = values
		}
	}
	query, err := url.QueryUnescape(shown.Encode())
	if err != nil {
		query = shown.Encode()
	}
	login := strings.HasPrefix(action, "AssumeRole")
	return wire.Call{Service: wire.Service(service.Name), Method: method, Path: action, Query: query, ReadOnly: isRead(action) || login, Login: login}
}

// isRead reports whether an action changes nothing, by its name.
func isRead(action string) bool {
	return slices.ContainsFunc([]string{"Describe", "Get", "List"}, func(prefix string) bool { return strings.HasPrefix(action, prefix) })
}

func errorResponse(encoding model.Protocol, failure *wire.Error, requestID string) wire.Response {
	response := wire.Response{
		Status: failure.Status, Header: http.Header{"Content-Type": {"text/xml;charset=UTF-8"}}, Body: protocol.EncodeError(encoding, failure, requestID),
	}
	if failure.RetryAfter > 0 {
		response.Header.Set("Retry-After", failure.RetryAfterSeconds())
	}
	return response
}

// respond makes the effect of a request.
func (c *Cloud) respond(service *model.Service, r *http.Request, form url.Values, body []byte, requestID string) wire.Response {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	c.FinishTransitions()
	operation, output, failure := c.perform(service, r, form, body)
	if failure != nil {
		return errorResponse(service.Protocol, failure, requestID)
	}
	encoded, err := protocol.Encode(service, operation, output, requestID)
	if err != nil {
		return errorResponse(service.Protocol, defect(err), requestID)
	}
	return wire.Response{Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/xml;charset=UTF-8"}}, Body: encoded}
}

func (c *Cloud) perform(service *model.Service, r *http.Request, form url.Values, body []byte) (*model.Operation, protocol.Struct, *wire.Error) {
	action := form.Get("Action")
	var caller Identity
	var failure *wire.Error
	if action != "AssumeRoleWithWebIdentity" { // the only action without a signature
		if caller, failure = c.authenticate(service.Name, r, body); failure != nil {
			return nil, nil, failure
		}
	}
	operation, input, failure := protocol.Decode(service, form)
	if failure != nil {
		return nil, nil, failure
	}
	if failure := c.authorize(service.Name, action, caller); failure != nil {
		return nil, nil, failure
	}
	known, implemented := c.actions[service.Name][action]
	if !implemented {
		return nil, nil, NotImplemented(action)
	}
	if name := known.unread(input); name != "" {
		return nil, nil, NotImplemented("the parameter " + name + " of " + action)
	}
	if input.Bool("DryRun") {
		return nil, nil, protocol.FailWith(http.StatusPreconditionFailed, "DryRunOperation", "Request would have succeeded, but DryRun flag is set.")
	}
	output, err := c.performOnce(operation, known.Do, &Request{Action: action, In: input, Caller: caller, Filters: operation.Filters})
	if err != nil {
		return nil, nil, asWireError(err)
	}
	return operation, output, nil
}

// Do performs an action without HTTP, policies and delayed consistency.
func (c *Cloud) Do(service, action string, parameters url.Values) (protocol.Struct, error) {
	form := url.Values{"Action": {action}}
	maps.Copy(form, parameters)
	operation, input, failure := protocol.Decode(c.models[service], form)
	if failure != nil {
		return nil, failure
	}
	c.Mu.Lock()
	defer c.Mu.Unlock()
	known, implemented := c.actions[service][operation.Name]
	if name := known.unread(input); !implemented || name != "" {
		return nil, NotImplemented(action + " " + name)
	}
	lag := c.Config.Lag
	c.Config.Lag = Lag{}
	defer func() { c.Config.Lag = lag }()
	caller := Identity{ARN: c.ARN("iam", "", "user/operator"), UserID: "AIDAOPERATOR"}
	return known.Do(&Request{Action: action, In: input, Caller: caller, Operator: true, Filters: operation.Filters})
}

// NotImplemented is the response to what AWS has and the fake has not. No client retries it, so that tests fail.
func NotImplemented(what string) *wire.Error {
	return protocol.FailWith(http.StatusNotImplemented, "NotImplemented", "The fake does not implement %s.", what)
}

// answered is the answer to a request with an idempotency token.
type answered struct {
	input  string
	output protocol.Struct
}

// performOnce answers a repeated request with an idempotency token as it was answered first.
func (c *Cloud) performOnce(operation *model.Operation, handler Handler, q *Request) (protocol.Struct, error) {
	name := operation.TokenMember()
	token := q.In.String(name)
	if name == "" || token == "" {
		return handler(q)
	}
	encoded, err := json.Marshal(q.In)
	if err != nil {
		return nil, err
	}
	key := operation.Name + " " + token
	if known, repeated := c.answered[key]; repeated {
		if known.input != string(encoded) {
			return nil, protocol.Fail("IdempotentParameterMismatch",
				"The client token you have provided is associated with a resource with other parameters: %s", token)
		}
		return known.output, nil
	}
	output, err := handler(q)
	if err == nil {
		c.answered[key] = answered{input: string(encoded), output: output}
	}
	return output, err
}

// asWireError returns the error of a service. Anything else is a defect.
func asWireError(err error) *wire.Error {
	if failure, ok := err.(*wire.Error); ok { //nolint:errorlint // handlers do not wrap
		return failure
	}
	return defect(err)
}

// defect is the response to a request on which the fake is wrong. No client retries it, so that tests fail.
func defect(err error) *wire.Error {
	return protocol.FailWith(http.StatusNotImplemented, "DefectOfTheFake", "%v", cmp.Or(err.Error(), "unknown"))
}
