package attestation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime"

	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/trellis-garden/trellis/images"
	"github.com/trellis-garden/trellis/images/internal/signing"
)

// Where an archive of an image has what New makes.
const (
	SignatureDocument  = "signature.json"
	ProvenanceDocument = "provenance.json"
)

// BillDocument is where an archive has the bill of materials of an architecture.
func BillDocument(architecture string) string { return architecture + ".cdx.json" }

// SignedBillDocument is where an archive has the signed bill of materials of an architecture.
func SignedBillDocument(architecture string) string { return architecture + ".cdx.signed.json" }

// UnknownCommit is the commit, or its date, that nobody has named.
const UnknownCommit = "unknown"

// Origin is what something is built from.
type Origin struct {
	// Module is the path of the root module, e.g. "github.com/you/app".
	Module                string
	Version, Commit, Date string
}

// Provenance says all that something depends on. There is no time in it: the same commit gives the same bytes whenever they are built. The kind of build, e.g.
// "images", becomes a part of a URL below that of the module.
func (o Origin) Provenance(kind string, parameters map[string]any) signing.Provenance {
	parameters = maps.Clone(parameters)
	parameters["version"], parameters["commit"], parameters["date"] = o.Version, o.Commit, o.Date
	source := signing.ResourceDescriptor{URI: "git+https://" + o.Module}
	if o.Commit != UnknownCommit {
		source.Digest = map[string]string{"gitCommit": o.Commit}
	}
	return signing.Provenance{
		BuildDefinition: signing.BuildDefinition{
			BuildType:            "https://" + o.Module + "/" + kind + "/build/v1",
			ExternalParameters:   parameters,
			ResolvedDependencies: []signing.ResourceDescriptor{source, {Name: "go", URI: "pkg:golang/stdlib@" + runtime.Version()}},
		},
		RunDetails: signing.RunDetails{Builder: signing.Builder{ID: "https://" + o.Module + "/images"}},
	}
}

// Subject is what is signed.
type Subject struct {
	// Repository has the registry, e.g. "ghcr.io/you/app"; Digest is "sha256:...".
	Repository, Digest string
	Provenance         signing.Provenance
	// Bills are the bills of materials; a chart has none.
	Bills []Bill
}

// Bill is what the image for an architecture is made of.
type Bill struct {
	Architecture string
	Content      []byte
}

// Attestations prove where an image or a chart comes from.
type Attestations struct {
	digest     string
	signature  signing.Signature
	provenance signing.Envelope
	bills      []signedBill
}

type signedBill struct {
	architecture string
	envelope     signing.Envelope
}

// New signs a subject and what is said of it.
func New(key signing.Key, s Subject) (*Attestations, error) {
	attest := func(predicateType string, predicate any) (signing.Envelope, error) {
		return key.Attest(signing.Statement{Name: s.Repository, Digest: s.Digest, PredicateType: predicateType, Predicate: predicate})
	}
	made := &Attestations{digest: s.Digest}
	var err error
	if made.signature, err = key.Sign(s.Repository, s.Digest); err != nil {
		return nil, err
	}
	if made.provenance, err = attest(signing.ProvenanceType, s.Provenance); err != nil {
		return nil, err
	}
	for _, bill := range s.Bills {
		envelope, err := attest(signing.BillType, json.RawMessage(bill.Content))
		if err != nil {
			return nil, err
		}
		made.bills = append(made.bills, signedBill{architecture: bill.Architecture, envelope: envelope})
	}
	return made, nil
}

// Documents are for the archive of an image.
func (a *Attestations) Documents() ([]images.Document, error) {
	var documents []images.Document
	add := func(path string, content any) error {
		raw, err := json.Marshal(content)
		if err != nil {
			return fmt.Errorf("writing %s: %w", path, err)
		}
		documents = append(documents, images.Document{Path: path, Content: raw})
		return nil
	}
	if err := errors.Join(add(SignatureDocument, a.signature), add(ProvenanceDocument, a.provenance)); err != nil {
		return nil, err
	}
	for _, bill := range a.bills {
		if err := add(SignedBillDocument(bill.architecture), bill.envelope); err != nil {
			return nil, err
		}
	}
	return documents, nil
}

// Push brings them to the repository of ref, which names what they are of by a tag.
func (a *Attestations) Push(ctx context.Context, ref string, options ...remote.Option) error {
	signature := images.TaggedDocument{
		MediaType: signing.SignatureType, Content: a.signature.Payload,
		Annotations: map[string]string{signing.SignatureAnnotation: a.signature.Signature},
	}
	if err := images.PushTagged(ctx, ref, a.digest, images.SignatureTag, []images.TaggedDocument{signature}, options...); err != nil {
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
	if err := add(a.provenance, signing.ProvenanceType); err != nil {
		return fmt.Errorf("writing the provenance: %w", err)
	}
	for _, bill := range a.bills {
		if err := add(bill.envelope, signing.BillType); err != nil {
			return fmt.Errorf("writing a bill of materials: %w", err)
		}
	}
	return images.PushTagged(ctx, ref, a.digest, images.StatementTag, statements, options...)
}
