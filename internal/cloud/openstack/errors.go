package openstack

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/auth"
	"github.com/trellis-garden/trellis/internal/cloud/transport"
)

// ResponseError is an error response of a service. It is the cause within the *cloud.Error of
// every such call; errors.AsType[*ResponseError] finds it.
type ResponseError struct {
	Service      string // network, compute, load-balancer, shared-file-system or identity
	Method, Path string // the path is below the service's endpoint
	Status       int    // HTTP status code
	Type         string // machine-readable type, such as Neutron's "IpAddressGenerationFailure"; may be empty
	Message      string // the service's own text, for people; may be empty
	RequestID    string // by which the cloud's operator finds the request; may be empty
}

// Error implements error.
func (f *ResponseError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s answered %d", f.Method, f.Path, f.Status)
	if f.Type != "" {
		b.WriteString(" " + f.Type)
	}
	if f.Message != "" {
		b.WriteString(": " + f.Message)
	}
	if f.RequestID != "" {
		b.WriteString(" (request " + f.RequestID + ")")
	}
	return b.String()
}

// classify returns the *cloud.Error for any error of a call, and nil for nil. A classified error is not changed. The text contains none of
// the secrets, even if the cloud repeats the request.
func classify(s service, method, path string, err error, secrets ...string) *cloud.Error {
	if err == nil {
		return nil
	}
	if classified, ok := errors.AsType[*cloud.Error](err); ok {
		return classified
	}
	if response, ok := errors.AsType[gophercloud.ErrUnexpectedResponseCode](err); ok {
		return classifyResponse(s, method, path, response, secrets)
	}
	return unavailable(sanitizeError(withoutURL(err), secrets...), fmt.Sprintf("%s %s of the %s service", method, path, s))
}

// unavailable classifies an error without a response. errors.Is still finds errors of contexts. An untrusted
// certificate is among them: it may be the cloud's, which expires and is renewed, or the user's.
func unavailable(err error, action string) *cloud.Error {
	unavailable := &cloud.Error{Kind: cloud.Unavailable, Err: fmt.Errorf("%s: %w", action, err)}
	if _, unverified := errors.AsType[*tls.CertificateVerificationError](err); unverified {
		unavailable.Message = fmt.Sprintf("the cloud's certificate cannot be verified: if that lasts, check %q and %q, "+
			"or the Keystone URL and the CA bundle of the cloud profile", auth.KeyAuthURL, auth.KeyCACert)
	}
	return unavailable
}

// withoutURL removes the wrapper of http.Client, which repeats the method and the whole URL.
func withoutURL(err error) error {
	if envelope, ok := errors.AsType[*url.Error](err); ok {
		return envelope.Err
	}
	return err
}

func classifyResponse(s service, method, path string, response gophercloud.ErrUnexpectedResponseCode, secrets []string) *cloud.Error {
	kind, message := readFault(response.Body)
	fault := &ResponseError{
		Service: s.String(), Method: method, Path: path, Status: response.Actual,
		Type: sanitize(kind, secrets), Message: sanitize(message, secrets),
		RequestID: sanitize(response.ResponseHeader.Get("X-Openstack-Request-Id"), secrets),
	}
	pause := transport.RetryAfter(response.ResponseHeader)
	return &cloud.Error{Kind: kindOf(fault, pause > 0), RetryAfter: pause, Err: fault}
}

// readFault returns the machine-readable type and the message in the body of a response.
//
//	Neutron:        {"NeutronError": {"type": "OverQuota", "message": "...", "detail": ""}}
//	Keystone:       {"error": {"code": 401, "title": "Unauthorized", "message": "..."}}
//	Octavia:        {"faultcode": "Client", "faultstring": "...", "debuginfo": null}
//	Nova, Manila:   {"conflictingRequest": {"code": 409, "message": "..."}}
func readFault(body []byte) (kind, message string) {
	var flat struct {
		Code string `json:"faultcode"`
		Text string `json:"faultstring"`
	}
	if json.Unmarshal(body, &flat) == nil && flat.Code != "" {
		return flat.Code, flat.Text
	}
	var envelope map[string]json.RawMessage
	if json.Unmarshal(body, &envelope) != nil || len(envelope) != 1 {
		return "", ""
	}
	for key, content := range envelope {
		var inner struct {
			Type    string `json:"type"`
			Title   string `json:"title"`
			Message string `json:"message"`
		}
		if json.Unmarshal(content, &inner) != nil {
			return "", ""
		}
		switch key {
		case "NeutronError":
			return inner.Type, inner.Message
		case "error":
			return inner.Title, inner.Message
		default:
			return key, inner.Message
		}
	}
	return "", ""
}

const faultRuleExists = "SecurityGroupRuleExists"

// kindByType maps the types that are more precise than their status codes. The names are those of the classes in Neutron's
// and neutron-lib's exceptions.
func kindByType(name string) (cloud.Kind, bool) {
	switch name {
	case "OverQuota", "SubnetPoolQuotaExceeded":
		return cloud.QuotaExceeded, true
	case "IpAddressGenerationFailure", "IpAddressGenerationFailureAllSubnets", "ExternalIpAddressExhausted",
		"NoNetworkAvailable", "SubnetAllocationError":
		return cloud.Depleted, true
	case "NetworkInUse", "SubnetInUse", "SubnetPoolInUse", "RouterInUse", "PortInUse", "ServicePortInUse", "L3PortInUse",
		"SecurityGroupInUse", "SecurityGroupRuleInUse", "RouterInterfaceInUseByFloatingIP", "RouterInterfaceInUseByRoute",
		"RouterExternalGatewayInUseByFloatingIp":
		return cloud.InUse, true
	case "AvailabilityZoneNotFound", "MinPrefixSubnetAllocationError", "MaxPrefixSubnetAllocationError":
		return cloud.Configuration, true // 404 and 400, but about a value that only the user can have set
	default:
		return cloud.Unknown, false
	}
}

// kindOf decides by type and status code. 400 and 422 remain Unknown: only the caller knows whether the user or this program set the
// rejected value, and an error of the program must not be reported as the user's.
// Nova's 403 is the same for a missing permission and an exceeded quota; functions that create resources with quotas check those.
func kindOf(fault *ResponseError, retryLater bool) cloud.Kind {
	if kind, ok := kindByType(fault.Type); ok {
		return kind
	}
	switch fault.Status {
	case http.StatusUnauthorized:
		return cloud.Unauthenticated
	case http.StatusForbidden:
		return cloud.Unauthorized
	case http.StatusNotFound, http.StatusGone:
		return cloud.NotFound
	case http.StatusConflict, http.StatusPreconditionFailed:
		return cloud.Conflict
	case http.StatusRequestEntityTooLarge: // overLimit: a rate limit with a Retry-After, otherwise a quota
		if retryLater {
			return cloud.RateLimited
		}
		return cloud.QuotaExceeded
	case http.StatusTooManyRequests:
		return cloud.RateLimited
	case http.StatusRequestTimeout:
		return cloud.Unavailable
	}
	if fault.Status >= 500 {
		return cloud.Unavailable
	}
	return cloud.Unknown
}
