package core

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
)

func randomBytes(n int) []byte {
	raw := make([]byte, n)
	_, _ = rand.Read(raw) // never fails, see its documentation
	return raw
}

// NewUUID returns a random UUID (version 4), the ID format of most services.
func NewUUID() string {
	raw := randomBytes(16)
	raw[6] = raw[6]&0x0f | 0x40
	raw[8] = raw[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", raw[:4], raw[4:6], raw[6:8], raw[8:10], raw[10:])
}

// NewHexID returns a random ID in Keystone's format.
func NewHexID() string { return hex.EncodeToString(randomBytes(16)) }

// NewMAC returns a MAC address in Neutron's range.
func NewMAC() string {
	raw := randomBytes(3)
	return fmt.Sprintf("fa:16:3e:%02x:%02x:%02x", raw[0], raw[1], raw[2])
}
