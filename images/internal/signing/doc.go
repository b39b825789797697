// Package signing makes and checks what proves where an image comes from: a signature in the form of cosign ("simple signing") and a provenance
// statement (SLSA v1 in an in-toto statement in a DSSE envelope), both by one ECDSA key. Nothing of it needs a network or a transparency log.
//
// It must not know archives, registries or how images are built.
//
// Formats: https://github.com/sigstore/cosign/blob/main/specs/SIGNATURE_SPEC.md, https://github.com/secure-systems-lab/dsse,
// https://in-toto.io/Statement/v1, https://slsa.dev/provenance/v1.
package signing
