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

// reworded is an error in other words.
type reworded struct {
	words string
	error
}

func (w *reworded) Error() string { return w.words }
func (w *reworded) Unwrap() error { return w.error }

// stableError puts an error of a connection into words that stay the same while the reason does: they end in conditions, and a condition that changes
// is a write. So there are no local ports in them, nor what time it is.
func stableError(err error) error {
	// client-go repeats what failed with such an error, in words or in the chain, up to ten times. Pauses are made here.
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

// isBroken reports whether a connection, or one stream of it, has ended too early. The type of the latter is not exported by net/http.
func isBroken(err error) bool {
	return strings.Contains(err.Error(), "stream error: ") || utilnet.IsConnectionReset(err) || utilnet.IsProbableEOF(err) || utilnet.IsHTTP2ConnectionLost(err) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// isCertificateError reports whether one side did not like the other's certificate. Other credentials, which come with other certificates to trust, may help.
func isCertificateError(err error) bool {
	_, ours := errors.AsType[*tls.CertificateVerificationError](err)
	_, theirs := errors.AsType[tls.AlertError](err)
	if operation, ok := errors.AsType[*net.OpError](err); ok && operation.Op == "remote error" {
		theirs = true
	}
	return ours || theirs
}
