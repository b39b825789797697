package signing

import (
	"encoding/json"
	"fmt"
)

const (
	// SignatureType is the media type of the payload of a Signature.
	SignatureType = "application/vnd.dev.cosign.simplesigning.v1+json"
	// SignatureAnnotation is where cosign keeps the signature beside the payload, as an annotation of the layer.
	SignatureAnnotation = "dev.cosignproject.cosign/signature"
)

const payloadType = "cosign container image signature"

// Signature says that somebody with the key has made an image.
type Signature struct {
	// Payload is JSON that names the image.
	Payload []byte `json:"payload"`
	// Signature is base64 of an ASN.1 signature over the payload's SHA-256.
	Signature string `json:"signature"`
}

type payload struct {
	Critical struct {
		Identity struct {
			Reference string `json:"docker-reference"`
		} `json:"identity"`
		Image struct {
			Digest string `json:"docker-manifest-digest"`
		} `json:"image"`
		Type string `json:"type"`
	} `json:"critical"`
	Optional map[string]string `json:"optional"`
}

// Sign signs an image: its repository with the registry, e.g. "ghcr.io/you/app", and its digest, "sha256:...".
func (k Key) Sign(repository, digest string) (Signature, error) {
	var p payload
	p.Critical.Identity.Reference, p.Critical.Image.Digest, p.Critical.Type = repository, digest, payloadType
	raw, err := json.Marshal(p)
	if err != nil {
		return Signature{}, fmt.Errorf("writing the payload to sign: %w", err)
	}
	signature, err := k.sign(raw)
	return Signature{Payload: raw, Signature: signature}, err
}

// VerifySignature returns an error unless the signature is by this key and of the image with this digest. The repository in it does not count, as with
// cosign: images are mirrored.
func (k PublicKey) VerifySignature(s Signature, digest string) error {
	if err := k.verify(s.Payload, s.Signature); err != nil {
		return err
	}
	var p payload
	if err := json.Unmarshal(s.Payload, &p); err != nil {
		return fmt.Errorf("reading the payload that is signed: %w", err)
	}
	if p.Critical.Type != payloadType || p.Critical.Image.Digest != digest {
		return fmt.Errorf("the signature is of %s %s, not of image %s", p.Critical.Type, p.Critical.Image.Digest, digest)
	}
	return nil
}
