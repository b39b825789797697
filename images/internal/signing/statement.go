package signing

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
)

const (
	// EnvelopeType is the media type of an Envelope.
	EnvelopeType = "application/vnd.dsse.envelope.v1+json"
	// ProvenanceType and BillType are types of predicates: how something was built, and what it is made of.
	ProvenanceType = "https://slsa.dev/provenance/v1"
	BillType       = "https://cyclonedx.org/bom"
	// PredicateAnnotation is where cosign looks for the type of the predicate, as an annotation of the layer.
	PredicateAnnotation = "predicateType"
)

const (
	statementMediaType = "application/vnd.in-toto+json"
	statementType      = "https://in-toto.io/Statement/v1"
)

// Statement says something of an image.
type Statement struct {
	// Name is the image's repository, Digest its digest, "sha256:...".
	Name, Digest string
	// PredicateType says what Predicate is, which encodes to JSON.
	PredicateType string
	Predicate     any
}

// Envelope is a signed statement (DSSE).
type Envelope struct {
	PayloadType string              `json:"payloadType"`
	Payload     string              `json:"payload"`
	Signatures  []EnvelopeSignature `json:"signatures"`
}

// EnvelopeSignature is base64 of an ASN.1 signature.
type EnvelopeSignature struct {
	KeyID     string `json:"keyid"`
	Signature string `json:"sig"`
}

type statement struct {
	Type          string          `json:"_type"`
	Subject       []subject       `json:"subject"`
	PredicateType string          `json:"predicateType"`
	Predicate     json.RawMessage `json:"predicate"`
}

type subject struct {
	Name   string            `json:"name"`
	Digest map[string]string `json:"digest"`
}

// Attest signs a statement.
func (k Key) Attest(s Statement) (Envelope, error) {
	predicate, err := json.Marshal(s.Predicate)
	if err != nil {
		return Envelope{}, fmt.Errorf("writing the predicate: %w", err)
	}
	algorithm, hex, _ := strings.Cut(s.Digest, ":")
	content, err := json.Marshal(statement{
		Type: statementType, Subject: []subject{{Name: s.Name, Digest: map[string]string{algorithm: hex}}},
		PredicateType: s.PredicateType, Predicate: predicate,
	})
	if err != nil {
		return Envelope{}, fmt.Errorf("writing the statement: %w", err)
	}
	signature, err := k.sign(authenticated(statementMediaType, content))
	if err != nil {
		return Envelope{}, err
	}
	return Envelope{
		PayloadType: statementMediaType, Payload: base64.StdEncoding.EncodeToString(content), Signatures: []EnvelopeSignature{{Signature: signature}},
	}, nil
}

// VerifyStatement returns the predicate, in JSON, if the envelope is signed by this key, is of the image with this digest and of this type of predicate.
func (k PublicKey) VerifyStatement(e Envelope, digest, predicateType string) (json.RawMessage, error) {
	content, err := base64.StdEncoding.DecodeString(e.Payload)
	if err != nil {
		return nil, fmt.Errorf("reading the payload of the statement: %w", err)
	}
	err = errSignature
	for _, signature := range e.Signatures {
		if err = k.verify(authenticated(e.PayloadType, content), signature.Signature); err == nil {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	var s statement
	if err := json.Unmarshal(content, &s); err != nil {
		return nil, fmt.Errorf("reading the statement: %w", err)
	}
	if e.PayloadType != statementMediaType || s.Type != statementType || s.PredicateType != predicateType {
		return nil, fmt.Errorf("the statement is a %s, not a %s", s.PredicateType, predicateType)
	}
	algorithm, hex, _ := strings.Cut(digest, ":")
	for _, about := range s.Subject {
		if hex != "" && about.Digest[algorithm] == hex {
			return s.Predicate, nil
		}
	}
	return nil, fmt.Errorf("the statement is not of image %s", digest)
}

// authenticated is what is signed: type and payload with their lengths, so that neither can be taken for the other.
func authenticated(payloadType string, content []byte) []byte {
	return fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(payloadType), payloadType, len(content), content)
}
