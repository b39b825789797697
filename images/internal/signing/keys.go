package signing

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"

	"github.com/secure-systems-lab/go-securesystemslib/encrypted"
)

// Key signs. It is an ECDSA key on the curve P-256, which is what cosign generates.
type Key struct{ private *ecdsa.PrivateKey }

// PublicKey checks signatures.
type PublicKey struct{ public *ecdsa.PublicKey }

var errCurve = errors.New("the key is not ECDSA on the curve P-256: make one with cosign generate-key-pair, or openssl ecparam -genkey -name prime256v1 -noout")

// ReadKey reads a private key in PEM: as openssl writes it (EC PRIVATE KEY, PRIVATE KEY), or as cosign does, encrypted with a password.
func ReadKey(file, password []byte) (Key, error) {
	// openssl puts the parameters of the curve before the key.
	for block, rest := pem.Decode(file); block != nil; block, rest = pem.Decode(rest) {
		switch block.Type {
		case "EC PRIVATE KEY":
			private, err := x509.ParseECPrivateKey(block.Bytes)
			return keyOf(private, err)
		case "PRIVATE KEY":
			return parsePKCS8(block.Bytes)
		case "ENCRYPTED SIGSTORE PRIVATE KEY", "ENCRYPTED COSIGN PRIVATE KEY":
			der, err := encrypted.Decrypt(block.Bytes, password)
			if err != nil {
				return Key{}, fmt.Errorf("decrypting the key, with the password in COSIGN_PASSWORD: %w", err)
			}
			return parsePKCS8(der)
		}
	}
	return Key{}, errors.New("the file holds no private key in PEM")
}

func parsePKCS8(der []byte) (Key, error) {
	parsed, err := x509.ParsePKCS8PrivateKey(der)
	private, ok := parsed.(*ecdsa.PrivateKey)
	if err == nil && !ok {
		err = errCurve
	}
	return keyOf(private, err)
}

func keyOf(private *ecdsa.PrivateKey, err error) (Key, error) {
	if err != nil {
		return Key{}, fmt.Errorf("reading the key: %w", err)
	}
	if private.Curve != elliptic.P256() {
		return Key{}, errCurve
	}
	return Key{private: private}, nil
}

// Public is the key that checks what this one signs.
func (k Key) Public() PublicKey { return PublicKey{public: &k.private.PublicKey} }

// SignBlob returns base64 of an ASN.1 signature over the content's SHA-256, as cosign sign-blob and openssl dgst make them.
func (k Key) SignBlob(content []byte) (string, error) { return k.sign(content) }

// sign returns the base64 of an ASN.1 signature over the content's SHA-256. It is deterministic (RFC 6979): the same content gives the same bytes.
func (k Key) sign(content []byte) (string, error) {
	sum := sha256.Sum256(content)
	signature, err := k.private.Sign(nil, sum[:], crypto.SHA256)
	if err != nil {
		return "", fmt.Errorf("signing: %w", err)
	}
	return base64.StdEncoding.EncodeToString(signature), nil
}

// ReadPublicKey reads a public key in PEM (PUBLIC KEY), such as cosign.pub.
func ReadPublicKey(file []byte) (PublicKey, error) {
	block, _ := pem.Decode(file)
	if block == nil || block.Type != "PUBLIC KEY" {
		return PublicKey{}, errors.New("the file holds no public key in PEM")
	}
	parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return PublicKey{}, fmt.Errorf("reading the public key: %w", err)
	}
	public, ok := parsed.(*ecdsa.PublicKey)
	if !ok || public.Curve != elliptic.P256() {
		return PublicKey{}, errCurve
	}
	return PublicKey{public: public}, nil
}

// PEM is the form that ReadPublicKey and cosign read.
func (k PublicKey) PEM() ([]byte, error) {
	der, err := x509.MarshalPKIXPublicKey(k.public)
	if err != nil {
		return nil, fmt.Errorf("writing the public key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), nil
}

var errSignature = errors.New("the signature is not by this key, or not of this content")

// VerifyBlob returns an error unless the signature is what SignBlob made of this content by this key.
func (k PublicKey) VerifyBlob(content []byte, signature string) error {
	return k.verify(content, signature)
}

func (k PublicKey) verify(content []byte, signature string) error {
	raw, err := base64.StdEncoding.DecodeString(signature)
	if err != nil {
		return errSignature
	}
	sum := sha256.Sum256(content)
	if !ecdsa.VerifyASN1(k.public, sum[:], raw) {
		return errSignature
	}
	return nil
}
