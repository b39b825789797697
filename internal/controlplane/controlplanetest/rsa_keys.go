package controlplanetest

import (
	"crypto/rand"
	"crypto/rsa"
	"fmt"
	"io"
	"sync/atomic"

	secretsutils "github.com/gardener/gardener/pkg/utils/secrets"
)

// ReuseRSAKeys makes Gardener's library hand out a few RSA keys by turns, which spares a process most of its time: it otherwise
// makes each anew, which takes half a second. It is for TestMain.
func ReuseRSAKeys() error {
	keys := make([]*rsa.PrivateKey, 7)
	for i := range keys {
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			return fmt.Errorf("making RSA keys: %w", err)
		}
		keys[i] = key
	}
	var next atomic.Uint64
	secretsutils.GenerateKey = func(io.Reader, int) (*rsa.PrivateKey, error) {
		return keys[next.Add(1)%uint64(len(keys))], nil
	}
	return nil
}
