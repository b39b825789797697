// Package sigv4 signs HTTP requests by AWS' Signature Version 4, and reads signatures, see
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html.
//
// It must not know services or who has which key.
package sigv4
