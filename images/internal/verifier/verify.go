// Package verifier checks that archives, images, charts and files are as they were signed, without a network but the registry of what is named. It must not know
// how they are built.
package verifier

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/trellis-garden/trellis/images"
	"github.com/trellis-garden/trellis/images/internal/attestation"
	"github.com/trellis-garden/trellis/images/internal/signing"
)

// All checks each subject, and prints what was built from what: the path of an archive, or of a file with its signature beside it; otherwise the name of an image
// or a chart in a registry. It looks at all before it fails.
func All(ctx context.Context, key signing.PublicKey, subjects []string, out io.Writer) error {
	var all []error
	for _, subject := range subjects {
		verify := verifyPushed
		if exists(subject + attestation.SignatureSuffix) {
			verify = verifyFile
		} else if exists(subject) {
			verify = verifyArchive
		}
		if err := verify(ctx, key, subject, out); err != nil {
			all = append(all, fmt.Errorf("%s: %w", subject, err))
		}
	}
	return errors.Join(all...)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func verifyArchive(_ context.Context, key signing.PublicKey, path string, out io.Writer) error {
	archive, err := images.ReadArchive(path)
	if err != nil {
		return err
	}
	if len(archive.Digests) != 1 {
		return fmt.Errorf("it holds %d images; one is signed", len(archive.Digests))
	}
	var signature signing.Signature
	var provenance signing.Envelope
	for name, into := range map[string]any{attestation.SignatureDocument: &signature, attestation.ProvenanceDocument: &provenance} {
		if err := readDocument(archive.Documents, name, into); err != nil {
			return err
		}
	}
	name := slices.Collect(maps.Keys(archive.Digests))[0]
	digest := archive.Digests[name]
	built, err := verifyProofs(key, digest, []signing.Signature{signature}, []signing.Envelope{provenance})
	if err != nil {
		return err
	}
	if err := verifyName(name, built); err != nil {
		return err
	}
	if err := verifyBills(key, digest, archive.Documents, architecturesOf(built)); err != nil {
		return err
	}
	printVerified(out, name, digest, built)
	return nil
}

// verifyPushed checks an image or a chart in its registry.
func verifyPushed(ctx context.Context, key signing.PublicKey, name string, out io.Writer) error {
	login := remote.WithAuthFromKeychain(authn.DefaultKeychain)
	digest, err := images.FindDigest(ctx, name, login)
	if err != nil {
		return err
	}
	tagged, err := images.ReadTagged(ctx, name, digest, images.SignatureTag, login)
	if err != nil {
		return fmt.Errorf("it is not signed: %w", err)
	}
	var signatures []signing.Signature
	for _, document := range tagged {
		signatures = append(signatures, signing.Signature{Payload: document.Content, Signature: document.Annotations[signing.SignatureAnnotation]})
	}
	tagged, err = images.ReadTagged(ctx, name, digest, images.StatementTag, login)
	if err != nil {
		return fmt.Errorf("nothing says how it was built: %w", err)
	}
	var statements []signing.Envelope
	for _, document := range tagged {
		var envelope signing.Envelope
		if err := json.Unmarshal(document.Content, &envelope); err != nil {
			return fmt.Errorf("reading a statement: %w", err)
		}
		statements = append(statements, envelope)
	}
	built, err := verifyProofs(key, digest, signatures, statements)
	if err != nil {
		return err
	}
	printVerified(out, name, digest, built)
	return nil
}

// verifyProofs returns how an image was built. One signature and one statement by the key are enough: others may sign, too.
func verifyProofs(key signing.PublicKey, digest string, signatures []signing.Signature, statements []signing.Envelope) (signing.Provenance, error) {
	err := errors.New("there is no signature")
	for _, signature := range signatures {
		if err = key.VerifySignature(signature, digest); err == nil {
			break
		}
	}
	if err != nil {
		return signing.Provenance{}, err
	}
	err = errors.New("nothing says how it was built")
	for _, statement := range statements {
		var predicate json.RawMessage
		if predicate, err = key.VerifyStatement(statement, digest, signing.ProvenanceType); err != nil {
			continue
		}
		var provenance signing.Provenance
		if err = json.Unmarshal(predicate, &provenance); err != nil {
			return signing.Provenance{}, fmt.Errorf("reading how it was built: %w", err)
		}
		return provenance, nil
	}
	return signing.Provenance{}, fmt.Errorf("how it was built: %w", err)
}

// printVerified prints from what an image or a chart was built.
func printVerified(out io.Writer, name, digest string, built signing.Provenance) {
	parameters := built.BuildDefinition.ExternalParameters
	fmt.Fprintf(out, "%s@%s\n  signed; built from commit %v as %v", name, digest, parameters["commit"], parameters["version"])
	if platforms := parameters["platforms"]; platforms != nil { // a chart has none
		fmt.Fprintf(out, " for %v", platforms)
	}
	fmt.Fprintln(out)
}
