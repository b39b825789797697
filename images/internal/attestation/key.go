package attestation

import (
	"fmt"
	"os"

	"github.com/trellis-garden/trellis/images/internal/signing"
)

// passwordVariable is cosign's own.
const passwordVariable = "COSIGN_PASSWORD"

// PublicKeyFile is the name of the file with the key that checks signatures.
const PublicKeyFile = "signing-key.pub"

// SignatureSuffix is added to the name of a signed file for that of its signature.
const SignatureSuffix = ".sig"

// ReadKeyFile returns nil when no file is named. Its errors name the flag --sign-key.
func ReadKeyFile(path string) (*signing.Key, error) {
	if path == "" {
		return nil, nil
	}
	file, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("--sign-key: %w", err)
	}
	key, err := signing.ReadKey(file, []byte(os.Getenv(passwordVariable)))
	if err != nil {
		return nil, fmt.Errorf("--sign-key %s: %w", path, err)
	}
	return &key, nil
}

// SignFile adds the signature over a file, and the key that checks it.
func SignFile(key signing.Key, name string, files map[string][]byte) error {
	signature, err := key.SignBlob(files[name])
	if err != nil {
		return err
	}
	files[name+SignatureSuffix] = []byte(signature + "\n")
	files[PublicKeyFile], err = key.Public().PEM()
	return err
}
