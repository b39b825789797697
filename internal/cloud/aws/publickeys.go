package aws

import "strings"

// SamePublicKey compares public keys in the format of OpenSSH by type and key, without their comments, which AWS replaces.
func SamePublicKey(a, b string) bool {
	one, other := strings.Fields(a), strings.Fields(b)
	return len(one) >= 2 && len(other) >= 2 && one[0] == other[0] && one[1] == other[1]
}
