package ec2

import (
	"crypto/md5"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

type keyPair struct {
	meta

	name, kind, fingerprint, publicKey string
	created                            time.Time
}

func (s *Service) newKeyPairs() *collection[*keyPair] {
	return &collection[*keyPair]{
		kind: "key-pair", ids: "KeyPairIds", answer: "KeyPairs",
		notFound: func(id string) *wire.Error {
			return protocol.Fail("InvalidKeyPair.NotFound", "The key pair ID '%s' does not exist", id)
		},
		filters: map[string]func(*keyPair) []string{
			"key-pair-id": one(func(k *keyPair) string { return k.id }),
			"key-name":    one(func(k *keyPair) string { return k.name }),
			"fingerprint": one(func(k *keyPair) string { return k.fingerprint }),
		},
	}
}

func (s *Service) keyPairActions() map[string]core.Action {
	return map[string]core.Action{
		"ImportKeyPair":    {Reads: "KeyName PublicKeyMaterial TagSpecifications", Do: s.importKeyPair},
		"DescribeKeyPairs": {Reads: "KeyNames KeyPairIds IncludePublicKey Filters", Do: s.describeKeyPairs},
		"DeleteKeyPair":    {Reads: "KeyName KeyPairId", Do: s.deleteKeyPair},
	}
}

func (s *Service) keyPairNamed(name string) *keyPair {
	for _, k := range s.keyPairs.items {
		if k.name == name {
			return k
		}
	}
	return nil
}

func (s *Service) importKeyPair(q *core.Request) (protocol.Struct, error) {
	name, material := q.In.String("KeyName"), q.In.Bytes("PublicKeyMaterial")
	kind, fingerprint, ok := readPublicKey(material)
	if !ok {
		return nil, protocol.Fail("InvalidKey.Format", "Key is not in valid OpenSSH public key format")
	}
	if s.keyPairNamed(name) != nil {
		return nil, protocol.Fail("InvalidKeyPair.Duplicate", "The keypair '%s' already exists.", name)
	}
	created, err := s.newMeta("key", s.keyPairs.kind, q)
	if err != nil {
		return nil, err
	}
	k := &keyPair{meta: created, name: name, kind: kind, fingerprint: fingerprint, publicKey: string(material), created: s.core.Now()}
	s.keyPairs.add(k)
	return protocol.Struct{"KeyPairId": k.id, "KeyName": k.name, "KeyFingerprint": k.fingerprint, "Tags": k.tagList()}, nil
}

// readPublicKey returns type and fingerprint of a key: the MD5 digest of the DER form for RSA, the SHA-256 digest as OpenSSH has it for ED25519.
func readPublicKey(material []byte) (kind, fingerprint string, ok bool) {
	key, _, _, _, err := ssh.ParseAuthorizedKey(material) //nolint:dogsled // comment, options and rest have no meaning here
	if err != nil {
		return "", "", false
	}
	switch key.Type() {
	case ssh.KeyAlgoRSA:
		standard, isStandard := key.(ssh.CryptoPublicKey)
		if !isStandard {
			return "", "", false
		}
		der, err := x509.MarshalPKIXPublicKey(standard.CryptoPublicKey())
		if err != nil {
			return "", "", false
		}
		digest := md5.Sum(der)
		return "rsa", colons(hex.EncodeToString(digest[:])), true
	case ssh.KeyAlgoED25519:
		digest := sha256.Sum256(key.Marshal())
		return "ed25519", base64.StdEncoding.EncodeToString(digest[:]), true
	default:
		return "", "", false
	}
}

func colons(digits string) string {
	var pairs []string
	for pair := range slices.Chunk([]byte(digits), 2) {
		pairs = append(pairs, string(pair))
	}
	return strings.Join(pairs, ":")
}

// describeKeyPairs describes key pairs by name or ID. Public keys are shown when asked for.
func (s *Service) describeKeyPairs(q *core.Request) (protocol.Struct, error) {
	ids := slices.Clone(q.In.Strings("KeyPairIds"))
	for _, name := range q.In.Strings("KeyNames") {
		k := s.keyPairNamed(name)
		if k == nil {
			return nil, protocol.Fail("InvalidKeyPair.NotFound", "The key pair '%s' does not exist", name)
		}
		ids = append(ids, k.id)
	}
	q.In["KeyPairIds"] = protocol.ListOf(ids)
	shown := *s.keyPairs
	shown.view = func(k *keyPair) protocol.Struct {
		view := protocol.Struct{
			"KeyPairId": k.id, "KeyName": k.name, "KeyType": k.kind, "KeyFingerprint": k.fingerprint, "CreateTime": k.created, "Tags": k.tagList(),
		}
		if q.In.Bool("IncludePublicKey") {
			view["PublicKey"] = k.publicKey
		}
		return view
	}
	return describe(s, &shown, q)
}

// deleteKeyPair succeeds also if there is no such key pair.
func (s *Service) deleteKeyPair(q *core.Request) (protocol.Struct, error) {
	k := s.keyPairNamed(q.In.String("KeyName"))
	if id := q.In.String("KeyPairId"); id != "" {
		k, _ = s.keyPairs.find(id)
	} else if !q.In.Has("KeyName") {
		return nil, protocol.Fail("MissingParameter", "The request must contain the parameter KeyName or KeyPairId")
	}
	if k == nil {
		return protocol.Struct{"Return": true}, nil
	}
	s.keyPairs.remove(k.id)
	return protocol.Struct{"Return": true, "KeyPairId": k.id}, nil
}
