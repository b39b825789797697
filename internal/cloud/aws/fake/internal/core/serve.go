package core

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/model"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
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
	// OwnTokens means that the action itself answers a repeated request with an idempotency token.
	OwnTokens bool
	Do        Handler
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

// ServeHTTP serves all services. The version of the API in a request, or in its path, and the service in its signature tell which is called.
func (c *Cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, "reading the request: "+err.Error(), http.StatusBadRequest)
		return
	}
	in := &incoming{Request: r, form: r.URL.Query(), body: body}
	if in.service = c.restServiceOf(r); in.service == nil {
		if len(body) > 0 {
			if in.form, err = url.ParseQuery(string(body)); err != nil {
				http.Error(w, "parsing the request: "+err.Error(), http.StatusBadRequest)
				return
			}
		}
		in.service = c.serviceOf(r, in.form)
	}
	if in.service == nil {
		c.refuseVersion(w, r, in.form)
		return
	}
	requestID := NewRequestID()
	c.Handle(w, in.call(), func() wire.Response { return c.respond(in, requestID) },
		func(failure *wire.Error) wire.Response { return errorResponse(in.service.Protocol, failure, requestID) })
}

func (c *Cloud) refuseVersion(w http.ResponseWriter, r *http.Request, form url.Values) {
	failure := protocol.Fail("NoSuchVersion", "The requested version (%s) does not exist for the service that the request is signed for", form.Get("Version"))
	respond := func(failure *wire.Error) wire.Response { return errorResponse(model.Query, failure, NewRequestID()) }
	c.Handle(w, wire.Call{Service: "unknown", Method: r.Method, Path: form.Get("Action")}, func() wire.Response { return respond(failure) }, respond)
}

func errorResponse(encoding model.Protocol, err error, requestID string) wire.Response {
	failure := asWireError(err)
	response := wire.Response{
		Status: failure.Status, Header: http.Header{"Content-Type": {"text/xml;charset=UTF-8"}}, Body: protocol.EncodeError(encoding, failure, requestID),
	}
	if encoding == model.RESTJSON {
		var details map[string]string
		if detailed, ok := errors.AsType[*DetailedError](err); ok {
			details = detailed.Details
		}
		response = protocol.EncodeRESTError(failure, details)
		response.Header.Set("X-Amzn-Requestid", requestID)
	}
	if failure.RetryAfter > 0 {
		response.Header.Set("Retry-After", failure.RetryAfterSeconds())
	}
	return response
}

// respond makes the effect of a request.
func (c *Cloud) respond(in *incoming, requestID string) wire.Response {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	c.FinishTransitions()
	operation, output, err := c.perform(in)
	if err != nil {
		return errorResponse(in.service.Protocol, err, requestID)
	}
	response, err := encode(in.service, operation, output, requestID)
	if err != nil {
		return errorResponse(in.service.Protocol, err, requestID)
	}
	return response
}

func (c *Cloud) perform(in *incoming) (*model.Operation, protocol.Struct, error) {
	var caller Identity
	if in.form.Get("Action") != "AssumeRoleWithWebIdentity" { // the only action without a signature
		var failure *wire.Error
		if caller, failure = c.authenticate(in.service, in.Request, in.body); failure != nil {
			return nil, nil, failure
		}
	}
	operation, input, failure := in.decode()
	if failure != nil {
		return nil, nil, failure
	}
	action := operation.Name
	if failure := c.authorize(in.service, action, caller); failure != nil {
		return nil, nil, failure
	}
	known, implemented := c.actions[in.service.Name][action]
	if !implemented {
		return nil, nil, NotImplemented(action)
	}
	if name := known.unread(input); name != "" {
		return nil, nil, NotImplemented("the parameter " + name + " of " + action)
	}
	if input.Bool("DryRun") {
		return nil, nil, protocol.FailWith(http.StatusPreconditionFailed, "DryRunOperation", "Request would have succeeded, but DryRun flag is set.")
	}
	output, err := c.performOnce(operation, known, &Request{Action: action, In: input, Caller: caller, Filters: operation.Filters})
	if err != nil && in.service.Protocol == model.RESTJSON {
		err = declared(operation, err)
	}
	return operation, output, err
}

// declared gives an error the status that the model declares for it. An error that is not declared is a defect of the fake.
func declared(operation *model.Operation, err error) error {
	failure := asWireError(err)
	status, found := operation.Errors[failure.Type]
	if !found {
		return defect(fmt.Errorf("%s does not have the error %s", operation.Name, failure.Type))
	}
	failure.Status = status
	return err
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
func (c *Cloud) performOnce(operation *model.Operation, action Action, q *Request) (protocol.Struct, error) {
	name := operation.TokenMember()
	token := q.In.String(name)
	if name == "" || token == "" || action.OwnTokens {
		return action.Do(q)
	}
	encoded, err := json.Marshal(q.In)
	if err != nil {
		return nil, err
	}
	key := operation.Name + " " + token
	if known, repeated := c.answered[key]; repeated {
		if known.input != string(encoded) {
			return nil, TokenMismatch(token)
		}
		return known.output, nil
	}
	output, err := action.Do(q)
	if err == nil {
		c.answered[key] = answered{input: string(encoded), output: output}
	}
	return output, err
}

// DetailedError is an error of a service that has more than a code and a message.
type DetailedError struct {
	Cause *wire.Error
	// Details are members of the error in the model.
	Details map[string]string
}

// Error implements error.
func (e *DetailedError) Error() string { return e.Cause.Error() }

// Unwrap returns the cause.
func (e *DetailedError) Unwrap() error { return e.Cause }

// TokenMismatch is the error of a request with the idempotency token of an earlier one that was another request.
func TokenMismatch(token string) *wire.Error {
	return protocol.Fail("IdempotentParameterMismatch", "The client token you have provided is associated with a resource with other parameters: %s", token)
}

// asWireError returns the error of a service. Anything else is a defect.
func asWireError(err error) *wire.Error {
	if failure, ok := errors.AsType[*wire.Error](err); ok {
		return failure
	}
	return defect(err)
}

// defect is the response to a request on which the fake is wrong. No client retries it, so that tests fail.
func defect(err error) *wire.Error {
	return protocol.FailWith(http.StatusNotImplemented, "DefectOfTheFake", "%v", cmp.Or(err.Error(), "unknown"))
}
