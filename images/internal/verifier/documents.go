package verifier

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/images/internal/attestation"
	"github.com/trellis-garden/trellis/images/internal/signing"
)

func readDocument(documents map[string][]byte, name string, into any) error {
	document, there := documents[name]
	if !there {
		return fmt.Errorf("it is not signed: there is no documents/%s", name)
	}
	if err := json.Unmarshal(document, into); err != nil {
		return fmt.Errorf("reading documents/%s: %w", name, err)
	}
	return nil
}

// verifyName checks that what loads an archive gives the image the name of its binary and version. The registry does not count: images are mirrored.
func verifyName(name string, built signing.Provenance) error {
	parameters := built.BuildDefinition.ExternalParameters
	signed := fmt.Sprintf("%v:%v", parameters["command"], parameters["version"])
	if name[strings.LastIndex(name, "/")+1:] != signed {
		return fmt.Errorf("its name is %s, and what was signed is %s", name, signed)
	}
	return nil
}

// architecturesOf are those that an image was built for.
func architecturesOf(built signing.Provenance) []string {
	platforms, _ := built.BuildDefinition.ExternalParameters["platforms"].([]any)
	var architectures []string
	for _, platform := range platforms {
		_, architecture, _ := strings.Cut(fmt.Sprint(platform), "/")
		architectures = append(architectures, architecture)
	}
	return architectures
}

// verifyBills checks that an archive has the bill of materials of each architecture, and no document that is not signed.
func verifyBills(key signing.PublicKey, digest string, documents map[string][]byte, architectures []string) error {
	signed := map[string]bool{attestation.SignatureDocument: true, attestation.ProvenanceDocument: true}
	for _, architecture := range architectures {
		if err := verifyBill(key, digest, documents, architecture); err != nil {
			return err
		}
		signed[attestation.BillDocument(architecture)], signed[attestation.SignedBillDocument(architecture)] = true, true
	}
	for _, name := range slices.Sorted(maps.Keys(documents)) {
		if !signed[name] {
			return fmt.Errorf("documents/%s is not signed", name)
		}
	}
	return nil
}

func verifyBill(key signing.PublicKey, digest string, documents map[string][]byte, architecture string) error {
	name := attestation.BillDocument(architecture)
	var envelope signing.Envelope
	if err := readDocument(documents, attestation.SignedBillDocument(architecture), &envelope); err != nil {
		return err
	}
	signed, err := key.VerifyStatement(envelope, digest, signing.BillType)
	if err != nil {
		return fmt.Errorf("documents/%s: %w", attestation.SignedBillDocument(architecture), err)
	}
	var bill json.RawMessage
	if err := readDocument(documents, name, &bill); err != nil {
		return err
	}
	// The envelope has it without spaces.
	compact, err := json.Marshal(bill)
	if err != nil {
		return fmt.Errorf("reading documents/%s: %w", name, err)
	}
	if !bytes.Equal(compact, signed) {
		return fmt.Errorf("documents/%s is not what was signed", name)
	}
	// The bills of all architectures are of the same index.
	if found := architectureOf(signed); found != architecture {
		return fmt.Errorf("documents/%s is the bill of %q", name, found)
	}
	return nil
}

// architectureOf returns what the Go toolchain has written into the binary that a bill is of.
func architectureOf(bill []byte) string {
	var content struct {
		Metadata struct {
			Component struct {
				Properties []struct {
					Name  string `json:"name"`
					Value string `json:"value"`
				} `json:"properties"`
			} `json:"component"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(bill, &content); err != nil {
		return ""
	}
	for _, property := range content.Metadata.Component.Properties {
		if property.Name == "go:GOARCH" {
			return property.Value
		}
	}
	return ""
}
