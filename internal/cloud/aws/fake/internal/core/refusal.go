package core

import (
	"net/http"
	"time"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/model"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// refusal words the errors of requests that are not authenticated or not authorized, which differ between services.
type refusal struct {
	service *model.Service
	now     time.Time
	skew    time.Duration
}

func (r refusal) isEC2() bool  { return r.service.Protocol == model.EC2 }
func (r refusal) isREST() bool { return r.service.Protocol == model.RESTJSON }

// code returns the code of the protocols "ec2" and "query", or that of "rest-json".
func (r refusal) code(other, rest string) string {
	if r.isREST() {
		return rest
	}
	return other
}

// unparsable is the error of a request without a signature that can be read.
func (r refusal) unparsable(request *http.Request, err error) *wire.Error {
	if request.Header.Get("Authorization") == "" {
		return protocol.FailWith(http.StatusForbidden, r.code("MissingAuthenticationToken", "MissingAuthenticationTokenException"), "Request is missing Authentication Token")
	}
	return protocol.FailWith(http.StatusForbidden, r.code("IncompleteSignature", "IncompleteSignatureException"),
		"The request signature does not conform to AWS standards: %v", err)
}

// signature is the error of a signature that is wrong.
func (r refusal) signature(message string) *wire.Error {
	return protocol.FailWith(http.StatusForbidden, r.code("SignatureDoesNotMatch", "InvalidSignatureException"), "%s", message)
}

func (r refusal) unknownKey() *wire.Error {
	if r.isEC2() {
		return protocol.FailWith(http.StatusUnauthorized, "AuthFailure", "AWS was not able to validate the provided access credentials")
	}
	return protocol.FailWith(http.StatusForbidden, r.code("InvalidClientTokenId", "UnrecognizedClientException"), "The security token included in the request is invalid.")
}

func (r refusal) expiredToken() *wire.Error {
	if r.isEC2() {
		return protocol.Fail("RequestExpired", "Request has expired.")
	}
	return protocol.FailWith(http.StatusForbidden, r.code("ExpiredToken", "ExpiredTokenException"), "The security token included in the request is expired")
}

func (r refusal) expiredSignature(at time.Time) *wire.Error {
	if r.isEC2() {
		return protocol.Fail("RequestExpired", "Request has expired.")
	}
	const layout = "20060102T150405Z"
	return protocol.FailWith(http.StatusForbidden, r.code("SignatureDoesNotMatch", "InvalidSignatureException"), "Signature expired: %s is now earlier than %s (%s - %s)",
		at.Format(layout), r.now.Add(-r.skew).Format(layout), r.now.Format(layout), r.skew)
}

// denied is the error of an action that a policy denies.
func (r refusal) denied(action string, caller Identity) *wire.Error {
	if r.isEC2() {
		return protocol.FailWith(http.StatusForbidden, "UnauthorizedOperation", "You are not authorized to perform this operation. User: %s is not authorized "+
			"to perform: %s because no identity-based policy allows the %s action", caller.ARN, action, action)
	}
	return protocol.FailWith(http.StatusForbidden, r.code("AccessDenied", "AccessDeniedException"), "User: %s is not authorized to perform: %s", caller.ARN, action)
}
