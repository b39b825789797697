package core

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/model"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/sigv4"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// incoming is a request with the service that it is for.
type incoming struct {
	*http.Request

	service *model.Service
	// form has the parameters of the protocols with actions.
	form url.Values
	body []byte
}

// serviceOf returns the model of the service that a request is for, or nil.
func (c *Cloud) serviceOf(r *http.Request, form url.Values) *model.Service {
	return c.serviceWhere(r, func(s *model.Service) bool { return s.Version == form.Get("Version") })
}

// restServiceOf returns the model of the service of the protocol "rest-json" that a request is for, or nil. The path begins with its version.
func (c *Cloud) restServiceOf(r *http.Request) *model.Service {
	return c.serviceWhere(r, func(s *model.Service) bool {
		return s.Protocol == model.RESTJSON && strings.HasPrefix(r.URL.Path, "/"+s.Version+"/")
	})
}

func (c *Cloud) serviceWhere(r *http.Request, matches func(*model.Service) bool) *model.Service {
	signature, err := sigv4.Parse(r)
	for _, service := range c.models {
		if matches(service) && (err != nil || signature.Service == service.SigningName) {
			return service
		}
	}
	return nil
}

// call names the request in the log by its service and action. The query has the parameters, without secrets.
func (in *incoming) call() wire.Call {
	action, parameters := in.form.Get("Action"), in.form
	if in.service.Protocol == model.RESTJSON {
		action, parameters = in.restCall()
	}
	shown := url.Values{}
	for name, values := range parameters {
		if !slices.Contains([]string{"Action", "Version", "WebIdentityToken", "PublicKeyMaterial", "UserData"}, name) {
			shown[name] = values
		}
	}
	query, err := url.QueryUnescape(shown.Encode())
	if err != nil {
		query = shown.Encode()
	}
	login := strings.HasPrefix(action, "AssumeRole")
	return wire.Call{
		Service: wire.Service(in.service.Name), Method: in.Method, Path: action, Query: query, ReadOnly: IsRead(action) || login, Login: login,
	}
}

// restCall returns the action and the parameters of a request of the protocol "rest-json".
func (in *incoming) restCall() (action string, parameters url.Values) {
	operation, labels := protocol.Route(in.service, in.Method, in.URL)
	if operation == nil {
		return in.URL.Path, nil
	}
	parameters = in.URL.Query()
	for name, value := range labels {
		parameters.Set(name, value)
	}
	var body map[string]json.RawMessage
	_ = json.Unmarshal(in.body, &body) // what is no JSON is refused later
	for name, value := range body {
		parameters.Set(name, strings.Trim(string(value), `"`))
	}
	return operation.Name, parameters
}

// IsRead reports whether an action changes nothing, by its name.
func IsRead(action string) bool {
	return slices.ContainsFunc([]string{"Describe", "Get", "List"}, func(prefix string) bool { return strings.HasPrefix(action, prefix) })
}

func encode(service *model.Service, operation *model.Operation, output protocol.Struct, requestID string) (wire.Response, error) {
	if service.Protocol == model.RESTJSON {
		response, err := protocol.EncodeREST(operation, output)
		if err == nil {
			response.Header.Set("X-Amzn-Requestid", requestID)
		}
		return response, err
	}
	encoded, err := protocol.Encode(service, operation, output, requestID)
	return wire.Response{Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/xml;charset=UTF-8"}}, Body: encoded}, err
}

func (in *incoming) decode() (*model.Operation, protocol.Struct, *wire.Error) {
	if in.service.Protocol == model.RESTJSON {
		return protocol.DecodeREST(in.service, in.Request, in.body)
	}
	return protocol.Decode(in.service, in.form)
}
