// Package attestation signs what is pushed to a registry, an image or a chart, and says how it was built, in the forms of cosign. What it makes is kept in an archive
// beside an image, or pushed to where cosign looks for it. It must not know how images and charts are built, nor how they are verified.
package attestation
