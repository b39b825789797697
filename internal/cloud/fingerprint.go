package cloud

import (
	"crypto/sha256"
	"encoding/binary"
)

// Fingerprint is the SHA-256 of some strings, e.g. of credentials that must not be kept as a key. Each string is preceded by its length, so that different
// lists have different hashes.
type Fingerprint [sha256.Size]byte

// FingerprintOf returns the fingerprint of a list of strings.
func FingerprintOf(parts ...string) Fingerprint {
	hash := sha256.New()
	for _, part := range parts {
		var length [8]byte
		binary.BigEndian.PutUint64(length[:], uint64(len(part)))
		hash.Write(length[:])
		hash.Write([]byte(part))
	}
	return Fingerprint(hash.Sum(nil))
}
