package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/trellis-garden/trellis/images"
	"github.com/trellis-garden/trellis/images/internal/signing"
)

// passwordVariable is cosign's own.
const passwordVariable = "COSIGN_PASSWORD"

const (
	signatureDocument  = "signature.json"
	provenanceDocument = "provenance.json"
	publicKeyFile      = "signing-key.pub"
)

// signer signs what is built.
type signer struct{ key signing.Key }

// readSigner returns nil when no key is named.
func readSigner(path string) (*signer, error) {
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
	return &signer{key: key}, nil
}

// signFile adds the signature over a file, and the key that checks it.
func (s *signer) signFile(name string, files map[string][]byte) error {
	signature, err := s.key.SignBlob(files[name])
	if err != nil {
		return err
	}
	files[name+".sig"] = []byte(signature + "\n")
	files[publicKeyFile], err = s.key.Public().PEM()
	return err
}

// signed is what proves where an image comes from.
type signed struct {
	signature  signing.Signature
	provenance signing.Envelope
	bills      []signedBill
}

// signedBill is what the image for an architecture is made of.
type signedBill struct {
	architecture string
	envelope     signing.Envelope
}

// billDocument and signedBillDocument are where an archive has the bill of materials of an architecture, as it is and signed.
func billDocument(architecture string) string       { return architecture + ".cdx.json" }
func signedBillDocument(architecture string) string { return architecture + ".cdx.signed.json" }

// sign returns nil when there is no key.
func (j *job) sign(command string, p product) (*signed, error) {
	if j.signer == nil {
		return nil, nil
	}
	repository := strings.TrimSuffix(p.name, ":"+j.version)
	signature, err := j.signer.key.Sign(repository, p.digest)
	if err != nil {
		return nil, err
	}
	made := &signed{signature: signature}
	made.provenance, err = j.signer.key.Attest(signing.Statement{
		Name: repository, Digest: p.digest, PredicateType: signing.ProvenanceType, Predicate: j.provenance(command),
	})
	if err != nil {
		return nil, err
	}
	for _, image := range p.images {
		for _, bill := range image.Attachments {
			envelope, err := j.signer.key.Attest(signing.Statement{
				Name: repository, Digest: p.digest, PredicateType: signing.BillType, Predicate: json.RawMessage(bill.Content),
			})
			if err != nil {
				return nil, err
			}
			made.bills = append(made.bills, signedBill{architecture: image.Platform.Architecture, envelope: envelope})
		}
	}
	return made, nil
}

// provenance says all that the image depends on. There is no time in it: the same commit gives the same image whenever it is built.
func (j *job) provenance(command string) signing.Provenance {
	platforms := make([]string, 0, len(j.platforms))
	for _, platform := range j.platforms {
		platforms = append(platforms, platform.String())
	}
	source := signing.ResourceDescriptor{URI: "git+https://" + j.module.path}
	if j.commit != unknown {
		source.Digest = map[string]string{"gitCommit": j.commit}
	}
	return signing.Provenance{
		BuildDefinition: signing.BuildDefinition{
			BuildType: "https://" + j.module.path + "/images/build/v1",
			ExternalParameters: map[string]any{
				"command": command, "version": j.version, "commit": j.commit, "date": j.date, "platforms": platforms,
			},
			ResolvedDependencies: []signing.ResourceDescriptor{source, {Name: "go", URI: "pkg:golang/stdlib@" + runtime.Version()}},
		},
		RunDetails: signing.RunDetails{Builder: signing.Builder{ID: "https://" + j.module.path + "/images"}},
	}
}

func (s *signed) documents() ([]images.Document, error) {
	var documents []images.Document
	add := func(path string, content any) error {
		raw, err := json.Marshal(content)
		if err != nil {
			return fmt.Errorf("writing %s: %w", path, err)
		}
		documents = append(documents, images.Document{Path: path, Content: raw})
		return nil
	}
	if err := errors.Join(add(signatureDocument, s.signature), add(provenanceDocument, s.provenance)); err != nil {
		return nil, err
	}
	for _, bill := range s.bills {
		if err := add(signedBillDocument(bill.architecture), bill.envelope); err != nil {
			return nil, err
		}
	}
	return documents, nil
}

func (s *signed) push(ctx context.Context, p product, options ...remote.Option) error {
	signature := images.TaggedDocument{
		MediaType: signing.SignatureType, Content: s.signature.Payload,
		Annotations: map[string]string{signing.SignatureAnnotation: s.signature.Signature},
	}
	if err := images.PushTagged(ctx, p.name, p.digest, images.SignatureTag, []images.TaggedDocument{signature}, options...); err != nil {
		return err
	}
	statements := []images.TaggedDocument{}
	add := func(envelope signing.Envelope, predicate string) error {
		raw, err := json.Marshal(envelope)
		// cosign wants the annotation of a signature, which is in the envelope here.
		statements = append(statements, images.TaggedDocument{
			MediaType: signing.EnvelopeType, Content: raw,
			Annotations: map[string]string{signing.SignatureAnnotation: "", signing.PredicateAnnotation: predicate},
		})
		return err
	}
	if err := add(s.provenance, signing.ProvenanceType); err != nil {
		return fmt.Errorf("writing the provenance: %w", err)
	}
	for _, bill := range s.bills {
		if err := add(bill.envelope, signing.BillType); err != nil {
			return fmt.Errorf("writing a bill of materials: %w", err)
		}
	}
	return images.PushTagged(ctx, p.name, p.digest, images.StatementTag, statements, options...)
}
