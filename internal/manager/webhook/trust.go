package webhook

import (
	"crypto/x509"
	"time"
)

// trustedSince records since when all configurations have contained an authority, as far as this process has seen. A new leader begins without a
// record, which delays a renewal by a few minutes.
type trustedSince map[string]time.Time

// observe records the authorities that the configurations contain now: none if they could not be read.
func (t trustedSince) observe(authorities []*x509.Certificate, now time.Time) {
	found := map[string]bool{}
	for _, authority := range authorities {
		key := string(authority.Raw)
		found[key] = true
		if _, known := t[key]; !known {
			t[key] = now
		}
	}
	for key := range t {
		if !found[key] {
			delete(t, key)
		}
	}
}

// trustedFor reports whether the authority has been trusted for that long without interruption.
func (t trustedSince) trustedFor(authority *x509.Certificate, period time.Duration, now time.Time) bool {
	since, known := t[string(authority.Raw)]
	return known && now.Sub(since) >= period
}
