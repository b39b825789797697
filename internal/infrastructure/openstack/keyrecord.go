package openstack

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// keyRecord has the public keys that were written, or were about to be written, to the key pair of a name: one after a success, and several while the
// result is unknown. It is saved as "<name>/<digest>,<digest>".
type keyRecord struct {
	name    string
	digests []string
}

func parseKeyRecord(text string) keyRecord {
	name, digests, ok := strings.Cut(text, "/")
	if !ok {
		return keyRecord{}
	}
	return keyRecord{name: name, digests: strings.Split(digests, ",")}
}

func (r keyRecord) String() string { return r.name + "/" + strings.Join(r.digests, ",") }

// of returns the digests if they belong to the name.
func (r keyRecord) of(name string) []string {
	if r.name != name {
		return nil
	}
	return r.digests
}

// with adds a key that is about to be written to the key pair of the name. A record of another name is dropped.
func (r keyRecord) with(name, publicKey string) keyRecord {
	digests := slices.Clone(r.of(name))
	if digest := keyDigest(publicKey); !slices.Contains(digests, digest) {
		digests = append(digests, digest)
	}
	return keyRecord{name: name, digests: digests}
}

// samePublicKey compares type and key, without the comment.
func samePublicKey(a, b string) bool {
	return keyDigest(a) == keyDigest(b)
}

func keyDigest(publicKey string) string {
	fields := strings.Fields(publicKey)
	sum := sha256.Sum256([]byte(strings.Join(fields[:min(2, len(fields))], " ")))
	return hex.EncodeToString(sum[:8])
}
