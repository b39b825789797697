package aws

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"

	"github.com/trellis-garden/trellis/internal/cloud"
)

// ResponseError is an error response of a service. It is the cause within the *cloud.Error of every such request; errors.AsType[*ResponseError] finds it.
type ResponseError struct {
	// Service and Operation are e.g. "ec2" and "CreateVpc".
	Service, Operation string
	// Code is AWS' machine-readable code, e.g. "VpcLimitExceeded".
	Code string
	// Message is the service's own text, for people; may be empty.
	Message string
	// Status is the HTTP status code, and RequestID the ID by which AWS finds the request; may be empty.
	Status    int
	RequestID string
}

// Error implements error.
func (f *ResponseError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s answered %s", f.Service, f.Operation, f.Code)
	if f.Message != "" {
		b.WriteString(": " + f.Message)
	}
	if f.RequestID != "" {
		b.WriteString(" (request " + f.RequestID + ")")
	}
	return b.String()
}

// CodeOf returns AWS' code of an error response, or an empty string.
func CodeOf(err error) string {
	if response, ok := errors.AsType[*ResponseError](err); ok {
		return response.Code
	}
	return ""
}

// classify returns the *cloud.Error for any error of a request. A classified error is not changed: it is that of a login, or of the session's rate limit.
func classify(o operation, err error) *cloud.Error {
	if classified, ok := errors.AsType[*cloud.Error](err); ok {
		return classified
	}
	fault, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		return unavailable(o, err)
	}
	response := &ResponseError{Service: o.service, Operation: o.name, Code: fault.ErrorCode(), Message: fault.ErrorMessage()}
	if raw, found := errors.AsType[*awshttp.ResponseError](err); found {
		response.RequestID, response.Status = raw.ServiceRequestID(), raw.HTTPStatusCode()
	}
	return classified(response)
}

func classified(response *ResponseError) *cloud.Error {
	return &cloud.Error{Kind: kindOf(response), Err: response}
}

// unavailable classifies an error without a response. errors.Is still finds errors of contexts.
func unavailable(o operation, err error) *cloud.Error {
	cause := err
	if raw, ok := errors.AsType[*url.Error](err); ok {
		cause = raw.Err
	} else if canceled, ok := errors.AsType[*aws.RequestCanceledError](err); ok {
		cause = canceled.Err
	}
	failed := &cloud.Error{Kind: cloud.Unavailable, Err: fmt.Errorf("%s of %s: %w", o.name, o.service, cause)}
	if _, unverified := errors.AsType[*tls.CertificateVerificationError](err); unverified {
		failed.Message = "the certificate of AWS cannot be verified: if that lasts, something between the seed and AWS changes connections"
	}
	return failed
}

// kindOf decides by the code, and by the status code if the code is unknown.
func kindOf(response *ResponseError) cloud.Kind {
	code := response.Code
	if kind, known := kindsByCode()[code]; known {
		return kind
	}
	switch {
	case isThrottling(code):
		return cloud.RateLimited
	case strings.HasSuffix(code, ".NotFound"), strings.HasSuffix(code, "NotFound"):
		return cloud.NotFound
	case strings.HasSuffix(code, "LimitExceeded"):
		return cloud.QuotaExceeded
	case strings.HasSuffix(code, ".InUse"), strings.HasSuffix(code, ".Duplicate"), strings.HasSuffix(code, "AlreadyExists"):
		return cloud.Conflict
	case strings.HasPrefix(code, "InvalidParameter"), strings.HasPrefix(code, "InvalidSubnet."), strings.HasPrefix(code, "InvalidVpc"):
		return cloud.Configuration
	case response.Status >= http.StatusInternalServerError:
		return cloud.Unavailable
	default:
		return cloud.Unknown
	}
}

// kindsByCode are the codes of which the form says too little, or something else.
func kindsByCode() map[string]cloud.Kind {
	kinds := map[string]cloud.Kind{}
	for kind, codes := range map[cloud.Kind][]string{
		cloud.Unauthenticated: {
			"AuthFailure", "InvalidClientTokenId", "SignatureDoesNotMatch", "ExpiredToken", "ExpiredTokenException", "RequestExpired", "InvalidIdentityToken",
			"IncompleteSignature", "IncompleteSignatureException", "InvalidSignatureException", "MissingAuthenticationToken", "MissingAuthenticationTokenException",
			"UnrecognizedClientException", "Blocked",
		},
		cloud.Unauthorized: {"UnauthorizedOperation", "AccessDenied", "AccessDeniedException", "OptInRequired", "PendingVerification"},
		cloud.QuotaExceeded: {
			"LimitExceeded", "LimitExceededException", "RulesPerSecurityGroupLimitExceeded", "AddressLimitExceeded", "VpcLimitExceeded", "NatGatewayLimitExceeded",
			"MaxSpotInstanceCountExceeded", "TooManyLoadBalancers", "TooManyTargetGroups",
		},
		cloud.Depleted: {
			"InsufficientAddressCapacity", "InsufficientFreeAddressesInSubnet", "InsufficientInstanceCapacity", "InsufficientCapacity", "InsufficientVolumeCapacity",
			"InsufficientReservedInstanceCapacity", "InsufficientHostCapacity", "InsufficientCapacityOnHost", "ReservationCapacityExceeded", "SpotMaxPriceTooLow",
			"InsufficientThroughputCapacity", "NoFreeAddressesInSubnet", "Unsupported",
		},
		cloud.NotFound: {
			"NoSuchEntity", "NatGatewayNotFound", "LoadBalancerNotFound", "TargetGroupNotFound", "AccessPointNotFound", "Gateway.NotAttached", "InvalidPermission.NotFound",
		},
		cloud.Conflict: {
			"Resource.AlreadyAssociated", "RouteAlreadyExists", "EntityAlreadyExists", "EntityTemporarilyUnmodifiable", "ConcurrentModification", "IdempotentParameterMismatch",
			"InvalidSubnet.Conflict", "IncorrectState", "IncorrectInstanceState", "OperationInProgress", "MountTargetConflict",
			"IncorrectFileSystemLifeCycleState", "IncorrectMountTargetState",
		},
		cloud.InUse:       {"DependencyViolation", "DeleteConflict", "ResourceInUse", "InvalidIPAddress.InUse", "InvalidGroup.InUse", "FileSystemInUse"},
		cloud.Unavailable: {"InternalError", "InternalFailure", "ServiceUnavailable", "Unavailable", "ServiceFailure"},
		cloud.Configuration: {
			"MalformedPolicyDocument", "ValidationError", "InvalidInput", "InvalidAction", "MissingParameter", "InvalidKey.Format", "MalformedCertificate",
			"BadRequest", "ValidationException", "UnsupportedAvailabilityZone", "AvailabilityZonesMismatch",
		},
	} {
		for _, code := range codes {
			kinds[code] = kind
		}
	}
	return kinds
}
