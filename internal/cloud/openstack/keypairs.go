package openstack

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"

	"github.com/trellis-garden/trellis/internal/cloud"
)

// KeyPair is a Nova key pair. Its name is unique within the user.
type KeyPair struct {
	Name        string `json:"name"`
	PublicKey   string `json:"public_key"`
	Fingerprint string `json:"fingerprint"`
}

func (s *Session) keyPairs() resource[KeyPair] {
	return resource[KeyPair]{session: s, service: computeService, path: "os-keypairs", singular: "keypair", plural: "keypairs"}
}

// GetKeyPair returns a key pair of the session's user.
func (s *Session) GetKeyPair(ctx context.Context, name string) (KeyPair, error) {
	return s.keyPairs().get(ctx, name)
}

// ListKeyPairs returns all key pairs of the session's user. It takes one request: before microversion 2.35 the list has no pages.
func (s *Session) ListKeyPairs(ctx context.Context) ([]KeyPair, error) {
	listed := resource[listedKeyPair]{session: s, service: computeService, path: "os-keypairs", singular: "keypair", plural: "keypairs"}
	found, err := listed.list(ctx, noFilter[listedKeyPair]{})
	keyPairs := make([]KeyPair, 0, len(found))
	for _, one := range found {
		keyPairs = append(keyPairs, one.KeyPair)
	}
	return keyPairs, err
}

// listedKeyPair is an object of the list.
type listedKeyPair struct {
	KeyPair KeyPair `json:"keypair"`
}

// CreateKeyPair stores a public key under a name. It fails with cloud.Conflict if the name is in use.
func (s *Session) CreateKeyPair(ctx context.Context, name, publicKey string) (KeyPair, error) {
	created, err := s.keyPairs().create(ctx, map[string]string{"name": name, "public_key": publicKey})
	if fault, ok := errors.AsType[*ResponseError](err); ok && fault.Status == http.StatusForbidden && s.keyPairsExhausted(ctx) {
		return created, &cloud.Error{Kind: cloud.QuotaExceeded, Message: "the user's quota of key pairs is used up", Err: err}
	}
	return created, err
}

// DeleteKeyPair deletes a key pair of the session's user. It fails with cloud.NotFound when there is none.
func (s *Session) DeleteKeyPair(ctx context.Context, name string) error {
	return s.keyPairs().remove(ctx, name, nil)
}

// keyPairsExhausted compares the number of the user's key pairs with the quota. Nova responds to one too many with the same 403 as to a user
// without permission, and only the text differs. If the quota cannot be read, it returns false.
func (s *Session) keyPairsExhausted(ctx context.Context) bool {
	var quota struct {
		Set struct {
			KeyPairs *int `json:"key_pairs"`
		} `json:"quota_set"`
	}
	path := "os-quota-sets/" + url.PathEscape(s.Token().ProjectID)
	err := s.do(ctx, call{service: computeService, method: http.MethodGet, path: path, response: &quota})
	limit := quota.Set.KeyPairs
	if err != nil || limit == nil || *limit < 0 {
		return false
	}
	var existing struct {
		KeyPairs []json.RawMessage `json:"keypairs"`
	}
	err = s.do(ctx, call{service: computeService, method: http.MethodGet, path: s.keyPairs().path, expects: pageResponse, response: &existing})
	return err == nil && len(existing.KeyPairs) >= *limit
}
