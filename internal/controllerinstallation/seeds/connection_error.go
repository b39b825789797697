package seeds

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// reworded is an error with another text.
type reworded struct {
	words string
	error
}

func (w *reworded) Error() string { return w.words }
func (w *reworded) Unwrap() error { return w.error }

// stableError gives an error of a connection a text that depends on the cause only, without local ports and times: the text is written to conditions,
// where each change is a write.
func stableError(err error) error {
	// client-go retries a request up to ten times if its error has this text or is in the chain. Here the breaker controls retries.
	if isBroken(err) {
		return errors.New("the connection broke before there was an answer")
	}
	if expired, ok := errors.AsType[x509.CertificateInvalidError](err); ok && expired.Reason == x509.Expired {
		return &reworded{fmt.Sprintf("x509: a certificate is only good from %s to %s",
			expired.Cert.NotBefore.UTC().Format(time.RFC3339), expired.Cert.NotAfter.UTC().Format(time.RFC3339)), err}
	}
	if lookup, ok := errors.AsType[*net.DNSError](err); ok {
		words := "looking up " + lookup.Name + ": the name cannot be resolved now"
		if lookup.IsNotFound {
			words = "looking up " + lookup.Name + ": no such host"
		}
		return &reworded{words, err}
	}
	if operation, ok := errors.AsType[*net.OpError](err); ok {
		anywhere := *operation
		anywhere.Source = nil
		return &reworded{anywhere.Error(), err}
	}
	return err
}

// isBroken reports whether a connection, or one stream of it, was closed too early. net/http does not export the type of the latter error.
func isBroken(err error) bool {
	return strings.Contains(err.Error(), "stream error: ") || utilnet.IsConnectionReset(err) || utilnet.IsProbableEOF(err) || utilnet.IsHTTP2ConnectionLost(err) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// isCertificateError reports whether one side rejected the certificate of the other. New credentials, which come with new CA certificates, may help.
func isCertificateError(err error) bool {
	_, ours := errors.AsType[*tls.CertificateVerificationError](err)
	_, theirs := errors.AsType[tls.AlertError](err)
	if operation, ok := errors.AsType[*net.OpError](err); ok && operation.Op == "remote error" {
		theirs = true
	}
	return ours || theirs
}
