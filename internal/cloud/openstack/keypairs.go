package openstack

import "context"

// KeyPair is a Nova key pair. Its name is its identity within the user.
type KeyPair struct {
	Name        string `json:"name"`
	PublicKey   string `json:"public_key"`
	Fingerprint string `json:"fingerprint"`
}

func (s *Session) keyPairs() resource[KeyPair] {
	return resource[KeyPair]{session: s, service: computeService, path: "os-keypairs", one: "keypair", many: "keypairs"}
}

// GetKeyPair returns a key pair of the session's user.
func (s *Session) GetKeyPair(ctx context.Context, name string) (KeyPair, error) {
	return s.keyPairs().get(ctx, name)
}

// CreateKeyPair stores a public key under a name. It fails with cloud.Conflict when the name is taken.
func (s *Session) CreateKeyPair(ctx context.Context, name, publicKey string) (KeyPair, error) {
	return s.keyPairs().create(ctx, map[string]string{"name": name, "public_key": publicKey})
}

// DeleteKeyPair deletes a key pair of the session's user. It fails with cloud.NotFound when there is none.
func (s *Session) DeleteKeyPair(ctx context.Context, name string) error {
	return s.keyPairs().remove(ctx, name, nil)
}
