package chart

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"

	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
)

// explainPullError returns a problem if an admin has to change something, and an ordinary error if the cause is transient. The text only depends on
// the cause, since it is written to a status.
func explainPullError(reference registry.Reference, withCredential bool, err error) error {
	if _, isProblem := problem.In(err); isProblem {
		return err
	}
	var (
		response  *errcode.ErrorResponse
		untrusted *tls.CertificateVerificationError
		realm     *realmError
	)
	switch {
	case errors.Is(err, errdef.ErrNotFound):
		return pullProblem(reference.String(), "the registry does not have it")
	case errors.Is(err, auth.ErrBasicCredentialNotFound):
		return pullProblem(reference.String(), "%s", unauthorizedMessage(withCredential))
	case errors.As(err, &realm):
		return pullProblem(reference.String(), "%v", realm)
	case errors.As(err, &response):
		return explainResponse(reference, withCredential, response)
	case errors.As(err, &untrusted):
		return pullProblem(reference.String(), "the certificate of the registry is not trusted: %s", certificateMessage(untrusted))
	case errors.Is(err, http.ErrSchemeMismatch), errors.Is(err, errPlainHTTP):
		return pullProblem(reference.String(), "the registry speaks plain HTTP, but must speak HTTPS")
	case errors.Is(err, content.ErrMismatchedDigest), errors.Is(err, content.ErrTrailingData):
		return pullProblem(reference.String(), "what the registry delivers does not match its digest")
	}
	return fmt.Errorf("pulling chart %s: %w", reference, stableError(err))
}

// explainResponse uses the status code first: the body of an overloaded registry may be misleading.
func explainResponse(reference registry.Reference, withCredential bool, response *errcode.ErrorResponse) error {
	hasCode := func(codes ...string) bool {
		return slices.ContainsFunc(response.Errors, func(registryError errcode.Error) bool { return slices.Contains(codes, registryError.Code) })
	}
	switch code := response.StatusCode; {
	case code == http.StatusTooManyRequests, code >= http.StatusInternalServerError:
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		return pullProblem(reference.String(), "%s (%d)", unauthorizedMessage(withCredential), code)
	case hasCode(errcode.ErrorCodeManifestUnknown, errcode.ErrorCodeNameUnknown, errcode.ErrorCodeBlobUnknown):
		return pullProblem(reference.String(), "the registry does not have it (%d)", code)
	case hasCode(errcode.ErrorCodeNameInvalid, errcode.ErrorCodeDigestInvalid):
		return pullProblem(reference.String(), "the reference is malformed in the eyes of the registry (%d)", code)
	}
	// The URL is omitted: that of a blob may be signed.
	return fmt.Errorf("pulling chart %s: %s answers %d %s", reference, response.URL.Host, response.StatusCode, http.StatusText(response.StatusCode))
}

func unauthorizedMessage(withCredential bool) string {
	if withCredential {
		return "the registry refuses the credentials that the pull secret has for it"
	}
	return "the registry wants credentials, and there are none for it"
}

func certificateMessage(err *tls.CertificateVerificationError) string {
	if invalid := (x509.CertificateInvalidError{}); errors.As(err, &invalid) && invalid.Reason == x509.Expired {
		return "it has expired, or is not valid yet" // without the time, which would differ each time
	}
	return err.Err.Error()
}

// stableError removes from an error what is secret or varies: signed URLs and local ports.
func stableError(err error) error {
	host := ""
	if failed := (*url.Error)(nil); errors.As(err, &failed) {
		if at, parseErr := url.Parse(failed.URL); parseErr == nil {
			host = at.Host + ": "
		}
		err = failed.Err
	}
	if broken := (*net.OpError)(nil); errors.As(err, &broken) {
		err = &net.OpError{Op: broken.Op, Net: broken.Net, Addr: broken.Addr, Err: broken.Err}
	}
	return fmt.Errorf("%s%w", host, err)
}
