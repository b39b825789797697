package webhook

import (
	"crypto/x509"
	"time"
)

// trustedSince remembers since when all API servers have been told to trust an authority, as far as this process has seen it. A process
// that becomes the leader begins anew, which costs nothing but a few minutes of a renewal that has days.
type trustedSince map[string]time.Time

// observe takes the authorities that the configurations have at the moment: none when that could not be seen.
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

// trustedFor reports whether the authority has been trusted for that long without a break.
func (t trustedSince) trustedFor(authority *x509.Certificate, period time.Duration, now time.Time) bool {
	since, known := t[string(authority.Raw)]
	return known && now.Sub(since) >= period
}
