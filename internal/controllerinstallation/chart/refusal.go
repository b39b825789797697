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

// explain makes a problem of what somebody has to change, and an ordinary error of what may go away. The same failure always reads the same: it ends
// in a status.
func explain(reference registry.Reference, withCredential bool, err error) error {
	if _, said := problem.In(err); said {
		return err
	}
	var (
		answer    *errcode.ErrorResponse
		untrusted *tls.CertificateVerificationError
		realm     *realmError
	)
	switch {
	case errors.Is(err, errdef.ErrNotFound):
		return unusable(reference.String(), "the registry does not have it")
	case errors.Is(err, auth.ErrBasicCredentialNotFound):
		return unusable(reference.String(), "%s", refused(withCredential))
	case errors.As(err, &realm):
		return unusable(reference.String(), "%v", realm)
	case errors.As(err, &answer):
		return explainAnswer(reference, withCredential, answer)
	case errors.As(err, &untrusted):
		return unusable(reference.String(), "the certificate of the registry is not trusted: %s", distrust(untrusted))
	case errors.Is(err, http.ErrSchemeMismatch), errors.Is(err, errPlainHTTP):
		return unusable(reference.String(), "the registry speaks plain HTTP, but must speak HTTPS")
	case errors.Is(err, content.ErrMismatchedDigest), errors.Is(err, content.ErrTrailingData):
		return unusable(reference.String(), "what the registry delivers does not match its digest")
	}
	return fmt.Errorf("pulling chart %s: %w", reference, bare(err))
}

// explainAnswer looks at the status first: a registry that is overloaded may add what it likes.
func explainAnswer(reference registry.Reference, withCredential bool, answer *errcode.ErrorResponse) error {
	says := func(codes ...string) bool {
		return slices.ContainsFunc(answer.Errors, func(said errcode.Error) bool { return slices.Contains(codes, said.Code) })
	}
	switch code := answer.StatusCode; {
	case code == http.StatusTooManyRequests, code >= http.StatusInternalServerError:
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		return unusable(reference.String(), "%s (%d)", refused(withCredential), code)
	case says(errcode.ErrorCodeManifestUnknown, errcode.ErrorCodeNameUnknown, errcode.ErrorCodeBlobUnknown):
		return unusable(reference.String(), "the registry does not have it (%d)", code)
	case says(errcode.ErrorCodeNameInvalid, errcode.ErrorCodeDigestInvalid):
		return unusable(reference.String(), "the reference is malformed in the eyes of the registry (%d)", code)
	}
	// The URL is left out: that of a blob may be signed.
	return fmt.Errorf("pulling chart %s: %s answers %d %s", reference, answer.URL.Host, answer.StatusCode, http.StatusText(answer.StatusCode))
}

func refused(withCredential bool) string {
	if withCredential {
		return "the registry refuses the credentials that the pull secret has for it"
	}
	return "the registry wants credentials, and there are none for it"
}

func distrust(err *tls.CertificateVerificationError) string {
	if invalid := (x509.CertificateInvalidError{}); errors.As(err, &invalid) && invalid.Reason == x509.Expired {
		return "it has expired, or is not valid yet" // without the time of day
	}
	return err.Err.Error()
}

// bare leaves out of an error what is secret or different each time: signed URLs and our own port.
func bare(err error) error {
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
